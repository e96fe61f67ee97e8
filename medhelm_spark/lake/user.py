"""Who runs this process: what every record of a person's doing names."""

import getpass
import os
from typing import Any

from medhelm_spark.domain.sign_off import DATABRICKS, KERBEROS
from medhelm_spark.namespaces import MARK, in_user_namespace


def this_user() -> str:
    """The operating system's user: by name, else by number.

    By the process, never by LOGNAME or USER, with which anybody could sign as somebody else. In a
    user namespace the process's user may be anybody's choice, and the name says so.
    """
    if not hasattr(os, "geteuid"):
        return getpass.getuser()
    import pwd

    uid, mark = os.geteuid(), MARK if in_user_namespace() else ""
    try:
        return pwd.getpwuid(uid).pw_name + mark
    except KeyError:
        return f"uid {uid}{mark}"


def platform_user(spark: Any) -> tuple[str, str] | None:
    """The user whom Databricks or Kerberos names, and which of them; None where neither does."""
    if "DATABRICKS_RUNTIME_VERSION" in os.environ:
        return str(spark.sql("SELECT current_user()").collect()[0][0]), DATABRICKS
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:  # Spark Connect
        return None
    user = jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser()
    return (str(user.getUserName()), KERBEROS) if user.hasKerberosCredentials() else None
