"""A lake with one benchmark, answered by a baseline in suite `today` and a candidate in `new`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.domain.run import AdapterSpec, MetricSpec, RunSpec, SuiteRun
from medhelm_spark.domain.scenario import ScenarioVersion, Verified
from medhelm_spark.domain.stats import PerInstanceStats, Score, ScoreStatus
from medhelm_spark.subgroups.tables import GroupStat, InstanceGroup
from tests.unit.board.planted import START, append, finish, stat

OLD, NEW = "ward/old", "ward/new"
SUITES = {OLD: "today", NEW: "new"}
NAME = "referral"
VERSION = f"{NAME}-v1"
LABELS = {"labels": "urgent|routine", "positive": "urgent"}
URGENT, ROUTINE = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The class of each case and what both models gave; 0: unreadable, None: no answer."""

    right: Sequence[int]
    old: Sequence[int | None]
    new: Sequence[int | None]
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    level: AccessLevel = AccessLevel.PUBLIC
    critical: CriticalFailure | None = None


def alternating(count: int) -> list[int]:
    """Every second case is urgent."""
    return [URGENT if index % 2 == 0 else ROUTINE for index in range(count)]


def other(label: int) -> int:
    """The wrong class."""
    return ROUTINE if label == URGENT else URGENT


def wrong_at(right: Sequence[int], indices: Sequence[int]) -> list[int]:
    """Right answers but at these indices."""
    chosen = set(indices)
    return [other(label) if index in chosen else label for index, label in enumerate(right)]


def plant(lake: Path, answered: Answered) -> Path:
    """Write the lake into a new folder."""
    lake.mkdir()
    _plant_data(lake, answered)
    for model, predicted in ((OLD, answered.old), (NEW, answered.new)):
        plant_run(lake, model, SUITES[model], answered, predicted)
    return lake


def plant_private_sites(lake: Path, sites: Sequence[str]) -> Path:
    """A lake with a suite `new` of two models on private cases; the newer one errs on the first 40.

    `sites` has the site of each case.
    """
    right = [1] * len(sites)
    answered = Answered(
        right=right,
        old=right,
        new=wrong_at(right, range(40)),
        groups={"site": sites},
        level=AccessLevel.PRIVATE,
    )
    plant(lake, answered)
    plant_run(lake, OLD, "new", answered, answered.old)
    return lake


def unit(model: str) -> str:
    """The run_spec_id of a model's run."""
    return f"{model.replace('/', '-')}-{NAME}"


def plant_run(
    lake: Path, model: str, suite: str, answered: Answered, predicted: Sequence[int | None]
) -> None:
    """One model's answers with scores and stats."""
    spec = RunSpec(
        run_spec_id=unit(model),
        name=f"{NAME}:model={model}",
        scenario_name=NAME,
        data_version=VERSION,
        model=model,
        model_deployment=model,
        deployment_fingerprint="f",
        adapter_spec=AdapterSpec(max_tokens=16),
        metrics=(
            MetricSpec(name="exact_match"),
            MetricSpec(name="diagnostic_accuracy", args=LABELS),
        ),
        annotators=(),
        groups=(),
        access_level=answered.level,
        main_metric="exact_match",
        main_split="test",
    )
    planned = SuiteRun(
        suite=suite,
        name=spec.name,
        run_spec_id=spec.run_spec_id,
        planned_at=START,
        locality="local",
        engine="canned",
        is_jury_validated=None,
        run_spec=spec,
        critical=answered.critical,
    )
    write = f"w-{spec.run_spec_id}"
    values = [
        None if each is None else float(each == label)
        for label, each in zip(answered.right, predicted, strict=True)
    ]
    append(lake, "run_specs", [planned], write)
    scores = [
        _scores(spec, index, answered.right[index], predicted[index])
        for index in range(len(values))
    ]
    append(lake, "per_instance_stats", scores, write)
    append(lake, "stats", [stat(spec.run_spec_id, "exact_match", values)], write)
    for stage in ("plan", "annotate", "score", "summarize", "summarize-groups"):
        finish(lake, stage, spec.run_spec_id, write)
    by_group = [
        GroupStat(
            run_spec_id=spec.run_spec_id,
            name="exact_match",
            split="test",
            group_column=column,
            group_value=value,
            access_level=answered.level,
            minimum=11,
            is_hidden=True,
        )
        for column, group_values in answered.groups.items()
        for value in sorted(set(group_values))
    ]
    if by_group:
        append(lake, "stats_by_group", by_group, write)


def _scores(spec: RunSpec, index: int, right: int, predicted: int | None) -> PerInstanceStats:
    values = {
        "exact_match": None if predicted is None else float(predicted == right),
        "right_class": None if predicted is None else float(right),
        "given_class": None if predicted is None else float(predicted),
    }
    missing = ScoreStatus.NO_ANSWER
    return PerInstanceStats(
        run_spec_id=spec.run_spec_id,
        instance_id=instance(index),
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        split="test",
        stats=tuple(
            Score(name=name, value=value, status=ScoreStatus.OK if value is not None else missing)
            for name, value in values.items()
        ),
    )


def instance(index: int) -> str:
    """The id of a case."""
    return f"{NAME}-i{index:04}"


def _plant_data(lake: Path, answered: Answered) -> None:
    version = ScenarioVersion(
        scenario_name=NAME,
        data_version=VERSION,
        card_hash="c",
        access_level=answered.level,
        display_name="Referral",
        category="",
        subcategory="",
        main_metric="exact_match",
        main_split="test",
        verified=Verified.SAME_FORM,
        num_instances=len(answered.right),
        num_quarantined=0,
        source="planted",
    )
    append(lake, "scenarios", [version], "data")
    groups = [
        InstanceGroup(
            scenario_name=NAME,
            data_version=VERSION,
            instance_id=instance(index),
            group_column=column,
            group_value=value,
            access_level=answered.level,
        )
        for column, group_values in answered.groups.items()
        for index, value in enumerate(group_values)
    ]
    if groups:
        append(lake, "instance_groups", groups, "data")
    for stage in ("ingest", "assign-groups"):
        finish(lake, stage, VERSION, "data", -30)
