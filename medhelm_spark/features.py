"""The features that can be taken out: a feature whose folder is deleted is gone, and nothing else.

Other code reaches a feature only through its modules of a known name: `tables` declares what it
stores, `kept` which writes gc keeps, `source` what boards can be read from, `methods` what an
`Evaluation` can do, `runs` what it does in the course of an evaluation, `cells`, `of_pairs` and
`report` what it adds to a board's cells, to the pairs of its models and to its report, `of_answers`
what people left on answers, `in_tasks`
what every task of Spark sets up as this process did, `tombstones` keeps what purged rows were,
`purge` removes the text of a scenario beside the lake's tables, `chained` records what is done to
releases, `record` who opens text, and `verified` names what else of a release was changed.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

ROOMS = ("stages", "medhelm")
"""The rooms of every installation that have modules of these names."""

FEATURES = (
    "releases",
    "medhelm_results",
    "tracking",
    "subgroups",
    "ratings",
    "notes",
    "sharing",
    "candidate_gate",
    "evidence",
    "judge_checks",
    "watch",
    "provenance",
    "viewings",
    "air_gap",
)


@cache
def parts(name: str) -> tuple[ModuleType, ...]:
    """The modules of this name, of the rooms and features that are there and have one."""
    return tuple(found for room in (*ROOMS, *FEATURES) if (found := part(room, name)))


@cache
def part(feature: str, name: str) -> ModuleType | None:
    """A feature's module of this name; None where the feature is not there or has none."""
    module = f"{__package__}.{feature}.{name}"
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(f"{error.name}.")):
            return None
        raise


def is_there(feature: str) -> bool:
    """Whether a feature's folder is there."""
    return find_spec(f"{__package__}.{feature}") is not None
