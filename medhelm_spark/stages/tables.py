"""The tables that the stages fill."""

from medhelm_spark.domain.level_change import LevelChange
from medhelm_spark.domain.policy import PolicyDecision
from medhelm_spark.domain.purge import (
    Purge,
    WrittenAnnotation,
    WrittenInstance,
    WrittenPrompt,
    WrittenQuarantined,
    WrittenResult,
    WrittenSuiteRun,
    purged_annotation,
    purged_instance,
    purged_prompt,
    purged_quarantined,
    purged_result,
    purged_suite_run,
)
from medhelm_spark.domain.request import (
    EVALUATION_KEY,
    Annotation,
    PlannedRequest,
    Prompt,
    RequestResult,
)
from medhelm_spark.domain.run import RunRecord, SuiteRun
from medhelm_spark.domain.scenario import Instance, Pin, Quarantined, ScenarioVersion
from medhelm_spark.domain.sending import BegunOrder
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.domain.stats import PerInstanceStats, Stat
from medhelm_spark.lake.tables import Purging, Table

TABLES = (
    Table(
        name="scenarios",
        row=ScenarioVersion,
        key=("scenario_name", "data_version"),
        indexed=("scenario_name", "data_version"),
        description="One ingested data version of a scenario.",
    ),
    Table(
        name="pins",
        row=Pin,
        key=("address", "pinned_at"),
        indexed=("scenario_name",),
        description="What addresses gave that no card pins, when this lake first fetched them.",
    ),
    Table(
        name="instances",
        row=Instance,
        key=("data_version", "instance_id", "perturbation"),
        indexed=("scenario_name", "data_version"),
        has_text=True,
        purging=Purging(by="data_version", row=WrittenInstance, purged=purged_instance),
        description="The data points of a data version.",
    ),
    Table(
        name="level_changes",
        row=LevelChange,
        key=("scenario_name", "data_version", "changed_at"),
        indexed=("scenario_name", "data_version"),
        description="Levels that were lowered: by whom, when, why, and approved by whom.",
    ),
    Table(
        name="quarantine",
        row=Quarantined,
        key=("data_version", "source_file", "source_row"),
        indexed=("scenario_name", "data_version"),
        has_text=True,
        purging=Purging(by="data_version", row=WrittenQuarantined, purged=purged_quarantined),
        description="Raw records that could not become instances, with file, row and reason: a "
        "file's name may be a record number.",
    ),
    Table(
        name="left_out",
        row=LeftOut,
        key=("suite", "name", "left_out_at"),
        indexed=("suite",),
        description="Runs that a suite was asked for and that lack the data of their scenario.",
    ),
    Table(
        name="run_specs",
        row=SuiteRun,
        key=("suite", "name", "planned_at"),
        indexed=("suite", "run_spec_id"),
        has_text=True,
        purging=Purging(by="run_spec_id", row=WrittenSuiteRun, purged=purged_suite_run),
        level="run_spec['access_level']",
        description="RunSpecs planned for a suite, with the words of their prompts; the newest per "
        "(suite, name) is current.",
    ),
    Table(
        name="policy_decisions",
        row=PolicyDecision,
        key=("suite", "run_name", "role", "subject", "decided_at"),
        indexed=("suite",),
        description="Who was allowed to see what, and by which rule.",
    ),
    Table(
        name="prompts",
        row=Prompt,
        key=("render_id", "subject_id", "perturbation", "train_trial_index", "rubric_item"),
        indexed=("render_id",),
        has_text=True,
        purging=Purging(by="prompt_id", row=WrittenPrompt, purged=purged_prompt),
        description="Rendered text, once for all deployments that are asked it.",
    ),
    Table(
        name="requests",
        row=PlannedRequest,
        key=(*EVALUATION_KEY, "purpose", "annotator", "judge", "rubric_item"),
        indexed=("run_spec_id", "model_deployment"),
        description="What each evaluation key of a RunSpec asks, without text.",
    ),
    Table(
        name="begun_waves",
        row=BegunOrder,
        key=("write_id", "model_deployment", "access_level"),
        indexed=("model_deployment",),
        description="How many texts an order was about to send where, beyond local deployments.",
    ),
    Table(
        name="request_results",
        row=RequestResult,
        key=("request_id", "completed_at"),
        indexed=("model_deployment", "request_id"),
        sorted_by=("request_id",),
        has_text=True,
        purging=Purging(by="request_id", row=WrittenResult, purged=purged_result),
        description="Outcomes of asking: the cache that no stage asks past.",
    ),
    Table(
        name="annotations",
        row=Annotation,
        key=(*EVALUATION_KEY, "annotator", "judge", "rubric_item"),
        indexed=("run_spec_id",),
        has_text=True,
        purging=Purging(by="run_spec_id", row=WrittenAnnotation, purged=purged_annotation),
        description="One judge's verdict on one answer, or on one rubric item of it.",
    ),
    Table(
        name="per_instance_stats",
        row=PerInstanceStats,
        key=EVALUATION_KEY,
        indexed=("run_spec_id",),
        description="All stats of one evaluation key.",
    ),
    Table(
        name="stats",
        row=Stat,
        key=("run_spec_id", "name", "split", "perturbation", "computed_on"),
        indexed=("run_spec_id", "name"),
        description="Means with counts, unscored counts and intervals.",
    ),
    Table(
        name="runs",
        row=RunRecord,
        key=("stage", "unit_id", "write_id"),
        indexed=("stage", "unit_id", "suite"),
        description="Finished units of work; decides which stage output is current.",
    ),
    Table(
        name="purges",
        row=Purge,
        key=("purge_id", "finished_at"),
        indexed=("scenario_name",),
        description="Whose text was removed when an agreement ended: by whom, when, what was "
        "removed and what was not reached. The newest row of a purge counts.",
    ),
)
