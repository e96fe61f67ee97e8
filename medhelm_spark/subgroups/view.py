"""Sentences, tables and files of the dashboard's page *Subgroups*."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.render.report import formatted
from medhelm_spark.render.table import TextTable
from medhelm_spark.subgroups.chart import group_plot
from medhelm_spark.subgroups.model_groups import ModelGroups, groups_of_runs
from medhelm_spark.subgroups.pairs import GroupPair, pairs_of_runs
from medhelm_spark.subgroups.render import groups_report, groups_table, lead, notes, watched
from medhelm_spark.subgroups.render_pairs import pair_sentences, pairs_report, pairs_table
from medhelm_spark.subgroups.twins import is_twins

__all__ = [
    "group_plot",
    "groups_of_runs",
    "is_twins",
    "lead",
    "pair_sentences",
    "pairs_of_runs",
    "watched",
]


def shortened(groups: Sequence[ModelGroups]) -> list[ModelGroups]:
    """The groups with models' names without their makers, where the short names are distinct."""
    short = short_names([model.model_deployment for model in groups])
    return [replace(model, model_deployment=short[model.model_deployment]) for model in groups]


def shortened_pairs(pairs: Sequence[GroupPair]) -> list[GroupPair]:
    """The same of pairs."""
    short = short_names([name for pair in pairs for name in (pair.first, pair.second)])
    return [replace(pair, first=short[pair.first], second=short[pair.second]) for pair in pairs]


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Of each name what follows its last slash; all of it where two names would be alike.

    >>> short_names(["hospital/today", "hospital/new"])
    {'hospital/today': 'today', 'hospital/new': 'new'}
    >>> short_names(["a/today", "b/today"])
    {'a/today': 'a/today', 'b/today': 'b/today'}
    """
    distinct = list(dict.fromkeys(names))
    short = [name.rpartition("/")[2] for name in distinct]
    return dict(zip(distinct, short if len({*short}) == len(short) else distinct, strict=True))


def tables(groups: Sequence[ModelGroups], pairs: Sequence[GroupPair]) -> list[TextTable]:
    """A table of scores by group, and a table of the pairs of models if there are any."""
    return [groups_table(groups), *([pairs_table(pairs)] if pairs else [])]


def notes_of(groups: Sequence[ModelGroups]) -> list[str]:
    """The notes that explain the numbers."""
    return list(notes(groups))


def as_csv(groups: Sequence[ModelGroups], *, banner: str = "") -> str:
    """The numbers as CSV; a number that the page hides is hidden here too."""
    return formatted(groups_report(groups, banner), "csv")


def pairs_as_csv(pairs: Sequence[GroupPair]) -> str:
    """The pairs as CSV, of hidden groups names alone."""
    return formatted(pairs_report(pairs), "csv")
