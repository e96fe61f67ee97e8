"""Short forms that several kinds of files share, written out before they are checked."""

from typing import Any

from medhelm_spark.config import extraction, sampling


def spelled_out(data: Any) -> Any:
    """A parsed document with `answer_extraction: choice` and `sampling: medhelm` as mappings."""
    return sampling.spelled_out(extraction.spelled_out(data))
