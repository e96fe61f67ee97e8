"""`medhelm-spark serve`: the dashboard in this process, bound to this machine by default."""

import os
import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from medhelm_spark.board import choose, is_loopback, text_levels
from medhelm_spark.cli.sign_in import SignIn
from medhelm_spark.config.resources import resource
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.warehouse import Warehouse
from medhelm_spark.errors import PolicyError, SetupError
from medhelm_spark.lake.reader import Reader, open_reader


def serve(
    output_path: str,
    suite: str | None,
    release: str | None,
    port: int,
    host: str = "127.0.0.1",
    *,
    coverage_floor: float,
    smallest_group: int,
    site: Path | None = None,
    plugins: Sequence[str] = (),
    allowed: Sequence[str] = (),
    warehouse: Warehouse | None = None,
    raters_only: bool = False,
    sign_in: SignIn | None = None,
) -> int:
    """Become the dashboard's server; errors of the lake or the names are raised before.

    The page ranks by the policy's `coverage_floor`, and shows a group of gated or private rows if
    it has at least the policy's `smallest_group` patients. It loads `plugins` for the directions of
    their metrics; tables do not have them: those that the policy of `site` lists, where there is
    gated or private text. `allowed` are names of the server beside its own. A lake in a catalog is
    read through `warehouse`; of its token the page gets the variable's name. With `raters_only`
    it shows the page of raters alone, with `sign_in` nothing to whoever has not signed in.

    Raises:
        SetupError: Streamlit is missing, or the lake cannot be read from here.
        LakeError: There is no such lake, suite or release.
        PolicyError: Gated or private text would be open to other machines.
    """
    if find_spec("streamlit") is None:
        raise SetupError("serve needs streamlit: pip install 'medhelm-spark[local]'.")
    reader = open_reader(output_path, warehouse)
    check_host(reader, host, sign_in)
    allowed = [*allowed, *([sign_in.host] if sign_in else [])]
    source = choose(reader, suite, release)
    file = sign_in.file if sign_in else None
    words = [*command(output_path, port, host, allowed, file)]
    words += ["--coverage-floor", str(coverage_floor), "--smallest-group", str(smallest_group)]
    words += ["--local-path", str(site)] if site else []
    if warehouse:
        words += ["--sql-warehouse", warehouse.address, "--sql-warehouse-token", warehouse.token]
    words += ["--raters-only"] if raters_only else []
    words += ["--plugins", *plugins] if plugins else []
    words += [f"--{source.kind.value}", source.name] if suite or release else []
    sys.stderr.write(f"dashboard of {output_path}: http://{host}:{port}\n")
    sys.stderr.flush()
    os.execv(words[0], words)


def check_host(reader: Reader, host: str, sign_in: SignIn | None = None) -> None:
    """Refuse to show gated or private text to other machines where nobody signs in.

    Where the policy is not binding, a sign-in shows no more than the page without it.
    """
    if is_loopback(host) or (sign_in and sign_in.is_binding):
        return
    hidden = sorted(level.value for level in text_levels(reader) - {AccessLevel.PUBLIC})
    if hidden:
        raise PolicyError(
            f"--host {host} would show the {' and '.join(hidden)} text of {reader.location} to "
            "other machines without a login; use 127.0.0.1, or a lake with only public text, or a "
            "binding policy that lists viewers."
        )


def allowed_hosts(host: str, more: Sequence[str] = ()) -> list[str]:
    """The names that a browser may call the server by; a site whose name was rebound is not one.

    >>> allowed_hosts("127.0.0.1")
    ['localhost', '127.0.0.1', '::1']
    """
    names = ["localhost", "127.0.0.1", "::1", host.strip("[]")]
    if not is_loopback(host):
        own = socket.gethostname()
        names += [own, socket.getfqdn(), *_addresses(own)]
    wildcards = ("0.0.0.0", "::")
    return [name for name in dict.fromkeys([*names, *more]) if name and name not in wildcards]


def _addresses(name: str) -> list[str]:
    try:
        return sorted({str(info[4][0]) for info in socket.getaddrinfo(name, None)})
    except OSError:
        return []


def command(
    output_path: str,
    port: int,
    host: str,
    allowed: Sequence[str] = (),
    sign_in: Path | None = None,
) -> list[str]:
    """The words that start the server; the dashboard's own configuration file has the rest.

    `allowed` are names that browsers may call it by, beside its own; `sign_in` is the file of the
    sign-in, without which Streamlit looks for none elsewhere.
    """
    options = {
        "server.address": host,
        "server.port": port,
        "server.enableCORS": "true",
        "server.enableXsrfProtection": "true",
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
    }
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    flags += [f"--server.allowedHosts={name}" for name in allowed_hosts(host, allowed)]
    flags += [f"--secrets.files={sign_in or os.devnull}"]
    server, app = (str(resource("dashboards", name)) for name in ("server.py", "app.py"))
    # -P: a pandas.py of the working folder must not be imported here.
    words = [sys.executable, "-P", server, "run", app, *flags, "--"]
    return [*words, "--output-path", output_path]
