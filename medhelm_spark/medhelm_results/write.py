"""From the lake's rows to HELM's files: the other way round from `rows`.

The functions over rows are run by the tasks; each gives one item of a JSON list as text.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.helm_export import (
    ExportedState,
    ExportedStats,
    Line,
    stat_document,
    without_none,
)
from medhelm_spark.domain.helm_results import (
    NUM_INSTANCES,
    RUN_SPEC,
    SCENARIO,
    SUFFIX,
    is_stored,
)
from medhelm_spark.domain.request import Annotation, Completion, FinishReason, RequestResult
from medhelm_spark.domain.run import RunSpec, SuiteRun
from medhelm_spark.domain.scenario import Instance, ScenarioVersion
from medhelm_spark.domain.stats import ComputedOn, ScoreStatus, Stat
from medhelm_spark.medhelm_results.states import REDACTED
from medhelm_spark.medhelm_results.verdicts import CRITERIA_MET, PROMPT_TEXT

ROBUSTNESS, FAIRNESS = "robustness", "fairness"
COMPUTED_ON = (ComputedOn.ORIGINAL, ComputedOn.PERTURBED, ComputedOn.WORST)
"""What HELM has a word for."""

_REASONS: Mapping[FinishReason, str] = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
}


def run_names(specs: Iterable[RunSpec]) -> dict[str, str]:
    """The names of runs in HELM's files: that of an imported one is as it was.

    Where another run has that name, the imported one keeps the name that it has here.
    """
    named = {spec.name: is_stored(spec) for spec in specs}
    return {
        name: name.removesuffix(SUFFIX)
        if stored and name.removesuffix(SUFFIX) not in named
        else name
        for name, stored in named.items()
    }


def run_spec_document(row: SuiteRun, name: str) -> dict[str, Any]:
    """`run_spec.json`: of an imported run as it was, else in HELM's form with our names of classes.

    HELM's summary reads name, groups, scenario and adapter of it, and constructs nothing.
    """
    imported = (
        json.loads(row.as_imported or "{}").get(RUN_SPEC) if is_stored(row.run_spec) else None
    )
    if imported:
        return {**imported, "name": name}
    spec = row.run_spec
    return {
        "name": name,
        "scenario_spec": {
            "class_name": f"medhelm_spark.scenarios.{spec.scenario_name.partition(':')[0]}",
            "args": _arguments(spec.scenario_name),
        },
        "adapter_spec": adapter_document(spec),
        "metric_specs": [
            {"class_name": f"medhelm_spark.metrics.{metric.name}", "args": dict(metric.args)}
            for metric in spec.metrics
        ],
        "data_augmenter_spec": {"perturbation_specs": []},
        "groups": list(spec.groups or (spec.scenario_name.partition(":")[0],)),
        "annotators": [
            {"class_name": f"medhelm_spark.annotators.{annotator.name}", "args": {}}
            for annotator in spec.annotators
        ],
    }


def _arguments(scenario_name: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in scenario_name.partition(":")[2].split(",") if part)
    return {key: value for key, _, value in pairs}


def adapter_document(spec: RunSpec) -> dict[str, Any]:
    """The adapter in HELM's form, with the model."""
    adapter = without_none(asdict(spec.adapter_spec))
    if letters := adapter.get("reference_prefix_characters"):
        adapter["reference_prefix_characters"] = list(letters)
    if not adapter.get("eval_splits"):
        adapter.pop("eval_splits", None)
    return {**adapter, "model_deployment": spec.model_deployment, "model": spec.model}


def scenario_document(row: SuiteRun, scenario: ScenarioVersion | None) -> dict[str, Any]:
    """`scenario.json`, with the keys that HELM's has."""
    imported = json.loads(row.as_imported or "{}").get(SCENARIO)
    if imported:
        return dict(imported)
    name = row.run_spec.scenario_name
    display_name = scenario.display_name if scenario else name
    return {"name": name, "description": display_name, "tags": [], "definition_path": ""}


def _perturbation(name: str, computed_on: ComputedOn | None = None) -> dict[str, Any]:
    on = computed_on or ComputedOn.PERTURBED
    return {
        "name": name,
        "robustness": name == ROBUSTNESS,
        "fairness": name == FAIRNESS,
        "computed_on": on.value,
    }


def stats_document(spec: RunSpec, stats: Sequence[Stat]) -> list[Any]:
    """`stats.json`: what HELM has a word for; of our own runs every mean counts one trial."""
    imported = is_stored(spec)
    rows = [
        stat_document(
            stat.name.removesuffix(SUFFIX) if imported else stat.name,
            stat.split,
            stat.mean,
            count=stat.count if imported else 1,
            perturbation=_perturbation(stat.perturbation, stat.computed_on)
            if stat.perturbation
            else None,
            stddev=(stat.stddev or 0.0) if imported else 0.0,
            ends=_ends(stat) if imported else None,
        )
        for stat in stats
        if _is_helms(stat) and (imported or stat.mean is not None)
    ]
    main = next((stat for stat in stats if _is_main(stat, spec)), None)
    if main and not imported:
        size = (main.count + main.num_unscored) / spec.adapter_spec.requests_per_instance
        rows.append(stat_document(NUM_INSTANCES, spec.main_split, size))
    return rows


def _is_main(stat: Stat, spec: RunSpec) -> bool:
    of_main = (stat.name, stat.split) == (spec.main_metric, spec.main_split)
    return of_main and not stat.perturbation


def _ends(stat: Stat) -> tuple[float, float] | None:
    if stat.minimum is None or stat.maximum is None:
        return None
    return stat.minimum, stat.maximum


def _is_helms(stat: Stat) -> bool:
    return not stat.perturbation or stat.computed_on in COMPUTED_ON


@dataclass(frozen=True, slots=True)
class StateLines:
    """Requests in, items of `scenario_state.json` out.

    Texts of another level than `levels` are redacted, as HELM's own script does. `keeps_ids`: the
    instances have HELM's own ids; otherwise the lake's are written, for a data set's own count as
    clinical text.
    """

    model: str
    levels: Collection[AccessLevel]
    keeps_ids: bool

    def __call__(self, states: Iterable[ExportedState]) -> Iterator[Line]:
        for state in states:
            yield Line(text=json.dumps(self._document(state)))

    def _document(self, state: ExportedState) -> dict[str, Any]:
        request = state.request
        is_open = self._is_open(state)
        document: dict[str, Any] = {
            "instance": self._instance(state.instance, is_open=is_open),
            "train_trial_index": request.train_trial_index,
            "output_mapping": self._mapping(state, is_open=is_open),
            "request": self._request(state, is_open=is_open),
            "result": _result(state.result, is_open=is_open),
            "num_train_instances": state.prompt.num_train_instances if state.prompt else 0,
            "prompt_truncated": bool(state.prompt and state.prompt.prompt_truncated),
            "num_conditioning_tokens": 0,
            "annotations": _annotations_document(state.annotations or (), is_open=is_open) or None,
        }
        return without_none(document)

    def _is_open(self, state: ExportedState) -> bool:
        rows = (state.instance, state.request, state.prompt, state.result)
        rows_with_level = (*rows, *(state.annotations or ()))
        return all(row.access_level in self.levels for row in rows_with_level if row)

    def _instance(self, instance: Instance, *, is_open: bool) -> dict[str, Any]:
        def redacted(text: str) -> str:
            return text if is_open else REDACTED

        prompt: dict[str, Any] = {"text": redacted(instance.input)}
        if instance.messages and is_open:
            prompt["messages"] = [
                {"role": message.role, "content": message.content} for message in instance.messages
            ]
        name = instance.perturbation
        return without_none(
            {
                "input": prompt,
                "references": [
                    {"output": {"text": redacted(each.text)}, "tags": list(each.tags)}
                    for each in instance.references
                ],
                "split": instance.split.value,
                "sub_split": instance.sub_split,
                "id": self._id(instance.source_id, instance.instance_id),
                "perturbation": _perturbation(name) if name else None,
                "extra_data": dict(instance.extra_data) or None if is_open else None,
            }
        )

    def _id(self, source_id: str, instance_id: str) -> str:
        return source_id if self.keeps_ids else instance_id

    def _mapping(self, state: ExportedState, *, is_open: bool) -> dict[str, str] | None:
        mapping = state.prompt.output_mapping if state.prompt else {}
        return {key: text if is_open else REDACTED for key, text in mapping.items()} or None

    def _request(self, state: ExportedState, *, is_open: bool) -> dict[str, Any]:
        request, prompt, decoding = state.request, state.prompt, state.request.decoding
        messages = prompt.messages if prompt and is_open else ()
        text = prompt.text if prompt and is_open else REDACTED
        return without_none(
            {
                "model_deployment": request.model_deployment,
                "model": self.model,
                "embedding": False,
                "prompt": "" if messages else text,
                "temperature": decoding.temperature,
                "num_completions": decoding.num_completions,
                "top_k_per_token": max(1, decoding.logprobs),
                "max_tokens": decoding.max_tokens,
                "stop_sequences": list(decoding.stop_sequences),
                "echo_prompt": False,
                "top_p": decoding.top_p,
                "presence_penalty": 0.0,
                "frequency_penalty": 0.0,
                "random": str(request.trial_index) if request.trial_index else None,
                "messages": [
                    {"role": message.role, "content": message.content} for message in messages
                ]
                or None,
            }
        )


def _result(result: RequestResult | None, *, is_open: bool) -> dict[str, Any] | None:
    """A request's result; None where there is no answer, which HELM's summary leaves out."""
    if result is None or not result.completions:
        return None
    return without_none(
        {
            "success": True,
            "embedding": [],
            "completions": [_completion(each, is_open=is_open) for each in result.completions],
            "cached": False,
            "request_time": result.request_time,
            "request_datetime": int(result.completed_at.timestamp()),
        }
    )


def _completion(completion: Completion, *, is_open: bool) -> dict[str, Any]:
    tokens = completion.tokens if is_open else ()
    reason = _REASONS.get(completion.finish_reason)
    return without_none(
        {
            "text": completion.text if is_open else REDACTED,
            "logprob": completion.logprob or 0.0,
            "tokens": [{"text": token.text, "logprob": token.logprob} for token in tokens],
            "finish_reason": {"reason": reason} if reason else None,
            "thinking": {"text": completion.thinking} if completion.thinking and is_open else None,
        }
    )


def _annotations_document(annotations: Sequence[Annotation], *, is_open: bool) -> dict[str, Any]:
    """Verdicts by annotator and judge, as HELM writes them; one without scores is left out."""
    document: dict[str, Any] = {}
    for each in sorted(annotations, key=lambda a: (a.annotator, a.judge, a.rubric_item or 0)):
        if not each.scores:
            continue
        judges = document.setdefault(each.annotator, {PROMPT_TEXT: None})
        criteria = {
            score.criterion: {
                "score": score.score,
                "explanation": score.explanation if is_open else REDACTED,
            }
            for score in each.scores
        }
        if each.rubric_item is None:
            judges[each.judge] = criteria
            continue
        score = each.scores[0]
        graded = {
            CRITERIA_MET: bool(score.score),
            "explanation": score.explanation if is_open else REDACTED,
        }
        judges.setdefault(each.judge, {"gradings": []})["gradings"].append(graded)
    return document


@dataclass(frozen=True, slots=True)
class StatLines:
    """Values of instances in, items of `per_instance_stats.json` out; `keeps_ids` as above."""

    keeps_ids: bool

    def __call__(self, rows: Iterable[ExportedStats]) -> Iterator[Line]:
        for row in rows:
            stats = row.stats
            perturbation = _perturbation(stats.perturbation) if stats.perturbation else None
            document = {
                "instance_id": row.source_id if self.keeps_ids else stats.instance_id,
                "perturbation": perturbation,
                "train_trial_index": stats.train_trial_index,
                "stats": [
                    stat_document(score.name, stats.split, score.value, perturbation=perturbation)
                    for score in stats.stats
                    if score.value is not None and score.status is ScoreStatus.OK
                ],
            }
            yield Line(text=json.dumps(without_none(document)))


def state_head(row: SuiteRun) -> str:
    """How `scenario_state.json` begins; the requests follow, then STATE_TAIL."""
    imported = json.loads(row.as_imported or "{}").get(RUN_SPEC, {}) if row.as_imported else {}
    adapter = imported.get("adapter_spec") or adapter_document(row.run_spec)
    return '{"adapter_spec": ' + json.dumps(adapter) + ', "request_states": [\n'


STATE_TAIL = "\n]}\n"
LIST_HEAD, LIST_TAIL = "[\n", "\n]\n"
