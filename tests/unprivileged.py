"""A function's result as a user sees it who may write nothing of root's."""

import os
import pickle
from collections.abc import Callable
from typing import Any

NOBODY = 65534


def unprivileged(function: Callable[..., Any], *args: Any) -> Any:
    """What `function` returns in a forked process without root's rights; its error is raised here.

    Where the tests run under another user than root, that one's rights are taken as they are.
    """
    if os.geteuid() != 0:
        return function(*args)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            outcome: tuple[bool, Any] = (True, function(*args))
        except Exception as error:
            outcome = (False, error)
        with os.fdopen(write, "wb") as stream:
            stream.write(pickle.dumps(outcome))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        packed = stream.read()
    os.waitpid(child, 0)
    is_done, result = pickle.loads(packed)
    if not is_done:
        raise result
    return result
