"""`python dashboards/server.py run dashboards/app.py ...`: Streamlit, with the pages loaded.

Streamlit imports a page's modules when its first visitor comes, who waits a second for it. Here
they are imported once the server answers, and the results that the first page shows are read.
"""

import gc
import importlib
import logging
import socket
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

POLL_SECONDS = 0.05
ANSWER_SECONDS = 0.2
"""The time in which a health check has its answer."""


def main() -> None:
    """Become the server; the arguments are Streamlit's."""
    from streamlit.web import cli

    sys.path.insert(0, str(Path(__file__).resolve().parent))  # the pages, which -P leaves out
    words = sys.argv[sys.argv.index("--") + 1 :]
    threading.Thread(target=_load, args=(words,), daemon=True).start()
    cli.main(prog_name="streamlit")


def _load(words: Sequence[str]) -> None:
    """Import the pages, and have them read what their first visitor sees."""
    _wait_for_server()
    # Outside a visit Streamlit warns that there is none.
    logger = logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context")
    logger.setLevel(logging.ERROR)
    try:
        importlib.import_module("pages")
        importlib.import_module("loaded").warm(words)
    except Exception as error:  # whatever it is, the page fails by it too and prints what to do
        sys.stderr.write(f"dashboard: not loaded beforehand ({type(error).__name__})\n")
    # After each run of a page Streamlit has all objects looked at for garbage; these are none.
    gc.collect()
    gc.freeze()


def _wait_for_server() -> None:
    """Until it listens: what is imported before that makes it start later."""
    from streamlit import get_option, runtime

    while not runtime.exists():  # from then on the options are those of the command line
        time.sleep(POLL_SECONDS)
    address = (get_option("server.address") or "localhost", get_option("server.port"))
    while True:
        with suppress(OSError), socket.create_connection(address, timeout=1):
            break
        time.sleep(POLL_SECONDS)
    time.sleep(ANSWER_SECONDS)


if __name__ == "__main__":
    main()
