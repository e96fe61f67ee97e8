"""Filters of a board by what governance asks: which runs may count for a decision.

Each names the column that it reads and where a person declares the value. A run without a value
passes no filter that is in use.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from medhelm_spark.board.cells import has_jury
from medhelm_spark.board.runs import BoardRun
from medhelm_spark.domain.declared import CONTAMINATION, DATA_HOLDER, JUDGE_INDEPENDENCE, LICENCE
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.errors import ConfigError, UnknownNameError

UNKNOWN = "unknown"
NO_JUDGE = "no judge"
STATUS = "status"
"""The key of the filter by release status, by which the picker of releases goes too."""

Value = str | float | None
"""A run's value; None where the lake does not have it."""


class FilterKind(StrEnum):
    """How a filter compares: with the chosen values, or with a number."""

    CHOICE = "choice"
    AT_LEAST = "at least"
    AT_MOST = "at most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """One filter: `key` in the address, `label` on the page, `value` of a run.

    `meaning` explains it to a reader, `column` is what it reads, `declared` where it is declared.
    `if_declared`: pages offer it only where some run has a value.
    """

    key: str
    label: str
    kind: FilterKind
    value: Callable[[BoardRun], Value]
    meaning: str
    column: str
    declared: str
    if_declared: bool = False

    def passes(self, run: BoardRun, chosen: "Chosen") -> bool:
        """Whether a run has a chosen value."""
        value = self.value(run)
        if value is None:
            return False
        if isinstance(chosen, float):
            number = float(value)
            return number >= chosen if self.kind is FilterKind.AT_LEAST else number <= chosen
        return value in chosen

    def text(self, chosen: "Chosen") -> str:
        """`locality: local, tenant`, `scored answers at least 100`."""
        if isinstance(chosen, float):
            return f"{self.label.lower()} {self.kind.value} {chosen:g}"
        return f"{self.label.lower()}: {', '.join(chosen)}"


Chosen = tuple[str, ...] | float
"""The chosen values of a filter, or its number."""
Filters = Mapping[str, Chosen]
"""The filters in use, by key."""
NO_FILTERS: Filters = {}


def _jury(run: BoardRun) -> Value:
    if not has_jury(run.run_spec):
        return NO_JUDGE
    if run.planned.is_jury_validated is None:
        return None
    return "validated" if run.planned.is_jury_validated else "not validated"


def _judges(run: BoardRun) -> Value:
    return _declared(run, JUDGE_INDEPENDENCE) if has_jury(run.run_spec) else NO_JUDGE


def _declared(run: BoardRun, name: str) -> Value:
    return (run.planned.declared or {}).get(name)


def _locality(run: BoardRun) -> Value:
    return run.planned.locality if run.planned.locality in list(Locality) else None


def _answers(run: BoardRun) -> Value:
    return float(run.cell.num_counted) if run.cell else None


def _width(run: BoardRun) -> Value:
    cell = run.cell
    if cell is None or cell.ci_low is None or cell.ci_high is None:
        return None
    return cell.ci_high - cell.ci_low


def _age(run: BoardRun) -> Value:
    if run.scored_at is None:
        return None
    return (datetime.now(UTC) - run.scored_at).total_seconds() / 86_400


_CARD = "`{}` of the scenario's card or of `benchmark.yaml`"


def _of_card(key: str, label: str, name: str, meaning: str) -> Filter:
    """A filter by a text that a card declares."""
    return Filter(
        key=key,
        label=label,
        kind=FilterKind.CHOICE,
        value=lambda run: _declared(run, name),
        meaning=meaning,
        column="run_specs.declared",
        declared=_CARD.format(name),
        if_declared=True,
    )


FILTERS: Mapping[str, Filter] = {
    each.key: each
    for each in (
        Filter(
            key=STATUS,
            label="Release status",
            kind=FilterKind.CHOICE,
            value=lambda run: run.release_status or None,
            meaning="whether a release is a draft, in review, approved, published or withdrawn",
            column="release_changes.to_status",
            declared="`medhelm-spark release submit`, `approve`, `publish` and `withdraw`",
        ),
        Filter(
            key="access",
            label="Access level of the benchmark",
            kind=FilterKind.CHOICE,
            value=lambda run: run.run_spec.access_level.value,
            meaning="who may read the benchmark's texts",
            column="run_specs.run_spec.access_level",
            declared=f"{_CARD.format('access_level')}, or `--access-level`",
        ),
        Filter(
            key="locality",
            label="Locality of the model",
            kind=FilterKind.CHOICE,
            value=_locality,
            meaning="where the model runs: in this institution, in its cloud, or outside",
            column="run_specs.locality",
            declared="`locality` in `model_deployments.yaml`, or `--attest-locality`",
        ),
        Filter(
            key="jury",
            label="Jury",
            kind=FilterKind.CHOICE,
            value=_jury,
            meaning="whether the judges that score the answers were checked against people",
            column="run_specs.is_jury_validated",
            declared="`validated` in the jury's file",
        ),
        Filter(
            key="provenance",
            label="Provenance",
            kind=FilterKind.CHOICE,
            value=lambda run: "incomplete" if run.missing_provenance else "complete",
            meaning="whether it is recorded who made the numbers, with what, from which data",
            column="runs.run_by, runs.code_version, run_specs.locality, scenarios.source, "
            "stats.comparability",
            declared="nobody: every stage records it",
        ),
        Filter(
            key="answers",
            label="Scored answers",
            kind=FilterKind.AT_LEAST,
            value=_answers,
            meaning="how many answers a mean rests on",
            column="stats.count",
            declared="nobody: `summarize` counts them",
        ),
        Filter(
            key="width",
            label="Width of the interval",
            kind=FilterKind.AT_MOST,
            value=_width,
            meaning="how wide the 95 % interval of a mean is, upper less lower end",
            column="stats.ci_high, stats.ci_low",
            declared="nobody: `summarize` computes it",
        ),
        Filter(
            key="age",
            label="Days since it was scored",
            kind=FilterKind.AT_MOST,
            value=_age,
            meaning="how long ago the answers were scored",
            column="runs.finished_at",
            declared="nobody: `score` records it",
        ),
        _of_card("holder", "Data holder", DATA_HOLDER, "who holds the data of the benchmark"),
        _of_card(
            "licence", "Licence of the data", LICENCE, "under which terms the data may be used"
        ),
        _of_card(
            "contamination",
            "Contamination",
            CONTAMINATION,
            "whether models may have seen the data in training",
        ),
        Filter(
            key="judges",
            label="Judges",
            kind=FilterKind.CHOICE,
            value=_judges,
            meaning="whether the judges come from the maker of the model that they judge",
            column="run_specs.declared",
            declared="`creator_organization_name` in `model_metadata.yaml`, of model and judges",
            if_declared=True,
        ),
    )
}
"""All filters by key, in the order of the page."""


def passing(runs: Iterable[BoardRun], filters: Filters) -> tuple[BoardRun, ...]:
    """The runs that have a chosen value of every filter in use."""
    return tuple(
        run
        for run in runs
        if all(FILTERS[key].passes(run, chosen) for key, chosen in filters.items())
    )


def offered(runs: Sequence[BoardRun], written: Filters = NO_FILTERS) -> list[Filter]:
    """The filters that a page offers for these runs, and those that its address has."""
    return [
        each
        for each in FILTERS.values()
        if not each.if_declared
        or each.key in written
        or any(each.value(run) not in (None, NO_JUDGE) for run in runs)
    ]


def values_of(runs: Iterable[BoardRun], choice: Filter) -> Counter[str]:
    """How many runs have each value of a choice, UNKNOWN for those without one."""
    return Counter(str(choice.value(run) or UNKNOWN) for run in runs)


def filters_text(filters: Filters) -> str:
    """The filters in use as one line; empty where there are none."""
    return "; ".join(FILTERS[key].text(chosen) for key, chosen in filters.items())


def written_filters(texts_of: Callable[[str], Sequence[str]]) -> Filters:
    """The filters that an address has, by what it gives for a key.

    Raises:
        ConfigError: As of `read_filters`.
    """
    return read_filters({key: texts_of(key) for key in FILTERS})


def read_filters(texts_by_key: Mapping[str, Sequence[str]]) -> Filters:
    """Filters from texts by key, as an address or a command line has them; empty ones are none.

    Raises:
        UnknownNameError: There is no such filter.
        ConfigError: A number is none, or a choice is `unknown`, which never passes.
    """
    return {key: _read(key, texts) for key, texts in texts_by_key.items() if any(texts)}


def _read(key: str, texts: Sequence[str]) -> Chosen:
    if key not in FILTERS:
        raise UnknownNameError("filter", key, FILTERS)
    each = FILTERS[key]
    if each.kind is FilterKind.CHOICE:
        if UNKNOWN in texts:
            raise ConfigError(
                f"filter {key!r}: a run whose value is unknown never passes a filter."
            )
        return tuple(texts)
    with suppress(ValueError):
        (number,) = map(float, texts)
        if number >= 0 and math.isfinite(number):
            return number
    raise ConfigError(
        f"filter {key!r} takes one number from 0 on ({each.kind.value}), got {', '.join(texts)!r}."
    )
