"""Run entries as a command line gives them, expanded."""

from pathlib import Path
from typing import Any

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.medhelm.expand import Selection, expand
from medhelm_spark.medhelm.run_entries import parse_flags

SMALL = "model=acme/small"


def expand_texts(registry: Registry, *texts: str, **selection: Any) -> tuple[ResolvedRun, ...]:
    """The runs of these entries; `selection` are the fields of a Selection."""
    chosen = Selection(**selection)
    return expand(parse_flags(texts), registry, base_dir=Path(), selection=chosen)


def expand_one(registry: Registry, text: str, **selection: Any) -> ResolvedRun:
    """The only run of an entry."""
    (run,) = expand_texts(registry, text, **selection)
    return run
