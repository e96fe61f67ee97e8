"""The stages: what each is called, reads and writes.

Commands, jobs, `docs/tables.md` and the records in `runs` follow this list; a lake refuses a stage
any table that it does not declare.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from medhelm_spark.domain.ids import content_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A step from tables to tables, done for some units: RunSpecs, data versions, releases.

    `version` rises when other output is made of the same input: what was finished is then outdated
    and done again. `reads` and `writes` are names of tables. `done` is the word for a finished
    unit in the progress; empty where the stage prints its progress itself.
    """

    name: str
    version: str
    about: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    done: str = ""

    def fingerprint(self, *parts: object) -> str:
        """The id of the inputs of a unit: these parts, by this version of the stage."""
        return content_id(self.name, self.version, *parts)


_DATA = ("scenarios", "instances", "quarantine")

IMPORT_SCENARIO = Stage(
    name="import-scenario",
    version="1",
    about="Enter a scenario that another package exported.",
    reads=(),
    writes=("imported_scenarios",),
)
INGEST = Stage(
    name="ingest",
    version="1",
    about="Read raw records into instances.",
    reads=("scenarios", "instances", "level_changes", "left_out", "runs", "pins"),
    writes=(*_DATA, "left_out", "runs", "pins"),
)
LOWER_LEVEL = Stage(
    name="level-lower",
    version="1",
    about="Record that the level of a scenario's data is lower than it was stated.",
    reads=("scenarios", "level_changes", "runs"),
    writes=("level_changes",),
)
PLAN = Stage(
    name="plan",
    version="1",
    about="Freeze RunSpecs, render prompts and write the requests.",
    reads=("instances", "run_specs", "policy_decisions", "prompts", "runs"),
    writes=("run_specs", "policy_decisions", "prompts", "requests", "runs"),
    done="planned anew",
)
INFER = Stage(
    name="infer",
    version="1",
    about="Ask models and judges what has no answer yet.",
    reads=(
        "run_specs",
        "instances",
        "prompts",
        "requests",
        "request_results",
        "runs",
        "leases",
    ),
    writes=("begun_waves", "request_results", "runs", "leases"),
)
IMPORT_RESPONSES = Stage(
    name="import-responses",
    version="1",
    about="Take answers made elsewhere as a model's.",
    reads=("instances", "requests", "request_results", "runs"),
    writes=("request_results",),
)
IMPORT_HELM = Stage(
    name="import-helm",
    version="1",
    about="Take over results that MedHELM or HELM wrote: answers, verdicts and values.",
    reads=("scenarios", "instances", "run_specs", "runs"),
    writes=(
        "scenarios",
        "instances",
        "run_specs",
        "prompts",
        "requests",
        "request_results",
        "annotations",
        "per_instance_stats",
        "stats",
        "runs",
    ),
)
PLAN_JUDGES = Stage(
    name="plan_judges",
    version="2",
    about="Render and write the requests to judges about stored answers.",
    reads=("instances", "prompts", "requests", "request_results", "runs"),
    writes=("prompts", "requests", "runs"),
)
ANNOTATE = Stage(
    name="annotate",
    version="3",
    about="Read the judges' replies into verdicts.",
    reads=("requests", "request_results", "runs"),
    writes=("annotations", "runs"),
    done="judged anew",
)
SCORE = Stage(
    name="score",
    version="2",
    about="Measure every answer by its metrics.",
    reads=(
        "instances",
        "prompts",
        "requests",
        "request_results",
        "annotations",
        "per_instance_stats",
        "runs",
    ),
    writes=("per_instance_stats", "runs"),
    done="scored anew",
)
SUMMARIZE = Stage(
    name="summarize",
    version="9",
    about="Means, counts and intervals of a RunSpec's scores.",
    reads=("per_instance_stats", "stats", "runs"),
    writes=("stats", "runs"),
    done="summarised anew",
)
ASSIGN_GROUPS = Stage(
    name="assign-groups",
    version="1",
    about="Read the groups of a data version's instances from its source.",
    reads=("instances", "group_columns", "instance_groups", "runs", "pins"),
    writes=("group_columns", "instance_groups", "runs"),
)
SUMMARIZE_GROUPS = Stage(
    name="summarize-groups",
    version="8",
    about="Means, counts and intervals of a RunSpec's scores by group, small cells hidden.",
    reads=("group_columns", "instance_groups", "per_instance_stats", "runs"),
    writes=("stats_by_group", "runs"),
    done="summarised by group anew",
)
CHECK_JUDGES = Stage(
    name="check-judges",
    version="1",
    about="Write requests to judges about planted answers, and what the check of a jury came to.",
    reads=("runs",),
    writes=("prompts", "requests", "planted_verdicts", "judge_cards", "runs"),
)
PUBLISH = Stage(
    name="publish",
    version="3",
    about="Pin the stats of some suites, and the values behind them, as a release.",
    reads=(
        "run_specs",
        "runs",
        "releases",
        "release_manifests",
        "release_changes",
        "release_stats",
        "release_scores",
        "scenarios",
        "instances",
        "prompts",
        "requests",
        "request_results",
        "annotations",
        "per_instance_stats",
        "stats",
        "stats_by_group",
        "instance_groups",
        "tombstones",
        "purges",
    ),
    writes=("releases", "release_manifests", "release_changes", "release_stats", "release_scores"),
)
CHANGE_STATUS = Stage(
    name="change-status",
    version="1",
    about="Give a release another status: in review, approved, published, withdrawn.",
    reads=("releases", "release_manifests", "release_changes"),
    writes=("release_changes",),
)
RECORD_PROVENANCE = Stage(
    name="record-provenance",
    version="1",
    about="Record what the runs of a release came from, and its statuses, in a chain.",
    reads=("provenance",),
    writes=("provenance",),
)
WATCH = Stage(
    name="watch-release",
    version="1",
    about="Begin a look at a release, and write what the look found.",
    reads=("watch_looks", "watch_results"),
    writes=("watch_looks", "watch_results"),
)
GC = Stage(
    name="gc",
    version="1",
    about="Remove what was made again since, ended leases, and files of earlier versions.",
    reads=(
        "annotations",
        "per_instance_stats",
        "stats",
        "stats_by_group",
        "leases",
        "releases",
        "runs",
    ),
    writes=("annotations", "per_instance_stats", "stats", "stats_by_group", "leases", "runs"),
)
PURGE = Stage(
    name="purge",
    version="1",
    about="Remove the text of a scenario whose agreement ended; note it in the place of each text.",
    reads=(
        "scenarios",
        "pins",
        "instances",
        "quarantine",
        "run_specs",
        "prompts",
        "requests",
        "request_results",
        "annotations",
        "imported_scenarios",
        "ratings",
        "answer_notes",
        "instance_groups",
        "stats_by_group",
        "watch_results",
        "rating_invitations",
        "judge_cards",
        "stats",
        "level_changes",
        "releases",
        "release_changes",
        "shares",
        "mlflow_runs",
        "purges",
    ),
    writes=(
        "instances",
        "quarantine",
        "run_specs",
        "prompts",
        "request_results",
        "annotations",
        "imported_scenarios",
        "ratings",
        "answer_notes",
        "instance_groups",
        "stats_by_group",
        "watch_results",
        "tombstones",
        "purges",
    ),
)
EXPORT_HELM = Stage(
    name="export-helm",
    version="1",
    about="Write a suite's runs as files that HELM reads.",
    reads=(
        "scenarios",
        "instances",
        "prompts",
        "requests",
        "request_results",
        "annotations",
        "per_instance_stats",
        "stats",
        "runs",
    ),
    writes=(),
)
TRACK = Stage(
    name="track",
    version="1",
    about="Log numbers to MLflow, and note which of its runs have them.",
    reads=("mlflow_runs",),
    writes=("mlflow_runs",),
)

STAGES = (
    IMPORT_SCENARIO,
    INGEST,
    LOWER_LEVEL,
    PLAN,
    INFER,
    IMPORT_RESPONSES,
    IMPORT_HELM,
    PLAN_JUDGES,
    ANNOTATE,
    SCORE,
    SUMMARIZE,
    ASSIGN_GROUPS,
    SUMMARIZE_GROUPS,
    CHECK_JUDGES,
    PUBLISH,
    CHANGE_STATUS,
    RECORD_PROVENANCE,
    WATCH,
    EXPORT_HELM,
    TRACK,
    GC,
    PURGE,
)
"""In the order in which rows flow through them."""

BY_NAME: Mapping[str, Stage] = {stage.name: stage for stage in STAGES}

ORDER = (INGEST, PLAN, INFER, ANNOTATE, SCORE, SUMMARIZE)
"""The stages of an evaluation, in their order; `pipeline.run` walks it."""

UPTO = ORDER[1:]
"""Where an evaluation may end; what comes before is done where it is missing."""
