"""The one folder for what is downloaded or made once: jars, model files, data, class archives."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """MEDHELM_SPARK_CACHE where it is set, else the user's cache folder."""
    named = os.environ.get("MEDHELM_SPARK_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "medhelm_spark"
