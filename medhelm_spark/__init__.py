"""Evaluate medical language models as a Spark batch job over Delta tables.

>>> from medhelm_spark import Evaluation  # doctest: +SKIP
>>> Evaluation("lake").run("pubmed_qa:model=NAME", suite="first")  # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

from medhelm_spark.version import VERSION

if TYPE_CHECKING:
    from medhelm_spark.api import Entries, Evaluation, OwnData

__version__ = VERSION
__all__ = ["Entries", "Evaluation", "OwnData"]


def __getattr__(name: str) -> Any:
    """The API, imported at first use: importing this package needs no pyspark."""
    if name in __all__:
        from medhelm_spark import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
