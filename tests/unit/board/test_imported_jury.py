"""What boards print about the jury behind a mean: one's own, the demo's, an imported one."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from medhelm_spark.board.cells import has_jury, jury_evidence
from medhelm_spark.domain.helm_results import STORED, STORED_STAT, SUFFIX
from medhelm_spark.domain.jury_evidence import JuryEvidence, mark_note, weakest
from medhelm_spark.domain.run import AnnotatorSpec, MetricSpec, RunSpec, SuiteRun
from medhelm_spark.releases.gate import CHECKS
from tests.unit.stages.test_read_answers import SPEC


def run_of(metric: MetricSpec, main: str, **more) -> SuiteRun:
    spec: RunSpec = replace(SPEC, metrics=(metric,), main_metric=main)
    facts = {"locality": "unknown", "engine": "imported", "is_jury_validated": None, **more}
    return SuiteRun(
        suite="s",
        name=spec.name,
        run_spec_id="r",
        planned_at=datetime.now(UTC),
        run_spec=spec,
        **facts,
    )


JURY = MetricSpec(name="jury_score")
HOW = (
    "; no current card trusts it to rank and to score: "
    f"medhelm-spark judge check --suite s --scenario {SPEC.scenario_name} "
    "(with -r, as for run, where jury or rubric are in the benchmark's own files)"
)


@pytest.mark.parametrize(("args", "evidence"), [({"jury": "f00ba100"}, "imported"), ({}, "")])
def test_a_value_that_medhelms_jury_gave(args: dict[str, str], evidence: str) -> None:
    metric = MetricSpec(name=STORED, args={STORED_STAT: "aci_bench_accuracy", **args})
    run = run_of(metric, f"aci_bench_accuracy{SUFFIX}", as_imported="{}")
    assert jury_evidence(run) == evidence
    assert has_jury(run.run_spec) is bool(evidence), "the gate and the filters ask about it too"


def test_imported_verdicts_scored_here() -> None:
    assert jury_evidence(run_of(JURY, "jury_score", as_imported="{}")) is JuryEvidence.IMPORTED
    exact = run_of(MetricSpec(name="exact_match"), "exact_match", as_imported="{}")
    assert jury_evidence(exact) is JuryEvidence.NO_JURY


@pytest.mark.parametrize(
    ("facts", "sentence", "mark"),
    [
        ({"is_jury_validated": True}, "stated, not shown by evidence", "*"),
        ({"is_jury_validated": False}, "not validated", "*"),
        ({"is_jury_validated": False, "is_jury_demo": True}, "demo judge", "*"),
        ({"is_jury_validated": False, "is_jury_demo": None}, "not validated", "*"),
    ],
    ids=["stated", "one's own", "the demo's", "an older lake"],
)
def test_juries_that_were_asked_here(facts: dict[str, bool], sentence: str, mark: str) -> None:
    evidence = jury_evidence(run_of(JURY, "jury_score", **facts))
    assert (evidence, evidence.mark) == (sentence, mark)
    exact = run_of(MetricSpec(name="exact_match"), "exact_match", **facts)
    assert jury_evidence(exact) is JuryEvidence.NO_JURY, "its main metric reads no verdict"


def test_a_note_names_the_kinds_of_juries_that_are_marked() -> None:
    own, demo = JuryEvidence.NOT_VALIDATED, JuryEvidence.DEMO
    assert "demo" not in mark_note([own, JuryEvidence.VALIDATED])
    assert "a jury that nobody validated, a demo judge" in mark_note([demo, own])
    assert "imported" in mark_note([JuryEvidence.IMPORTED])
    assert mark_note([]) == mark_note([JuryEvidence.VALIDATED]) == ""
    assert weakest([own, demo, JuryEvidence.NO_JURY]) is demo
    assert weakest([]) is JuryEvidence.NO_JURY


@pytest.mark.parametrize(
    ("run", "outcomes"),
    [
        (
            run_of(JURY, "jury_score", is_jury_validated=True),
            (("failed", f"that its jury was validated is stated, not shown by evidence{HOW}"),),
        ),
        (
            run_of(JURY, "jury_score", is_jury_validated=False),
            (("failed", f"clinicians have not checked its jury{HOW}"),),
        ),
        (
            run_of(JURY, "jury_score", is_jury_validated=False, is_jury_demo=True),
            (("failed", "a demo judge is in its jury"),),
        ),
        (
            run_of(
                MetricSpec(name=STORED, args={STORED_STAT: "accuracy", "jury": "f00ba100"}),
                f"accuracy{SUFFIX}",
                as_imported="{}",
            ),
            (("cannot be checked", "no record says whether its imported jury was checked"),),
        ),
    ],
    ids=["stated", "one's own", "the demo's", "MedHELM's"],
)
def test_what_the_gate_says_of_a_jury(run: SuiteRun, outcomes: tuple[tuple[str, str], ...]) -> None:
    annotators = () if run.as_imported else (AnnotatorSpec(name="jury"),)
    judged = replace(run, run_spec=replace(run.run_spec, annotators=annotators))
    gated = SimpleNamespace(planned=judged, name=run.name)
    subject = SimpleNamespace(runs=[gated], trusted=frozenset(), untrusting={})
    findings = CHECKS["validated_judges"](subject, "validated_judges")
    assert tuple((found.outcome, found.reason) for found in findings) == outcomes


@pytest.mark.parametrize(
    ("validated", "trusted", "passes"),
    [(False, {"r"}, True), (True, {"other"}, False), (True, None, True), (False, None, False)],
    ids=["a card", "another's card", "stated, no cards here", "neither"],
)
def test_a_card_passes_the_gate_and_a_statement_where_there_are_no_cards(
    validated: bool, trusted: set[str] | None, passes: bool
) -> None:
    run = run_of(JURY, "jury_score", is_jury_validated=validated)
    spec = replace(run.run_spec, run_spec_id="r", annotators=(AnnotatorSpec(name="jury"),))
    gated = SimpleNamespace(planned=replace(run, run_spec=spec), name=run.name)
    subject = SimpleNamespace(runs=[gated], trusted=trusted, untrusting={})
    assert (not list(CHECKS["validated_judges"](subject, "validated_judges"))) is passes
