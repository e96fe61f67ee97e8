"""A report's facts on a benchmark: what was asked, how answers were read, what limits it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from medhelm_spark.board.benchmark_metrics import BenchmarkMetrics
from medhelm_spark.board.cells import PROMPT_UNKNOWN, decoding_is_known
from medhelm_spark.board.render.meanings import meaning_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.statistics.board import BoardColumn
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.comparison import OTHER

MADE_ELSEWHERE = "made elsewhere, how the model decoded is not on record"
PROMPT_DECLARED = "declared here; whether the models were given it is not on record"
FEW_POSITIVES = 30
"""With fewer positive cases a 95 % interval of a sensitivity of 0.9 is wider than 0.2."""


def benchmark_facts(
    column: BoardColumn,
    cells: Sequence[BoardCell],
    specs: Sequence[RunSpec],
    card: ScenarioCard | None,
    metrics: Sequence[BenchmarkMetrics],
) -> list[tuple[str, str]]:
    """Names and values, in order; those without a value are left out.

    Args:
        column: the benchmark on the board.
        cells: its cells.
        specs: the runs behind them.
        card: its card, where the site has one.
        metrics: of the benchmark, by part, what its main metric leaves out.
    """
    lines: Mapping[str, object] = {
        "Task": card.description if card else "",
        "Category": ", ".join(filter(None, [column.category, column.subcategory])),
        "Access level": column.access_level,
        "Question": _each(map(_question, specs)),
        "Prompt": _each(_prompts(specs, cells)),
        "Answers": _each(_answers(specs, cells)),
        "Read by": _each(spec.reading for spec in specs),
        "Judges": _each(map(_judges, specs)),
        "Metric": column.main_metric + (", lower is better" if column.lower_is_better else ""),
        "Its meaning": _each(meaning_of(column.main_metric, spec.metrics) for spec in specs),
        "Instances": f"{max((cell.total for cell in cells), default=0):,}",
        "Positive cases": "; ".join(filter(None, map(_positives, metrics))),
        "Clustered by": _each(cell.cluster_column or "" for cell in cells),
        "Declared costs": _each(each.benchmark.costs for each in metrics),
        "Can detect, planned": "" if column.detectable is None else f"{column.detectable:.3f}",
        "Licence": card.licence if card else "",
        "Data": _each(map(_data_version, cells)),
        "Limits": ". ".join(_limits(column, cells, metrics)),
    }
    return [(name, str(value)) for name, value in lines.items() if value]


def _each(values: Iterable[str]) -> str:
    """The values that differ; runs of one benchmark mostly share them."""
    return "; ".join(sorted(set(filter(None, values))))


def _question(spec: RunSpec) -> str:
    """The instructions; of gated and private data only how long they are."""
    text = " ".join(spec.adapter_spec.instructions.split())
    if not text or spec.access_level is AccessLevel.PUBLIC:
        return text
    return f"instructions of {counted(len(text), 'character')}, {spec.access_level.value}"


def _prompts(specs: Iterable[RunSpec], cells: Iterable[BoardCell]) -> Iterator[str]:
    """The forms of the prompts, and whether models are known to have been given them."""
    unknown = {
        key for cell in cells if cell.imported == PROMPT_UNKNOWN for key in cell.run_spec_ids
    }
    for spec in specs:
        declared = f" ({PROMPT_DECLARED})" if spec.run_spec_id in unknown else ""
        yield _prompt(spec) + declared


def _prompt(spec: RunSpec) -> str:
    adapter = spec.adapter_spec
    shots = f"{counted(adapter.max_train_instances, 'example')} before the question"
    method = adapter.method.value.replace("_", " ")
    return f"{method}, {shots if adapter.max_train_instances else 'no examples'}"


def _answers(specs: Iterable[RunSpec], cells: Iterable[BoardCell]) -> Iterator[str]:
    """By which settings models answered; of answers made elsewhere these are not on record."""
    unknown = {key for cell in cells if not decoding_is_known(cell) for key in cell.run_spec_ids}
    for spec in specs:
        yield MADE_ELSEWHERE if spec.run_spec_id in unknown else _sampling(spec)


def _sampling(spec: RunSpec) -> str:
    adapter = spec.adapter_spec
    times = adapter.requests_per_instance * adapter.num_outputs
    repeats = f", {times} for each instance" if times > 1 else ""
    return f"at most {adapter.max_tokens:,} tokens, temperature {adapter.temperature:g}{repeats}"


def _judges(spec: RunSpec) -> str:
    named = (
        " ".join(filter(None, [f"jury {each.jury}", each.rubric and f"with rubric {each.rubric}"]))
        for each in spec.annotators
    )
    return ", ".join(named)


def _positives(metrics: BenchmarkMetrics) -> str:
    """`40 of 200 (urgent)`."""
    most = _most_answers(metrics)
    if most is None:
        return ""
    part = f"{metrics.benchmark.part}: " if metrics.benchmark.part else ""
    labels = metrics.benchmark.positive.replace("|", ", ")
    return f"{part}{most[0]:,} of {most[1]:,} ({labels})"


def _most_answers(metrics: BenchmarkMetrics) -> tuple[int, int] | None:
    """Positive cases and all cases of the run with the most answers."""
    known = [run.answers for run in metrics.runs if run.answers]
    most = max(known, key=lambda answers: len(answers.predicted), default=None)
    return (most.count(True), len(most.predicted)) if most else None


def _limits(
    column: BoardColumn, cells: Sequence[BoardCell], metrics: Sequence[BenchmarkMetrics]
) -> Iterator[str]:
    """What a reader has to bear in mind, one sentence each."""
    if column.access_level == AccessLevel.PUBLIC.value:
        yield "The data is public: a model may have been trained on it"
    for each in metrics:
        counts = _most_answers(each)
        if counts and counts[0] < FEW_POSITIVES:
            yield f"It has {counted(counts[0], 'positive case')}: intervals of sensitivity are wide"
    if any(cell.jury_evidence.mark for cell in cells):
        yield "Its judges have no evidence of their agreement with clinicians"
    if unscored := max((1 - cell.count / cell.total for cell in cells if cell.total), default=0.0):
        yield f"Up to {100 * unscored:.2g} % of a model's answers have no score"
    if any(cell.imported for cell in cells):
        yield "Answers of some models were made elsewhere"


def _data_version(cell: BoardCell) -> str:
    """The data version behind a mean; empty for the mean of several parts."""
    return cell.configuration.get("data", "").removeprefix(OTHER)
