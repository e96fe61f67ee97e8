"""The dashboard as a Databricks App: its port, address and lake come from the environment.

The app reads Delta files without Spark, so LAKE is an object store's URI: an external location
whose tables the catalog names. Managed tables are read through Spark alone; for those the job's
task `report` writes the board into a Volume. Everybody who may open the app sees the lake by the
app's rights, so `serve` refuses one that holds gated or private text.
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
