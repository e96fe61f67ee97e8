"""Which denied requests are recorded, and for which deployments, by this run or an earlier one."""

from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.policy import Policy, PolicyDecision
from medhelm_spark.domain.request import Decoding, PlannedRequest, Purpose
from medhelm_spark.domain.stages import INFER
from medhelm_spark.engines.outcome import denied
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.lease import lease
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.session import Session
from medhelm_spark.lake.staging import staged_name
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.denied import record_denied
from medhelm_spark.stages.infer.order_folder import OrderFolder
from medhelm_spark.stages.infer.recovery import commit_interrupted
from medhelm_spark.stages.infer.throughput import outcomes_of
from tests.unit.board.planted import ALPHA, BETA, START, append, planned, run_spec
from tests.unit.engines.nouns import deployment, request
from tests.unit.stages.test_commits import never

WRITE = "w"
POLICY = Policy(allowed=((AccessLevel.PRIVATE, (Locality.LOCAL,)),), version="1")
MODELS = (ALPHA, BETA)
RESULTS = [
    denied(request(name=f"q-{name[0]}", model_deployment=name, access_level="private"), "f")
    for name in MODELS
]


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    """A lake with a run and a request of two models, and the decisions that let them through."""
    folder = tmp_path / "lake"
    folder.mkdir()
    specs = [run_spec(f"u-{name[0]}", name, "triage_choice") for name in MODELS]
    append(folder, "run_specs", [planned(spec, suite="s") for spec in specs], "plan")
    requests = [
        PlannedRequest(
            run_spec_id=spec.run_spec_id,
            instance_id="i",
            perturbation="",
            train_trial_index=0,
            trial_index=0,
            purpose=Purpose.EVALUATE,
            request_id=result.request_id,
            prompt_id="p",
            model_deployment=spec.model_deployment,
            decoding=Decoding(max_tokens=8),
            access_level=AccessLevel.PRIVATE,
            estimated_tokens=8,
        )
        for spec, result in zip(specs, RESULTS, strict=True)
    ]
    append(folder, "requests", requests, "plan")
    decisions = [
        PolicyDecision(
            suite="s",
            run_name=spec.name,
            role="model",
            subject=f"the model of {spec.model}",
            model_deployment=spec.model,
            locality="tenant",
            access_level=AccessLevel.GATED,
            allowed=True,
            rule="allowed",
            policy_version="0",
            decided_at=START,
        )
        for spec in specs
    ]
    append(folder, "policy_decisions", decisions, "plan")
    lake = Lake(Session(never, "local"), str(folder)).in_process()
    return Context(lake=lake, suite="s").within(INFER)


def tenant(name: str) -> Deployment:
    return replace(deployment("canned", name=name), locality=Locality.TENANT)


def recorded(ctx: Context) -> list[tuple[str, str, str]]:
    """The deployment, model and locality of each denial."""
    sql = "SELECT * FROM {policy_decisions}"
    rows = FileReader(ctx.lake.location.name).rows(sql, PolicyDecision)
    return sorted(
        (row.model_deployment, row.subject, row.locality) for row in rows if not row.allowed
    )


def test_each_call_records_the_denials_of_its_own_deployments(ctx: Context) -> None:
    """As where one order asks one group of deployments after another."""
    append(Path(ctx.lake.location.name), "request_results", RESULTS, WRITE)
    outcomes = outcomes_of(ctx, WRITE)
    record_denied(ctx, WRITE, outcomes, {ALPHA: tenant(ALPHA)}, POLICY)
    assert recorded(ctx) == [(ALPHA, "test/model", "tenant")]
    record_denied(ctx, WRITE, outcomes, {BETA: tenant(BETA)}, POLICY)
    assert recorded(ctx) == [(name, "test/model", "tenant") for name in MODELS]


def test_denials_of_an_interrupted_run_are_recorded_though_this_one_has_other_deployments(
    ctx: Context,
) -> None:
    shared = ctx.lake.staging.shared
    assert shared
    folder = OrderFolder(str(shared / staged_name("s", "elsewhere:1:x", WRITE)))
    folder.make()
    folder.write_answers("0-0", RESULTS)
    with lease(ctx.lake, ctx.suite, [ALPHA], ctx.holder) as lease_handle:
        assert commit_interrupted(ctx, lease_handle, {ALPHA: tenant(ALPHA)}, POLICY)
    assert recorded(ctx) == [
        (ALPHA, "test/model", "tenant"),
        (BETA, f"the model of {BETA}", "tenant"),
    ]
