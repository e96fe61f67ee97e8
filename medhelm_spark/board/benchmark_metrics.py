"""The metrics of a benchmark's runs side by side: what one main metric leaves out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from medhelm_spark.board.class_answers import (
    CaseAnswers,
    answers_of,
    class_params,
    curve_of,
    needed_stats_of,
)
from medhelm_spark.board.runs import BoardRun
from medhelm_spark.board.scores import in_batches, scores_of
from medhelm_spark.board.took import Took, took_by
from medhelm_spark.domain.natural_order import in_natural_order
from medhelm_spark.lake.reader import Reader
from medhelm_spark.metrics.diagnostic import costs_text
from medhelm_spark.statistics.reliability import Bin
from medhelm_spark.statistics.two_by_two import ClassAnswers


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRuns:
    """The runs of one benchmark, or of a part of it, on one split; those that have a number.

    `positive` are the labels that count as positive, as the metric's arguments name them, empty
    where they name none, and `costs` what errors cost, in words. Runs of other arguments are
    another benchmark.
    """

    scenario_name: str
    display_name: str
    part: str
    split: str
    positive: str
    runs: tuple[BoardRun, ...]
    costs: str = ""

    @property
    def title(self) -> str:
        """`Triage`, `MMLU: virology`."""
        return f"{self.display_name}: {self.part}" if self.part else self.display_name


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetrics:
    """What is known of one run beside its stats.

    `name` is the model's, with the run's where the model has several of this benchmark. `by_case`
    is None where no positive class is declared, `curve` empty without log-probabilities, and `took`
    None where the lake does not have the answers.
    """

    run: BoardRun
    name: str
    by_case: CaseAnswers | None = None
    curve: tuple[Bin, ...] = ()
    took: Took | None = None

    @property
    def answers(self) -> ClassAnswers | None:
        """The answers by class."""
        return self.by_case.answers if self.by_case else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkMetrics:
    """A benchmark with what is known of each of its runs, in the order of their names."""

    benchmark: BenchmarkRuns
    runs: tuple[RunMetrics, ...]

    @property
    def prevalence(self) -> float | None:
        """The share of the cases that is positive, by the run with the most answers."""
        known = [run.answers for run in self.runs if run.answers and run.answers.prevalence]
        return max(known, key=lambda each: len(each.predicted)).prevalence if known else None


def benchmarks_of(runs: Iterable[BoardRun]) -> tuple[BenchmarkRuns, ...]:
    """The benchmarks of these runs by title."""
    by_benchmark: dict[tuple[str, ...], list[BoardRun]] = {}
    for run in runs:
        if cell := run.cell:
            arguments = repr(sorted(class_params(run.run_spec).items()))
            key = (cell.display_name, cell.scenario_name, cell.part, cell.split, arguments)
            by_benchmark.setdefault(key, []).append(run)
    return tuple(
        BenchmarkRuns(
            display_name=key[0],
            scenario_name=key[1],
            part=key[2],
            split=key[3],
            positive=class_params(by_benchmark[key][0].run_spec).get("positive", ""),
            runs=tuple(by_benchmark[key]),
            costs=costs_text(class_params(by_benchmark[key][0].run_spec)),
        )
        for key in sorted(by_benchmark, key=lambda key: tuple(map(in_natural_order, key)))
    )


def most_to_say(benchmarks: Sequence[BenchmarkRuns]) -> int:
    """The index of the benchmark that a reader begins with.

    With a positive class before one with stats by class or criterion, of several the primary
    endpoint, then the first.
    """

    def weight(index: int) -> tuple[bool, bool, bool, int]:
        runs = benchmarks[index].runs
        return (
            bool(benchmarks[index].positive),
            any("[" in name for run in runs for name in run.originals),
            any(run.cell.is_primary for run in runs if run.cell),
            -index,
        )

    return max(range(len(benchmarks)), key=weight)


def benchmark_metrics(
    reader: Reader, benchmarks: Sequence[BenchmarkRuns]
) -> tuple[BenchmarkMetrics, ...]:
    """What is known of the runs of these benchmarks. No text is read."""
    units = [run.run_spec.run_spec_id for benchmark in benchmarks for run in benchmark.runs]
    took = took_by(reader, units)
    return tuple(_of_benchmark(reader, benchmark, took) for benchmark in benchmarks)


def _of_benchmark(
    reader: Reader, benchmark: BenchmarkRuns, took: Mapping[str, Took]
) -> BenchmarkMetrics:
    names = [run.run_spec.model_deployment for run in benchmark.runs]
    made = []
    for batch in in_batches(benchmark.runs, _num_answers):
        needed = {run.run_spec.run_spec_id: needed_stats_of(run.run_spec) for run in batch}
        units = [unit for unit, names in needed.items() if names]
        names_of = {name for names in needed.values() for name in names}
        scores = scores_of(reader, units, names_of, benchmark.split) if units else None
        for run in batch:
            spec = run.run_spec
            own = None
            if scores is not None:
                own = scores.filter(pc.equal(scores["run_spec_id"], spec.run_spec_id))
            is_single = names.count(spec.model_deployment) == 1
            made.append(
                RunMetrics(
                    run=run,
                    name=spec.model_deployment if is_single else spec.name,
                    by_case=None if own is None else answers_of(spec, own),
                    curve=() if own is None else curve_of(spec, own),
                    took=took.get(spec.run_spec_id),
                )
            )
    return BenchmarkMetrics(
        benchmark=benchmark, runs=tuple(sorted(made, key=lambda each: each.name))
    )


def _num_answers(run: BoardRun) -> int:
    return run.cell.total if run.cell else 0
