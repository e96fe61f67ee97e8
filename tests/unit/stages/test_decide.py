"""Whom the policy is asked about: models, judges, answers from a file, metrics with a model."""

from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.cli.dry_run import _cells
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.network import LOOPBACK
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.policy import Policy, PolicyDecision
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.engines import factory_of
from medhelm_spark.errors import ConfigError, PolicyError
from medhelm_spark.policy.allowlist import confined
from medhelm_spark.stages.decide import decisions_of, refuse
from medhelm_spark.user_data.answers import as_imported, with_unknown_models
from medhelm_spark.workspace.entries import Entries
from medhelm_spark.workspace.workspace import Workspace

POLICY = Policy(
    allowed=((AccessLevel.PUBLIC, (Locality.EXTERNAL,)), (AccessLevel.PRIVATE, (Locality.LOCAL,))),
    version="v",
    origin="policy.yaml",
)
KNOWN = "huggingface/smollm2-135m-instruct"


def imported(
    tmp_path: Path, level: AccessLevel, attested: Locality | None = None, model: str = "team/pilot"
) -> ResolvedRun:
    workspace = Workspace(str(tmp_path / "lake"), None)
    typed = Entries(run_entries=[f"pubmed_qa:model={model}"], attest_locality=attested)
    entries = typed.load(None)
    known = with_unknown_models(workspace, entries)
    (run,) = as_imported(known.resolve(entries), "0" * 64)
    return replace(run, card=replace(run.card, access_level=level))


def decided(run: ResolvedRun, policy: Policy = POLICY) -> PolicyDecision:
    (decision,) = decisions_of("s", [run], policy)
    return decision


@pytest.mark.attack("levels", "answers of an unregistered model to private text, as local ones")
def test_nobody_knows_where_an_unregistered_model_answered(tmp_path: Path) -> None:
    decision = decided(imported(tmp_path, AccessLevel.PRIVATE))
    assert (decision.role, decision.subject, decision.locality) == (
        "imported",
        "team/pilot",
        "unknown",
    )
    assert not decision.allowed
    everything = Policy(
        allowed=tuple((level, tuple(Locality)) for level in AccessLevel), version="v"
    )
    for level in (AccessLevel.PRIVATE, AccessLevel.GATED):
        assert not decided(imported(tmp_path, level), everything).allowed, "no policy can list it"
    with pytest.raises(PolicyError) as caught:
        refuse([decision], "")
    assert "the imported 'team/pilot' (unknown) may not see private text" in str(caught.value)
    assert "--attest-locality states where it answered" in str(caught.value)


@pytest.mark.parametrize(
    ("locality", "is_allowed"), [(Locality.LOCAL, True), (Locality.EXTERNAL, False)]
)
def test_an_attested_locality_is_asked_about_and_recorded(
    tmp_path: Path, locality: Locality, is_allowed: bool
) -> None:
    decision = decided(imported(tmp_path, AccessLevel.PRIVATE, locality))
    assert (decision.allowed, decision.locality) == (is_allowed, locality)
    assert decision.rule.endswith(f"(by import-responses --attest-locality {locality})")


@pytest.mark.parametrize(
    ("locality", "is_allowed"), [(Locality.LOCAL, True), (Locality.TENANT, False)]
)
def test_a_model_by_its_name_is_where_the_command_says(
    tmp_path: Path, locality: Locality, is_allowed: bool
) -> None:
    workspace = Workspace(str(tmp_path / "lake"), None)
    model = "vllm/ward@http://127.0.0.1:8000/v1"
    typed = Entries(run_entries=[f"pubmed_qa:model={model}"])
    (open_run,) = workspace.resolve(typed.load(None))
    private = replace(open_run.card, access_level=AccessLevel.PRIVATE)
    unstated = decided(replace(open_run, card=private))
    assert not unstated.allowed
    assert "say it with --attest-locality PLACE" in unstated.rule
    (run,) = workspace.resolve(replace(typed, attest_locality=locality).load(None))
    decision = decided(replace(run, card=private))
    assert (decision.role, decision.locality, decision.allowed) == ("model", locality, is_allowed)
    assert decision.rule.endswith(f"(by its name --attest-locality {locality})")


def test_an_unknown_locality_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'moon'.*local, tenant"):
        Entries(run_entries="pubmed_qa:model=ollama/a", attest_locality="moon").load(None)


@pytest.mark.attack("levels", "a server outside that a command calls local")
def test_a_server_elsewhere_is_not_local_because_a_command_says_so(tmp_path: Path) -> None:
    workspace = Workspace(str(tmp_path / "lake"), None)
    entry = "pubmed_qa:model=vllm/ward@https://models.example.org/v1"
    typed = Entries(run_entries=[entry], attest_locality=Locality.LOCAL)
    (run,) = workspace.resolve(typed.load(None))
    route = factory_of(run.deployment).route(run.deployment)
    reach = confined(POLICY, AccessLevel.PRIVATE, run.deployment, route).reach
    assert reach is not None
    assert reach.networks == LOOPBACK, "each connection's peer is compared with them"


def test_public_answers_need_no_locality(tmp_path: Path) -> None:
    run = imported(tmp_path, AccessLevel.PUBLIC)
    decision = decided(run)
    assert (decision.allowed, decision.rule) == (
        True,
        "public answers from a file; nothing is sent",
    )
    assert _cells(run, [decision])[1] == "team/pilot (unknown) allowed, imported, not asked"


def test_answers_of_a_registered_model_are_asked_about_by_its_own_locality(tmp_path: Path) -> None:
    run = imported(tmp_path, AccessLevel.PRIVATE, model=KNOWN)
    decision = decided(run)
    assert (decision.role, decision.locality, decision.allowed) == ("imported", "local", True)
    with pytest.raises(ConfigError, match="the model is registered with its own locality"):
        imported(tmp_path, AccessLevel.PRIVATE, Locality.LOCAL, model=KNOWN)


def test_a_metric_that_loads_a_model_is_asked_about_as_a_judge_is(tmp_path: Path) -> None:
    run = imported(tmp_path, AccessLevel.PRIVATE, Locality.LOCAL)
    scored = replace(run, metrics=(MetricSpec(name="bertscore"), MetricSpec(name="exact_match")))
    decision = list(decisions_of("s", [scored], POLICY))[-1]
    assert (decision.role, decision.subject) == ("metric", "distilbert-base-uncased")
    assert (decision.locality, decision.allowed) == ("local", True)
    nowhere = replace(POLICY, allowed=((AccessLevel.PRIVATE, ()),))
    refused = list(decisions_of("s", [scored], nowhere))[-1]
    assert (refused.role, refused.allowed) == ("metric", False)


def test_a_deployment_that_states_no_locality_is_not_refused_for_one(tmp_path: Path) -> None:
    entries = Entries(run_entries=[f"pubmed_qa:model={KNOWN}"]).load(None)
    (run,) = Workspace(str(tmp_path / "lake"), None).resolve(entries)
    unstated = replace(run.deployment, is_locality_stated=False)
    card = replace(run.card, access_level=AccessLevel.PRIVATE)
    decision = decided(replace(run, card=card, deployment=unstated))
    assert (decision.locality, decision.allowed) == ("unknown", False)
    assert "does not state where it runs" in decision.rule
