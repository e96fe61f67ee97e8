"""Who runs this process: what every record of a person's doing names."""

import getpass
import os


def this_user() -> str:
    """The operating system's user: by name, else by number.

    By the process, never by LOGNAME or USER, with which anybody could sign as somebody else.
    """
    if not hasattr(os, "geteuid"):
        return getpass.getuser()
    import pwd

    uid = os.geteuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
