"""The dashboard as a Databricks App: its port, address and lake come from the environment.

The app has no Spark: it reads the lake that the job writes, LAKE is CATALOG.SCHEMA, through a SQL
warehouse, or the Delta files of an object store's URI with keys of its own (`app.yaml`). Everybody
who may open the app sees the lake by the app's rights, so `serve` refuses one that holds gated or
private text.
"""

import os
import sys
from urllib.parse import urlsplit

from medhelm_spark.cli import main


def words(environ: "os._Environ[str] | dict[str, str]") -> list[str]:
    """The command that the app runs."""
    address = urlsplit(environ.get("DATABRICKS_APP_URL", ""))
    named = ["--allowed-hosts", address.hostname] if address.hostname else []
    port = environ["DATABRICKS_APP_PORT"]
    return ["serve", "--host", "0.0.0.0", "-p", port, "-o", environ["LAKE"], *named]


if __name__ == "__main__":
    sys.exit(main(words(os.environ)))
