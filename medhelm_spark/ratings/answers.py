"""The answers of a scenario that people can rate, and the texts of one instance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.request import RequestResult
from medhelm_spark.domain.run import RunSpec, SuiteRun
from medhelm_spark.domain.scenario import Instance, Message
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.literals import among, literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RESULTS, current_run_specs, output_of

_INSTANCES = """
SELECT data_version, instance_id, split, access_level FROM ({instances}) d
WHERE perturbation = '' AND data_version IN ({versions})
"""
_REQUESTS = """
SELECT run_spec_id, instance_id, trial_index, request_id, access_level FROM ({requests}) q
WHERE perturbation = '' AND train_trial_index = 0 AND run_spec_id IN ({units})
"""
_ANSWERED = """
SELECT request_id, access_level FROM ({results}) r WHERE failure IS NULL AND {deployments}
"""
_TEXT = """
SELECT * FROM ({instances}) d
WHERE perturbation = '' AND data_version = {version} AND instance_id = {instance}
"""
_ANSWERS = "SELECT * FROM ({results}) r WHERE failure IS NULL AND request_id IN ({requests})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedAnswer:
    """An answer that can be rated; it has no text."""

    run_spec_id: str
    data_version: str
    instance_id: str
    trial_index: int
    request_id: str
    access_level: AccessLevel
    """The strictest of its run, instance, request and result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTexts:
    """What a person reads of one instance: the question's turns, and the answers in order."""

    question: tuple[Message, ...]
    answers: tuple[str, ...]


def specs_of(reader: Reader, suite: str, scenario: str) -> list[RunSpec]:
    """The current runs of a scenario in a suite."""
    rows = reader.rows(current_run_specs([suite]), SuiteRun)
    own = [row.run_spec for row in rows if row.suite == suite]
    return [spec for spec in own if spec.scenario_name == scenario]


def answers_of(reader: Reader, specs: Sequence[RunSpec]) -> dict[str, tuple[RatedAnswer, ...]]:
    """The answers of these runs to the instances of their main splits, by instance.

    Answers of perturbed instances and failed requests are left out.
    """
    if not specs:
        return {}
    by_unit = {spec.run_spec_id: spec for spec in specs}
    instances = _levels(reader, {spec.data_version for spec in specs})
    answered = _answered(reader, {spec.model_deployment for spec in specs})
    sql = _REQUESTS.format(requests=output_of("requests", PLAN), units=literals(by_unit))
    found: dict[str, list[RatedAnswer]] = {}
    for row in reader.query(sql).to_pylist():
        spec, instance = by_unit[row["run_spec_id"]], row["instance_id"]
        level = instances.get((spec.data_version, instance, spec.main_split))
        result = answered.get(row["request_id"])
        if level is None or result is None:
            continue
        levels = (spec.access_level, level, AccessLevel(row["access_level"]), result)
        answer = RatedAnswer(
            run_spec_id=spec.run_spec_id,
            data_version=spec.data_version,
            instance_id=instance,
            trial_index=row["trial_index"],
            request_id=row["request_id"],
            access_level=strictest(levels),
        )
        found.setdefault(instance, []).append(answer)
    return {instance: tuple(answers) for instance, answers in found.items()}


def within(
    answers: Mapping[str, Sequence[RatedAnswer]], level: AccessLevel
) -> dict[str, tuple[RatedAnswer, ...]]:
    """The instances whose answers all have this level or a less strict level."""
    return {
        instance: tuple(own)
        for instance, own in answers.items()
        if strictest(each.access_level for each in own).strictness <= level.strictness
    }


def texts_of(reader: Reader, answers: Sequence[RatedAnswer], level: AccessLevel) -> InstanceTexts:
    """The texts of one instance, and of these answers to it, in their order.

    Raises:
        PolicyError: a row has a stricter level than `level`; the message has no text.
    """
    first = answers[0]
    sql = _TEXT.format(
        instances=output_of("instances", INGEST, "data_version"),
        version=literals([first.data_version]),
        instance=literals([first.instance_id]),
    )
    (instance,) = reader.rows(sql, Instance)
    ids = literals(each.request_id for each in answers)
    results = reader.rows(_ANSWERS.format(results=CURRENT_RESULTS, requests=ids), RequestResult)
    levels = [instance.access_level, *(row.access_level for row in results)]
    if strictest(levels).strictness > level.strictness:
        raise PolicyError(f"{strictest(levels)} text is not opened by a link of level {level}.")
    completions = {row.request_id: row.completions for row in results}
    return InstanceTexts(
        question=instance.messages or (Message(role="", content=instance.input),),
        answers=tuple(without_thinking(completions[each.request_id][0]).text for each in answers),
    )


def _levels(reader: Reader, versions: Iterable[str]) -> dict[tuple[str, str, str], AccessLevel]:
    """By data version, instance and split."""
    instances = output_of("instances", INGEST, "data_version")
    rows = reader.query(_INSTANCES.format(instances=instances, versions=literals(versions)))
    return {
        (row["data_version"], row["instance_id"], row["split"]): AccessLevel(row["access_level"])
        for row in rows.to_pylist()
    }


def _answered(reader: Reader, deployments: Iterable[str]) -> dict[str, AccessLevel]:
    """The answered requests of at least these deployments, with their levels."""
    named = among("model_deployment", deployments)
    rows = reader.query(_ANSWERED.format(results=CURRENT_RESULTS, deployments=named))
    return {row["request_id"]: AccessLevel(row["access_level"]) for row in rows.to_pylist()}
