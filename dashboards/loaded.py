"""What is read from the lake for all visitors, kept until a table of it has another version.

What is kept is frozen and shared: `cache_resource` hands out the object itself, where `cache_data`
would copy every run with its resamples for every click.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from answer_reading import AnswerReading
from command_line import arguments

from medhelm_spark.board import (
    BoardRun,
    BoardSource,
    Kind,
    answer_list,
    board_of,
    choose,
    list_releases,
    list_suites,
    load_runs,
    paired,
    preferred,
    reader_of as frozen_of,
    skipped_in,
)
from medhelm_spark.board.benchmark_metrics import (
    BenchmarkMetrics,
    BenchmarkRuns,
    benchmark_metrics,
)
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.warehouse import DEFAULT_TOKEN, Warehouse
from medhelm_spark.errors import ConfigError
from medhelm_spark.features import part
from medhelm_spark.lake.reader import FileReader, Reader, open_reader
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.statistics.pairs import BoardPair

if TYPE_CHECKING:
    from medhelm_spark.tracking.tables import MlflowRun

REFRESH_SECONDS = 15
"""How long a page may show an earlier state of a lake."""
MAX_SOURCES = 8
"""How many suites and releases are kept; boards, so many with filters."""
BEHIND = (
    *("run_specs", "runs", "scenarios", "stats", "left_out", "release_stats", "stats_by_group"),
    *("releases", "release_manifests", "release_changes"),
)
"""The tables that boards are made of."""


@st.cache_resource(show_spinner=False)
def reader_of(location: str) -> Reader:
    """One reader per lake for all sessions."""
    args = arguments()
    token = args.sql_warehouse_token or DEFAULT_TOKEN
    address = args.sql_warehouse
    return open_reader(location, Warehouse(address=address, token=token) if address else None)


@st.cache_resource(ttl=REFRESH_SECONDS, show_spinner=False)
def state_of(location: str) -> tuple[int, ...]:
    """What changes where a table does: the versions, or of a reader without them, the time."""
    reader = reader_of(location)
    if isinstance(reader, FileReader):
        return reader.versions(BEHIND)
    return (int(time.time() / REFRESH_SECONDS),)


def sources_of(location: str) -> Sequence[BoardSource]:
    """The suites and releases of the lake, the newest first."""
    return _sources(location, state_of(location))


@st.cache_resource(max_entries=MAX_SOURCES, show_spinner=False)
def _sources(location: str, state: tuple[int, ...]) -> Sequence[BoardSource]:
    reader = reader_of(location)
    suites = [BoardSource(kind=Kind.SUITE, name=name) for name in list_suites(reader)]
    return (*suites, *list_releases(reader))


def first_source(reader: Reader, args: argparse.Namespace) -> BoardSource:
    """What a visitor sees first: what the command line names, else the newest approved release.

    Where there is none, the suite that was planned last.
    """
    if args.suite or args.release:
        return named_source(reader, args.suite, args.release)
    return preferred(sources_of(reader.location)) or choose(reader)


def named_source(reader: Reader, suite: str | None, release: str | None) -> BoardSource:
    """The suite or release of this name: of those listed, else of those that the lake has by now.

    Raises:
        ConfigError: Both were named.
        LakeError: The lake does not have it.
    """
    if not (suite and release):
        named = (Kind.RELEASE, release) if release else (Kind.SUITE, suite)
        for source in sources_of(reader.location):
            if (source.kind, source.name) == named:
                return source
    return choose(reader, suite, release)


def warm(words: Sequence[str]) -> None:
    """Read what the first visitor of a server with these arguments sees.

    Not where plug-ins are named: their metrics are known once a page has loaded them. Nor of a SQL
    warehouse, which the first visitor starts, and pays for.
    """
    args = arguments(words)
    if args.plugins or args.sql_warehouse:
        return
    reader = reader_of(args.output_path)
    source = first_source(reader, args)
    runs = runs_of(reader.location, source)
    board_for(reader.location, source, runs, args.coverage_floor)
    viewers_now(args.local_path)


def runs_of(location: str, source: BoardSource) -> tuple[BoardRun, ...]:
    """The runs of one suite or release."""
    return _runs(location, _key(source), state_of(location), source)


@st.cache_data(ttl=REFRESH_SECONDS, show_spinner=False)
def tracked_by(location: str, source: BoardSource) -> "list[MlflowRun]":
    """The MLflow runs of one suite or release; none where the feature is not there."""
    tracking = part("tracking", "tracked")
    return tracking.tracked_of(reader_of(location), source) if tracking else []


@st.cache_resource(max_entries=MAX_SOURCES, show_spinner="Reading the results …")
def _runs(
    location: str, key: tuple[str, ...], state: tuple[int, ...], _source: BoardSource
) -> tuple[BoardRun, ...]:
    return load_runs(reader_of(location), _source)


def board_for(
    location: str, source: BoardSource, runs: tuple[BoardRun, ...], coverage_floor: float
) -> Leaderboard:
    """The board of some runs of a source, with what it lacks, without paired differences."""
    ids = hash(tuple((run.planned.suite, run.run_spec.run_spec_id) for run in runs))
    return _board(location, _key(source), state_of(location), ids, coverage_floor, source, runs)


@st.cache_resource(max_entries=4 * MAX_SOURCES, show_spinner=False)
def _board(
    location: str,
    key: tuple[str, ...],
    state: tuple[int, ...],
    ids: int,
    coverage_floor: float,
    _source: BoardSource,
    _runs: tuple[BoardRun, ...],
) -> Leaderboard:
    reader = reader_of(location)
    left_out = skipped_in(reader, _source)
    frozen = frozen_of(reader, _source)
    return board_of(frozen, _runs, left_out=left_out, coverage_floor=coverage_floor)


def pairs_for(
    location: str, source: BoardSource, runs: tuple[BoardRun, ...], coverage_floor: float
) -> tuple[BoardPair, ...]:
    """The paired differences of the board of these runs, with its adjusted p-values."""
    board = board_for(location, source, runs, coverage_floor)
    ids = hash(tuple((run.planned.suite, run.run_spec.run_spec_id) for run in runs))
    state = state_of(location)
    return _pairs(location, _key(source), state, ids, coverage_floor, source, runs, board)


@st.cache_resource(max_entries=4 * MAX_SOURCES, show_spinner="Comparing the models …")
def _pairs(
    location: str,
    key: tuple[str, ...],
    state: tuple[int, ...],
    ids: int,
    coverage_floor: float,
    _source: BoardSource,
    _runs: tuple[BoardRun, ...],
    _board: Leaderboard,
) -> tuple[BoardPair, ...]:
    return paired(frozen_of(reader_of(location), _source), _runs, _board.rows)


def metrics_for(
    location: str, source: BoardSource, reader: Reader, benchmark: BenchmarkRuns
) -> BenchmarkMetrics:
    """What is known of a benchmark's runs; `reader` reads them, of a release what it froze."""
    ids = hash((benchmark.title, *(run.run_spec.run_spec_id for run in benchmark.runs)))
    return _metrics(location, _key(source), state_of(location), ids, reader, benchmark)


@st.cache_resource(max_entries=4 * MAX_SOURCES, show_spinner="Reading the scores …")
def _metrics(
    location: str,
    key: tuple[str, ...],
    state: tuple[int, ...],
    ids: int,
    _reader: Reader,
    _benchmark: BenchmarkRuns,
) -> BenchmarkMetrics:
    return benchmark_metrics(_reader, [_benchmark])[0]


def answers_for(location: str, source: BoardSource, reader: Reader, spec: RunSpec) -> AnswerReading:
    """The answers of a run, without any text; `reader` reads them, of a release what it froze."""
    return _answers(location, _key(source), state_of(location), spec.run_spec_id, reader, spec)


def groups_for(
    location: str, source: BoardSource, reader: Reader, spec: RunSpec
) -> Mapping[str, Any]:
    """The groups of which a run has results, by label; `reader` reads them, of a release its own.

    Empty where the feature is not there.
    """
    return _groups(location, _key(source), state_of(location), spec.run_spec_id, reader)


@st.cache_resource(max_entries=4 * MAX_SOURCES, show_spinner=False)
def _groups(
    location: str, key: tuple[str, ...], state: tuple[int, ...], run_spec_id: str, _reader: Reader
) -> Mapping[str, Any]:
    view = part("subgroups", "of_instances")
    groups = view.groups_of_run(_reader, run_spec_id) if view else ()
    return {group.label: group for group in groups}


@st.cache_resource(max_entries=MAX_SOURCES, show_spinner=False)
def _answers(
    location: str,
    key: tuple[str, ...],
    state: tuple[int, ...],
    run_spec_id: str,
    _reader: Reader,
    _spec: RunSpec,
) -> AnswerReading:
    return AnswerReading(partial(answer_list, _reader, _spec))


@st.cache_resource(ttl=REFRESH_SECONDS, show_spinner=False)
def known_prices(site: Path) -> Mapping[str, Prices] | None:
    """What the site's deployments cost, by name; None where its files cannot be read."""
    # Not at the top: it reads configuration, which takes a third of a second to import.
    from medhelm_spark.board.cards import prices_behind

    try:
        return prices_behind(site)
    except ConfigError:  # which may quote a file that not every viewer may see
        return None


@st.cache_resource(ttl=REFRESH_SECONDS, show_spinner=False)
def viewers_now(site: Path) -> Any:
    """The viewers of the policy, and whether it is binding.

    Raises:
        ConfigError: the policy cannot be read.
    """
    # Not at the top: it reads configuration, which takes a third of a second to import.
    from medhelm_spark.governance.viewers import viewers_in_force

    return viewers_in_force(site)


def _key(source: BoardSource) -> tuple[str, ...]:
    return (source.kind.value, source.name, source.status, source.reason)
