"""A check of a jury, from stored verdicts and planted answers to a judge card."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from medhelm_spark.board import BoardRun
from medhelm_spark.config.word_lists import load_word_lists
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.stages import CHECK_JUDGES
from medhelm_spark.judge_checks.ask import ask_judges, day_of
from medhelm_spark.judge_checks.cards import hash_of
from medhelm_spark.judge_checks.drift import last_check
from medhelm_spark.judge_checks.juries import CheckedJury, checked_jury
from medhelm_spark.judge_checks.lines import (
    EvidenceLine,
    LineOutcome,
    Trust,
    Use,
    UseVerdict,
    unmeasured,
    verdict_of,
)
from medhelm_spark.judge_checks.people import peoples_ratings
from medhelm_spark.judge_checks.planted_lines import planted_lines
from medhelm_spark.judge_checks.planting import planted_inputs, sampled
from medhelm_spark.judge_checks.stored import jury_params, stored_answers, stored_verdicts
from medhelm_spark.judge_checks.stored_lines import StoredEvidence, stored_lines
from medhelm_spark.judge_checks.tables import JudgeCard, PlantedVerdict
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.user import this_user
from medhelm_spark.stages.context import now
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.workspace import Workspace

ALWAYS_MEASURED = ("coverage", "unreadable verdicts", "same score", "repeated request")


def check_jury(
    workspace: Workspace,
    runs: Sequence[BoardRun],
    jury: str | None,
    *,
    items: int,
    entries: LoadedEntries | None = None,
) -> JudgeCard:
    """Check a jury, store its card, and return it; stored verdicts and boards stay as they are.

    Args:
        workspace: the site and the lake.
        runs: those of one scenario in one suite.
        jury: its name (None: the only one).
        items: how many stored answers are used to plant others; 0: no judge is asked.
        entries: run entries, where rubric or jury are in a benchmark's own files.
    """
    at = now()
    checked = checked_jury(workspace, runs, jury, entries)
    reader, annotator = workspace.reader, checked.annotator
    name = annotator.spec.name
    params = jury_params(checked.specs, name)
    verdicts = stored_verdicts(
        reader, checked.specs, name, checked.judges, annotator.rubric, params
    )
    evidence = StoredEvidence(
        jury=checked,
        verdicts=verdicts,
        answers=stored_answers(reader, checked.specs, annotator.rubric),
        people=peoples_ratings(reader, checked, params),
        rules=workspace.registry.policy.judge_checks,
        registry=workspace.registry,
        last=last_check(reader, checked, at),
    )
    check_id = content_id(checked.part, checked.suite, checked.scenario_name, at.isoformat())
    planted = _planted(workspace, evidence, items, check_id, at)
    first, is_measured = planted_lines(evidence, planted)
    lines = stored_lines(evidence)
    if not is_measured:
        why = next(line.note for line in first if line.name not in ALWAYS_MEASURED)
        lines = [
            line
            if line.name in ALWAYS_MEASURED or line.outcome is LineOutcome.REPORTED
            else unmeasured(line, why)
            for line in lines
        ]
    card = _card(workspace, checked, [*lines, *first], check_id, at)
    ctx = workspace.context(checked.suite).within(CHECK_JUDGES)
    ctx.lake.append_rows("judge_cards", [card], new_write_id(), txn=(card.card_id, 1))
    return card


def _planted(
    workspace: Workspace, evidence: StoredEvidence, items: int, check_id: str, at: datetime
) -> list[PlantedVerdict]:
    judged = evidence.verdicts.of_jury
    answers = [answer for name, answer in evidence.answers.items() if name in judged]
    if not items or not answers:
        return []
    sample = sampled(answers, items)
    lists = load_word_lists(workspace.registry.word_list_files)
    inputs = list(planted_inputs(sample, answers, lists, evidence.jury.annotator.rubric))
    return ask_judges(workspace, evidence.jury, inputs, evidence.verdicts, check_id, day_of(at))


def _card(
    workspace: Workspace,
    checked: CheckedJury,
    lines: list[EvidenceLine],
    check_id: str,
    at: datetime,
) -> JudgeCard:
    uses = [verdict_of(use, lines) for use in Use]
    annotator, policy = checked.annotator, workspace.registry.policy
    content = {
        "uses": [asdict(use) for use in uses],
        "lines": [asdict(line) for line in lines],
        "limits": asdict(policy.judge_checks),
    }
    card = JudgeCard(
        card_id="",
        check_id=check_id,
        suite=checked.suite,
        scenario_name=checked.scenario_name,
        annotator=annotator.spec.name,
        jury=annotator.jury.name,
        rubric=annotator.rubric.name,
        rubric_version=annotator.rubric.version,
        judges=checked.judges,
        fingerprints=tuple(content_id(each.identity) for each in annotator.deployments),
        jury_part=checked.part,
        trusted=tuple(use.use for use in uses if use.trust is Trust.TRUSTED),
        untrusted=tuple(use.use for use in uses if use.trust is Trust.UNTRUSTED),
        checked_at=at,
        checked_by=this_user(),
        ends_at=at + timedelta(days=policy.judge_checks.days),
        policy_version=policy.version,
        content=json.dumps(content, sort_keys=True, ensure_ascii=False),
    )
    return replace(card, card_id=hash_of(card))


def lines_of(card: JudgeCard) -> list[EvidenceLine]:
    """The lines of evidence of a card."""
    return [
        EvidenceLine(
            **{
                **line,
                "uses": tuple(map(Use, line["uses"])),
                "outcome": LineOutcome(line["outcome"]),
            }
        )
        for line in json.loads(card.content)["lines"]
    ]


def uses_of(card: JudgeCard) -> list[UseVerdict]:
    """The verdict of a card on each use."""
    return [
        UseVerdict(
            use=Use(use["use"]),
            trust=Trust(use["trust"]),
            because=tuple(use["because"]),
            cures=tuple(use["cures"]),
        )
        for use in json.loads(card.content)["uses"]
    ]
