"""MedHELM's metric classes, asked for the stats of rows; imported by MedHELM's process alone.

A row is a RequestState as JSON. The answer to rows is one mapping of stat names to values each, or
`error` with the name of the exception that would have ended MedHELM's run.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from helm.benchmark.adaptation.adapter_spec import ADAPT_GENERATION, AdapterSpec
from helm.benchmark.adaptation.request_state import RequestState
from helm.benchmark.annotation.ehr_sql_annotator import EhrSqlAnnotator
from helm.benchmark.annotation.health_bench_annotator import (
    HealthBenchAnnotator,
    HealthBenchProfessionalAnnotator,
)
from helm.benchmark.annotation.model_as_judge import AnnotatorModelInfo, LLMAsJuryAnnotator
from helm.benchmark.metrics import evaluate_reference_metrics
from helm.benchmark.metrics.basic_metrics import (
    BasicGenerationMetric,
    compute_calibration_metrics,
    compute_perplexity_metrics,
)
from helm.benchmark.metrics.classification_metrics import (
    ClassificationMetric,
    MultipleChoiceClassificationMetric,
)
from helm.benchmark.metrics.ehr_sql_metrics import EhrSqlMetric
from helm.benchmark.metrics.llm_jury_metrics import LLMJuryMetric
from helm.benchmark.metrics.medcalc_bench_metrics import MedCalcBenchMetric
from helm.benchmark.metrics.medec_metrics import MedecMetric
from helm.benchmark.metrics.metric_name import MetricName
from helm.benchmark.metrics.mimiciv_billing_code_metrics import MIMICIVBillingCodeMetric
from helm.benchmark.metrics.sct_bench_metrics import SCTBenchMetric
from helm.benchmark.metrics.statistic import Stat
from helm.benchmark.metrics.summarization_metrics import SummarizationMetric
from helm.benchmark.runner import set_benchmark_output_path
from helm.benchmark.scenarios.scenario import CORRECT_TAG, Input, Instance, Output, Reference
from helm.common.request import GeneratedOutput, Request, RequestResult, Token

Row = Mapping[str, Any]
Stats = dict[str, Any]

MODEL = "peer/none"
JUDGED = "judged"
_CLASSES = {
    "medcalc": MedCalcBenchMetric,
    "medec": MedecMetric,
    "mimiciv_billing_code": MIMICIVBillingCodeMetric,
    "sct": SCTBenchMetric,
}


class _NoEfficiency:
    """In the place of MedHELM's efficiency metric, which needs a model's tokenizer."""

    def compute_efficiency_metrics(self, *_: Any) -> list[Stat]:
        return []


def _completion(completion: Row) -> GeneratedOutput:
    return GeneratedOutput(
        text=completion["text"],
        logprob=completion.get("logprob", 0.0),
        tokens=[
            Token(text=text, logprob=logprob) for text, logprob in completion.get("tokens", ())
        ],
        finish_reason={"reason": completion["ended"]} if "ended" in completion else None,
    )


def _state(row: Row) -> RequestState:
    references = [
        Reference(Output(text=text), tags=[CORRECT_TAG] if is_correct else [])
        for text, is_correct in row.get("references", ())
    ]
    return RequestState(
        instance=Instance(
            input=Input(text=row.get("input", "")),
            references=references,
            split="test",
            id="one",
            extra_data=row.get("extra_data"),
        ),
        reference_index=None,
        request_mode=None,
        train_trial_index=0,
        output_mapping=row.get("output_mapping"),
        request=Request(model=MODEL, model_deployment=MODEL),
        result=RequestResult(
            success=True,
            embedding=[],
            completions=[_completion(completion) for completion in row["completions"]],
            cached=False,
        ),
        num_train_instances=row.get("num_train_instances", 0),
        prompt_truncated=row.get("prompt_truncated", False),
    )


def _values_by_name(stats: Iterable[Stat]) -> Stats:
    return {stat.name.name: None if stat.mean is None else float(stat.mean) for stat in stats}


def _stats_or_error(ask: Callable[[], Iterable[Stat]]) -> Stats:
    try:
        return _values_by_name(ask())
    except Exception as error:  # whatever it is would have ended MedHELM's run
        return {"error": type(error).__name__}


def _evaluated(metric: Any, state: RequestState, **adapter: Any) -> Stats:
    spec = AdapterSpec(
        method=ADAPT_GENERATION, num_outputs=1, model=MODEL, model_deployment=MODEL, **adapter
    )
    return _stats_or_error(lambda: metric.evaluate_generation(spec, state, None, ""))


def class_stats(name: str, rows: list[Row]) -> list[Stats]:
    """The stats of a metric class that needs nothing but the state."""
    metric = _CLASSES[name]()
    return [_evaluated(metric, _state(row)) for row in rows]


def basic(names: list[str], rows: list[Row], pattern: str | None = None) -> list[Stats]:
    """BasicGenerationMetric with these names. Its words for BLEU are what white space parts."""
    evaluate_reference_metrics.word_tokenize = str.split
    metric = BasicGenerationMetric(names)
    metric.efficiency_metric = _NoEfficiency()
    return [_evaluated(metric, _state(row), output_mapping_pattern=pattern) for row in rows]


def summarization(rows: list[Row]) -> list[Stats]:
    """SummarizationMetric as on a machine without GPU, and the words that it compared."""
    metric = SummarizationMetric(task="parity", device="cpu")
    metric.qa_fact_eval = {}  # else a table of scores of other models' answers is downloaded

    def words(text: str) -> list[str]:
        from helm.benchmark.metrics.data_stats.data_stats_metric import _get_spacy_en

        return [token.text.lower() for token in _get_spacy_en()(metric._remove_braces(text))]

    return [
        {
            **_evaluated(metric, _state(row)),
            "input_words": words(row["input"]),
            "answer_words": words(row["completions"][0]["text"].strip()),
        }
        for row in rows
    ]


def ehr_sql(database: str, folder: str, rows: list[Row]) -> list[Stats]:
    """EhrSqlAnnotator and EhrSqlMetric; each row gets a fresh copy, because it writes to it."""
    set_benchmark_output_path(folder)
    database_path = Path(folder) / "scenarios" / "ehr_sql" / "eicu.sqlite"
    database_path.parent.mkdir(parents=True, exist_ok=True)
    annotator, metric = EhrSqlAnnotator(), EhrSqlMetric()

    def row_stats(row: Row) -> Stats:
        database_path.unlink(missing_ok=True)
        shutil.copy(database, database_path)
        state = _state(row)
        try:
            annotation = {"ehr_sql": annotator.annotate(state)}
        except Exception as error:
            return {"error": type(error).__name__}
        return _evaluated(metric, replace(state, annotations=annotation))

    return [row_stats(row) for row in rows]


def _judged(
    state: RequestState, judges: Mapping[str, Any], annotation: Any, default: float
) -> Stats:
    metric = LLMJuryMetric("score", JUDGED, dict(judges), default)
    return _evaluated(metric, replace(state, annotations={JUDGED: annotation}))


def _models(judges: Iterable[str]) -> dict[str, AnnotatorModelInfo]:
    return {judge: AnnotatorModelInfo(model_name=MODEL, model_deployment=MODEL) for judge in judges}


def jury(judges: list[str], default: float, rows: list[Row]) -> list[Stats]:
    """LLMJuryMetric on annotations as MedHELM's annotators store them."""
    return [_judged(_state(row), _models(judges), row["annotations"], default) for row in rows]


def replies(criteria: list[str], rows: list[Row]) -> list[Stats]:
    """LLMAsJuryAnnotator with its judges' replies given as text, then LLMJuryMetric."""
    schema = {name: {"score", "explanation"} for name in criteria}

    def row_stats(row: Row) -> Stats:
        models, texts = _models(row["replies"]), iter(row["replies"].values())

        def reply(_: Request) -> RequestResult:
            reply_completions = [_completion({"text": next(texts)})]
            return RequestResult(
                success=True, embedding=[], completions=reply_completions, cached=False
            )

        client = SimpleNamespace(make_request=reply)
        annotator = LLMAsJuryAnnotator(JUDGED, client, "Judge {RESPONSE}.", schema, models)
        state = _state(row)
        return _judged(state, models, annotator.annotate(state), 0.0)

    return [row_stats(row) for row in rows]


def health_bench(rows: list[Row], professional: bool) -> list[Stats]:
    """The annotator with its judges' replies given, then LLMJuryMetric."""
    kind = HealthBenchProfessionalAnnotator if professional else HealthBenchAnnotator

    def row_stats(row: Row) -> Stats:
        models = _models(row["judges"])
        annotator, replies = kind(None, models), iter(row["replies"])
        annotator._annotate_with_model = lambda *_, **__: next(replies)
        state = _state(row)
        try:
            annotation = annotator.annotate(state)
        except Exception as error:
            return {"error": type(error).__name__}
        return _judged(state, models, annotation, 0.0)

    return [row_stats(row) for row in rows]


def classification(runs: list[Row]) -> list[Stats]:
    """One answer a run; without labels the classes are the options of a multiple choice."""

    def run_stats(run: Row) -> Stats:
        states = [_state(row) for row in run["rows"]]
        metric: Any = MultipleChoiceClassificationMetric()
        if run.get("labels"):
            metric = ClassificationMetric(labels=run["labels"], delimiter=run.get("delimiter"))
        return _stats_or_error(lambda: metric.evaluate_instances(states, ""))

    return [run_stats(run) for run in runs]


def calibration(runs: list[list[tuple[float, float]]]) -> list[Stats]:
    """A run is the confidence of each instance, and whether it was right."""

    def stats(confidence: float, right: float) -> list[Stat]:
        values = {"max_prob": confidence, "exact_match": right, "logprob": -1.0}
        return [Stat(MetricName(name)).add(value) for name, value in values.items()]

    def run_stats(run: list[tuple[float, float]]) -> Stats:
        rows = {Instance(input=Input(text=""), references=[]): stats(*pair) for pair in run}
        return _stats_or_error(lambda: compute_calibration_metrics(rows))

    return [run_stats(run) for run in runs]


def perplexity(runs: list[list[Row]]) -> list[Stats]:
    """A run is the log-probability, tokens and bytes of each instance."""

    def run_stats(run: list[Row]) -> Stats:
        stats = {name: Stat(MetricName(name)) for name in run[0]}
        for row in run:
            for name, value in row.items():
                stats[name].add(value)
        return _stats_or_error(lambda: compute_perplexity_metrics(stats))

    return [run_stats(run) for run in runs]


QUESTIONS: Mapping[str, Callable[..., Any]] = {
    "class_stats": class_stats,
    "basic": basic,
    "summarization": summarization,
    "ehr_sql": ehr_sql,
    "jury": jury,
    "replies": replies,
    "health_bench": health_bench,
    "classification": classification,
    "calibration": calibration,
    "perplexity": perplexity,
}
