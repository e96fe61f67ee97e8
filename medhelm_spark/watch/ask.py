"""A look: the release's own prompts, sent again as requests of the look's own runs.

Prompts, sampling and seeds are those of the release. Each look has requests of its own, so that no
stored answer replaces a new one; a look that was cut short goes on with its requests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import md5

from medhelm_spark.adaptation.decoding import REQUEST_ID_SQL, call_id
from medhelm_spark.board.scores import scores_of
from medhelm_spark.board.sources import LOOKS, as_of
from medhelm_spark.domain.deployment import UNKNOWN
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import Decoding, PlannedRequest, Purpose
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import PLAN, WATCH
from medhelm_spark.governance.level_changes import unreviewed_versions
from medhelm_spark.lake.columnar import fields_of
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.pipeline.checks import check_engine
from medhelm_spark.pipeline.in_process import is_small_check
from medhelm_spark.pipeline.run import merge_files
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.stages.annotate.judges import Judging
from medhelm_spark.stages.annotate.stage import annotate
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.decide import JUDGE, MODEL, Asking, decision_of, record, refuse
from medhelm_spark.stages.infer.pending import InferenceTargets
from medhelm_spark.stages.infer.ready import ready
from medhelm_spark.stages.infer.stage import infer
from medhelm_spark.stages.plan.run_specs import current_runs
from medhelm_spark.stages.run_stage import run_stage
from medhelm_spark.stages.score.stage import score
from medhelm_spark.stages.states import requests_of
from medhelm_spark.stages.summarize.stage import summarize
from medhelm_spark.watch.baseline import WatchedRelease, WatchedRun
from medhelm_spark.watch.tables import WatchLook, WatchResult
from medhelm_spark.workspace.workspace import Workspace

ONE_NIGHT = timedelta(hours=12)
"""A look that was begun longer ago and never finished is left; another one is begun."""

_DECODINGS = """
SELECT DISTINCT run_spec_id, train_trial_index, trial_index, decoding FROM {planned}
WHERE perturbation = ''
"""

_PLANNED = f"""
SELECT {{columns}}, c.looked AS run_spec_id, {REQUEST_ID_SQL} AS request_id
FROM {{{{planned}}}} q
JOIN {{{{calls}}}} c ON c.run_spec_id = q.run_spec_id AND c.trial_index = q.trial_index
 AND c.train_trial_index = q.train_trial_index
JOIN {{{{chosen}}}} s ON s.run_spec_id = q.run_spec_id AND s.instance_id = q.instance_id
WHERE q.perturbation = ''
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDecoding:
    """How one trial of a run was asked."""

    run_spec_id: str
    train_trial_index: int
    trial_index: int
    decoding: Decoding


@dataclass(frozen=True, slots=True, kw_only=True)
class LookCall:
    """How a look asks one trial of a run."""

    run_spec_id: str
    looked: str
    train_trial_index: int
    trial_index: int
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenInstance:
    """An instance of a run that is asked again."""

    run_spec_id: str
    instance_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedLook:
    """A look whose answers are scored."""

    ctx: Context
    row: WatchLook
    calls: int
    """The requests that were sent."""


def suite_of(release: str) -> str:
    """The suite that has the newest look at a release."""
    return f"{LOOKS}{release}"


def ask(workspace: Workspace, watched: WatchedRelease, sample: int | None) -> AskedLook:
    """Ask the models again and score what they answer; what the release pins stays as it is.

    Raises:
        PolicyError: the policy lets a model or judge not see the text; nothing was sent.
        OutageError: a model or judge gave no answers; the same command goes on with the look.
    """
    reader, policy = workspace.reader, workspace.registry.policy
    levels = {run.board_run.run_spec.access_level for run in watched.runs}
    check_plugins(policy, levels)
    both = {**watched.deployments, **watched.judges}
    for deployment in both.values():
        check_engine(deployment, workspace)
    chosen = {
        run.board_run.run_spec.run_spec_id: _instances(reader, watched, run) for run in watched.runs
    }
    if sample is not None:
        chosen = {unit: ids[:sample] for unit, ids in chosen.items()}
    workspace.expect(levels, both.values())
    number = sum(
        len(chosen[run.board_run.run_spec.run_spec_id])
        * run.board_run.run_spec.adapter_spec.requests_per_instance
        * (1 + sum(len(annotator.deployments) for annotator in run.annotators))
        for run in watched.runs
    )
    suite = suite_of(watched.name)
    ctx = workspace.context(suite, is_in_process=is_small_check(workspace, both.values(), number))
    ctx.ledger.check()
    _decide(workspace, ctx, watched)
    ready(ctx, both.values())
    row = _begun(ctx, watched, sample)
    specs = [_spec(run, unit, row) for run, unit in zip(watched.runs, row.looked, strict=True)]
    _plan(ctx, watched, specs, chosen)
    targets = InferenceTargets(deployments=watched.deployments, policy=policy, label="watch")
    calls = infer(ctx, [spec.run_spec_id for spec in specs], targets)
    judged = zip(specs, watched.runs, strict=True)
    judging = Judging(
        annotators={spec.run_spec_id: run.annotators for spec, run in judged if run.annotators},
        policy=policy,
    )
    calls += annotate(ctx, specs, judging)
    score(ctx, specs)
    summarize(ctx, specs)
    merge_files(ctx)
    return AskedLook(ctx=ctx, row=row, calls=calls)


def _instances(reader: Reader, watched: WatchedRelease, run: WatchedRun) -> list[str]:
    """The instances of a run's main split in the order of a hash of their ids."""
    spec = run.board_run.run_spec
    frozen = as_of(reader, watched.name)
    scores = scores_of(frozen, [spec.run_spec_id], [], spec.main_split)
    ids = set(scores["instance_id"].to_pylist())
    return sorted(ids, key=lambda each: md5(each.encode(), usedforsecurity=False).digest())


def _decide(workspace: Workspace, ctx: Context, watched: WatchedRelease) -> None:
    """Apply the policy to each model and judge, record its decisions, and refuse as a plan does."""
    policy = workspace.registry.policy
    versions = {run.board_run.run_spec.data_version for run in watched.runs}
    unreviewed = unreviewed_versions(workspace.reader, versions, policy.binding_approvals)
    decisions = []
    for run in watched.runs:
        spec = run.board_run.run_spec
        asking = Asking(suite=ctx.suite, run_name=spec.name, access_level=spec.access_level)
        judges = [each for annotator in run.annotators for each in annotator.deployments]
        for role, deployment in ((MODEL, run.deployment), *((JUDGE, each) for each in judges)):
            is_unreviewed = spec.data_version in unreviewed
            decisions.append(
                decision_of(asking, role, deployment, policy, is_unreviewed=is_unreviewed)
            )
    record(ctx, decisions)
    refuse(decisions, "in policy_decisions")


def _begun(ctx: Context, watched: WatchedRelease, sample: int | None) -> WatchLook:
    """The look of this night that is not finished, where it asks the same; else a new one."""
    scoped, at = ctx.within(WATCH), now()
    begun = [
        row
        for row in scoped.lake.rows("SELECT * FROM {watch_looks}", WatchLook)
        if (row.release, row.manifest_hash) == (watched.name, watched.manifest_hash)
    ]
    finished = {
        row.look
        for row in scoped.lake.rows("SELECT * FROM {watch_results}", WatchResult)
        if (row.release, row.manifest_hash) == (watched.name, watched.manifest_hash)
    }
    last = max(begun, key=lambda row: row.look, default=None)
    number = last.look if last else 0
    if last and last.look not in finished and at - last.begun_at < ONE_NIGHT:
        same = _look(ctx, watched, sample, number)
        if replace(last, begun_at=same.begun_at, begun_by=same.begun_by) == same:
            ctx.say(f"watch: look {number} at {watched.name} goes on")
            return last
    row = _look(ctx, watched, sample, number + 1)
    scoped.lake.append_rows("watch_looks", [row], new_write_id())
    return row


def _look(ctx: Context, watched: WatchedRelease, sample: int | None, number: int) -> WatchLook:
    ids = tuple(run.board_run.run_spec.run_spec_id for run in watched.runs)
    mark = (watched.name, watched.manifest_hash, number, sample)
    return WatchLook(
        release=watched.name,
        manifest_hash=watched.manifest_hash,
        look=number,
        begun_at=now(),
        begun_by=ctx.user,
        sample=sample,
        run_spec_ids=ids,
        looked=tuple(
            content_id(
                "look", *mark, unit, run.deployment.identity, run.board_run.run_spec.main_metric
            )
            for unit, run in zip(ids, watched.runs, strict=True)
        ),
    )


def _spec(run: WatchedRun, unit: str, row: WatchLook) -> RunSpec:
    """The release's run as a run of the look."""
    return replace(
        run.board_run.run_spec,
        run_spec_id=unit,
        deployment_fingerprint=run.deployment.identity,
        asked_again=f"{row.begun_at:%Y-%m-%d}, look {row.look}",
    )


def _plan(
    ctx: Context,
    watched: WatchedRelease,
    specs: Sequence[RunSpec],
    chosen: Mapping[str, Sequence[str]],
) -> None:
    """Enter the look's runs into its suite, and write their requests."""
    by_unit = {run.board_run.run_spec.run_spec_id: run for run in watched.runs}
    looked = dict(zip(by_unit, specs, strict=True))
    _enter(ctx, watched, specs)
    planned = requests_of(ctx, by_unit, PLAN, Purpose.EVALUATE)
    stored = rows_of(ctx.lake.query(_DECODINGS, planned=planned), StoredDecoding)
    calls = [
        LookCall(
            run_spec_id=each.run_spec_id,
            looked=looked[each.run_spec_id].run_spec_id,
            train_trial_index=each.train_trial_index,
            trial_index=each.trial_index,
            call_id=call_id(
                by_unit[each.run_spec_id].deployment,
                each.decoding,
                looked[each.run_spec_id].run_spec_id,
            ),
        )
        for each in stored
    ]
    own = ("run_spec_id", "request_id")
    columns = [f"q.{name}" for name in fields_of(PlannedRequest) if name not in own]
    units = {spec.run_spec_id: unit for unit, spec in looked.items()}

    def write(ctx: Context, todo: Sequence[str], write_id: str) -> None:
        rows = [
            ChosenInstance(run_spec_id=units[unit], instance_id=instance)
            for unit in todo
            for instance in chosen[units[unit]]
        ]
        requests = ctx.lake.query(
            _PLANNED.format(columns=", ".join(columns)),
            planned=planned,
            calls=ctx.lake.frame(calls, LookCall),
            chosen=ctx.lake.frame(rows, ChosenInstance),
        )
        ctx.lake.append("requests", requests, write_id)

    fingerprints = {spec.run_spec_id: PLAN.fingerprint(spec.run_spec_id) for spec in specs}
    run_stage(ctx, PLAN, fingerprints, write)


def _enter(ctx: Context, watched: WatchedRelease, specs: Sequence[RunSpec]) -> None:
    scoped = ctx.within(PLAN)
    current = {row.run_spec_id: row for row in current_runs(scoped)}
    at = now(row.planned_at for row in current.values())
    rows = [
        replace(
            run.board_run.planned,
            suite=ctx.suite,
            name=spec.name,
            run_spec_id=spec.run_spec_id,
            run_spec=spec,
            planned_at=at,
            locality=run.deployment.locality or UNKNOWN,
            engine=run.deployment.engine,
        )
        for run, spec in zip(watched.runs, specs, strict=True)
        if spec.run_spec_id not in current
    ]
    scoped.lake.append_rows("run_specs", rows, new_write_id())
