"""The runs of a suite or a release, each with its cell of the board."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from medhelm_spark.domain.run import RunRecord, RunSpec, SuiteRun
from medhelm_spark.domain.scenario import AccessLevel, ScenarioVersion
from medhelm_spark.domain.stats import MetricInfo, Stat
from medhelm_spark.errors import ConfigError, LakeError
from medhelm_spark.lake.ledger import ReleaseMember
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.lake.views import CURRENT_RELEASES, CURRENT_RUN_SPECS, CURRENT_RUNS, output_of
from medhelm_spark.leaderboard.pairs import paired
from medhelm_spark.leaderboard.sql import among
from medhelm_spark.metrics import info, metrics_behind
from medhelm_spark.statistics.board import BoardCell, BoardPair, Leaderboard, build_board

JURY_COVERAGE = "jury_coverage"
ANSWER_UNREADABLE = "answer_unreadable"
_FINISHED = f"SELECT * FROM ({CURRENT_RUNS}) WHERE stage IN ('score', 'summarize')"
_STATS = "SELECT * FROM {{stats}} WHERE run_spec_id IN ({units})"
_PLANNED = "SELECT * FROM {{run_specs}} WHERE run_spec_id IN ({units})"


class Kind(StrEnum):
    """What a board can be read from."""

    SUITE = "suite"
    RELEASE = "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSource:
    """A suite or a release that the lake holds; `status` is a release's, empty for a suite."""

    kind: Kind
    name: str
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRun:
    """One run of a board.

    `cell` is None where its stats are not there: `is_summarized` tells a run that is still to be
    summarised from one whose main metric gave nothing on the main split. `is_current` is false
    where the run was scored again after these stats were made. `info` is None for a metric that
    this installation does not know. `changes` are the main metric's stats over perturbed copies,
    prompt variants and repeats.
    """

    run_spec: RunSpec
    suite: str
    locality: str
    cell: BoardCell | None
    info: MetricInfo | None
    is_summarized: bool
    is_current: bool
    changes: tuple[Stat, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenStat(Stat):
    """A Stat and the write that holds it."""

    write_id: str


class _Ledger:
    """Which stats count for each run: the newest finished ones, or those a release pinned."""

    def __init__(self, reader: Reader) -> None:
        records = reader.rows(_FINISHED, RunRecord)
        self._score = {r.unit_id: r for r in records if r.stage == "score"}
        self._summary = {r.unit_id: r for r in records if r.stage == "summarize"}

    @cached_property
    def newest(self) -> dict[str, str]:
        """The write of the newest finished stats by run_spec_id."""
        return {unit: record.write_id for unit, record in self._summary.items()}

    def is_current(self, unit: str, write_id: str | None) -> bool:
        """Whether the stored scores of a run are still those its stats were made from."""
        if unit not in self._score or unit not in self._summary or not write_id:
            return False
        scored, summary = self._score[unit], self._summary[unit]
        return summary.write_id == write_id and scored.finished_at <= summary.finished_at


def list_suites(reader: Reader) -> list[str]:
    """The suites of the lake, the one planned last first."""
    rows = reader.query("SELECT suite, max(planned_at) AS newest FROM {run_specs} GROUP BY suite")
    return [row["suite"] for row in sorted(rows.to_pylist(), key=_age, reverse=True)]


def list_releases(reader: Reader) -> list[BoardSource]:
    """The releases of the lake, the newest first."""
    rows = reader.query(
        f"SELECT release, status, max(created_at) AS newest FROM ({CURRENT_RELEASES}) r "
        "GROUP BY release, status"
    )
    return [
        BoardSource(kind=Kind.RELEASE, name=row["release"], status=row["status"])
        for row in sorted(rows.to_pylist(), key=_age, reverse=True)
    ]


def _age(row: Mapping[str, object]) -> tuple[str, str]:
    return (str(row["newest"]), str(row.get("suite", row.get("release"))))


def choose(reader: Reader, suite: str | None = None, release: str | None = None) -> BoardSource:
    """The suite or release that a person asked for; the suite planned last if they named none.

    Raises:
        ConfigError: Both were named.
        LakeError: The lake does not hold it.
    """
    if suite and release:
        raise ConfigError(f"give --suite {suite!r} or --release {release!r}, not both.")
    if release:
        releases = {one.name: one for one in list_releases(reader)}
        if release not in releases:
            raise _unknown(reader, Kind.RELEASE, release, releases)
        return releases[release]
    suites = list_suites(reader)
    if not suites:
        raise LakeError(f"{reader.location}: no suite was run into this lake yet.")
    if suite and suite not in suites:
        raise _unknown(reader, Kind.SUITE, suite, suites)
    return BoardSource(kind=Kind.SUITE, name=suite or suites[0])


def _unknown(reader: Reader, kind: Kind, name: str, known: Iterable[str]) -> LakeError:
    names = ", ".join(map(repr, sorted(known))) or "none"
    return LakeError(f"{reader.location}: no {kind} {name!r}; the lake holds {names}.")


def load_runs(reader: Reader, source: BoardSource) -> tuple[BoardRun, ...]:
    """The runs of a suite (superseded ones left out) or of a release, by run name."""
    ledger = _Ledger(reader)
    if source.kind is Kind.RELEASE:
        planned, pins = _of_release(reader, source.name)
    else:
        current = reader.rows(CURRENT_RUN_SPECS, SuiteRun)
        planned = [row for row in current if row.suite == source.name]
        pins = ledger.newest
    stats = _stats(reader, pins, [row.run_spec_id for row in planned])
    scenarios = _scenarios(reader)
    return tuple(
        BoardRun(
            run_spec=row.run_spec,
            suite=row.suite,
            locality=row.locality,
            cell=_cell(row, _plain(stats.get(row.run_spec_id, ())), scenarios),
            info=_info(row.run_spec),
            is_summarized=row.run_spec_id in pins,
            is_current=ledger.is_current(row.run_spec_id, pins.get(row.run_spec_id)),
            changes=_changes(row.run_spec, stats.get(row.run_spec_id, ())),
        )
        for row in sorted(planned, key=lambda row: (row.name, row.suite))
    )


def _of_release(reader: Reader, release: str) -> tuple[list[SuiteRun], dict[str, str]]:
    members = [m for m in reader.rows(CURRENT_RELEASES, ReleaseMember) if m.release == release]
    units = among(member.run_spec_id for member in members)
    rows = reader.rows(_PLANNED.format(units=units), SuiteRun)
    newest = {
        (row.suite, row.name, row.run_spec_id): row
        for row in sorted(rows, key=lambda row: row.planned_at)
    }
    keys = [(member.suite, member.name, member.run_spec_id) for member in members]
    pins = {member.run_spec_id: member.stats_write_id for member in members}
    return [newest[key] for key in keys if key in newest], pins


def _stats(reader: Reader, pins: Mapping[str, str], units: Iterable[str]) -> dict[str, list[Stat]]:
    """Stats by run_spec_id, each from the write that counts."""
    wanted = [unit for unit in units if unit in pins]
    found: dict[str, list[Stat]] = {}
    for stat in reader.rows(_STATS.format(units=among(wanted)), _WrittenStat):
        if pins.get(stat.run_spec_id) == stat.write_id:
            found.setdefault(stat.run_spec_id, []).append(stat)
    return found


def _plain(stats: Iterable[Stat]) -> dict[tuple[str, str], Stat]:
    """What is computed on the instances as they are, by name and split."""
    return {(stat.name, stat.split): stat for stat in stats if not stat.perturbation}


def _changes(spec: RunSpec, stats: Iterable[Stat]) -> tuple[Stat, ...]:
    main = (spec.main_metric, spec.main_split)
    return tuple(stat for stat in stats if stat.perturbation and (stat.name, stat.split) == main)


def _scenarios(reader: Reader) -> dict[str, ScenarioVersion]:
    rows = reader.rows(output_of("scenarios", "ingest", "data_version"), ScenarioVersion)
    return {row.data_version: row for row in rows}


def _cell(
    row: SuiteRun,
    stats: Mapping[tuple[str, str], Stat],
    scenarios: Mapping[str, ScenarioVersion],
) -> BoardCell | None:
    spec = row.run_spec
    main = stats.get((spec.main_metric, spec.main_split))
    if main is None:
        return None
    scenario, direction = scenarios.get(spec.data_version), _info(spec)
    coverage = stats.get((JURY_COVERAGE, spec.main_split))
    unreadable = stats.get((ANSWER_UNREADABLE, spec.main_split))
    judged = _is_judged(spec)
    return BoardCell(
        model=spec.model,
        model_deployment=spec.model_deployment,
        locality=row.locality,
        scenario_name=spec.scenario_name,
        display_name=scenario.display_name if scenario else spec.scenario_name,
        category=scenario.category if scenario else "",
        subcategory=scenario.subcategory if scenario else "",
        access_level=spec.access_level,
        main_metric=spec.main_metric,
        lower_is_better=direction.lower_is_better if direction else None,
        split=spec.main_split,
        count=main.count,
        num_unscored=main.num_unscored,
        mean=main.mean,
        ci_low=main.ci_low,
        ci_high=main.ci_high,
        demo_judge=judged and row.is_jury_validated is False,
        jury_coverage=coverage.mean if judged and coverage else None,
        unreadable=unreadable.mean if unreadable else None,
        is_primary=bool(row.is_primary),
        margin=row.margin,
    )


def _info(spec: RunSpec) -> MetricInfo | None:
    """How the main metric is read; None for one that this installation does not know."""
    try:
        return info(spec.main_metric, spec.metrics)
    except ConfigError:
        return None


def _is_judged(spec: RunSpec) -> bool:
    """Whether the main metric rests on a jury's verdicts; a metric unknown here counts as such."""
    try:
        owners = metrics_behind(spec.main_metric, spec.metrics)
    except ConfigError:
        owners = []
    return not owners or any("verdicts" in metric.needs for metric in owners)


def board_of(runs: Sequence[BoardRun], pairs: Iterable[BoardPair] = ()) -> Leaderboard:
    """The board of some runs, with the paired differences that are given."""
    return build_board((run.cell for run in runs if run.cell), pairs, _notes(runs))


def load_board(reader: Reader, suite: str | None = None, release: str | None = None) -> Leaderboard:
    """The board of a suite or release, with the paired differences of its models."""
    runs = load_runs(reader, choose(reader, suite, release))
    return board_of(runs, paired(reader, runs))


def _notes(runs: Sequence[BoardRun]) -> Iterator[str]:
    """What the cells cannot say."""
    if any(run.changes for run in runs):
        yield "Copies, other prompts or repeats were asked too: see the table of robustness."
    if unknown := sorted({run.run_spec.main_metric for run in runs if run.cell and not run.info}):
        yield (
            f"Not known here, so without direction and win rate: {', '.join(unknown)}; "
            "name their plug-in by --plugins."
        )


def text_levels(reader: Reader) -> set[AccessLevel]:
    """The access levels of all text in the lake, unfinished and superseded writes included."""
    found: set[AccessLevel] = set()
    for table in TABLES.values():
        if table.has_text:
            rows = reader.query(f"SELECT DISTINCT access_level FROM {{{table.name}}}")
            found |= {_level(level) for level in rows["access_level"].to_pylist()}
    return found


def _level(value: str | None) -> AccessLevel:
    """A level that nobody knows must not pass as an open one."""
    return AccessLevel(value) if value in list(AccessLevel) else AccessLevel.PRIVATE
