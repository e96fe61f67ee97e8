"""The gate: whether a release has what the policy requires of it, requirement by requirement.

A check yields what is wrong, or what the lake has no record of. It passes if it yields nothing, or
only matches that somebody waived.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from medhelm_spark import features
from medhelm_spark.board.boards import board_of
from medhelm_spark.board.cells import has_jury
from medhelm_spark.board.runs import BoardRun, load_runs
from medhelm_spark.board.skipped import skipped_in
from medhelm_spark.board.sources import BoardSource, Kind, reader_of
from medhelm_spark.domain.comparability import UNKNOWN
from medhelm_spark.domain.level_change import lowering_of
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.release_requirements import Finding, GateOutcome, ReleaseRequirements
from medhelm_spark.domain.run import RunRecord, SuiteRun
from medhelm_spark.domain.sign_off import SignOff, stated_in
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.domain.stages import SCORE
from medhelm_spark.governance.level_changes import level_changes_of
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RUNS
from medhelm_spark.releases.pinned import StoredRelease, read_release

Findings = Iterator[Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """A run of a release with what is on record of it.

    `differs` says why its mean is not comparable; `records` are of the finished work behind it.
    """

    run: BoardRun
    planned: SuiteRun
    records: tuple[RunRecord, ...]
    differs: str

    @property
    def name(self) -> str:
        """HELM's name of the run."""
        return self.planned.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What the checks look at; `unreviewed` are data versions lowered without a second person.

    `lacks` are the benchmarks of the ranking that a model has no counted mean on, by model.
    `unscanned` says why the release counts as not scanned; None where this cannot be checked.
    `num_waived` are the matches of patterns that its scan found and somebody waived.
    `trusted` are the runs whose juries a judge card trusts; None where there are no such cards.
    `untrusting` is by run the card that says that its jury may not be trusted, in words.
    """

    release: StoredRelease
    runs: tuple[Gated, ...]
    left_out: tuple[LeftOut, ...]
    unreviewed: frozenset[str]
    policy: Policy
    unscanned: str | None
    lacks: Mapping[str, tuple[str, ...]]
    trusted: frozenset[str] | None = None
    untrusting: Mapping[str, str] = field(default_factory=dict)
    num_waived: int = 0


def gate_of(reader: Reader, release: StoredRelease, policy: Policy) -> tuple[Finding, ...]:
    """What each requirement of the policy comes to; nothing where it requires nothing.

    Raises:
        IntegrityError: A value behind the release's board was changed after it was published.
    """
    required = policy.release.required
    if not required:
        return ()
    subject = _subject(reader, release, policy)
    return tuple(finding for name in required for finding in _checked(name, subject))


def _checked(name: str, subject: Subject) -> Sequence[Finding]:
    wrong = tuple(CHECKS[name](subject, name))
    return wrong or (Finding(requirement=name, outcome=GateOutcome.PASSED),)


def _subject(reader: Reader, release: StoredRelease, policy: Policy) -> Subject:
    sharing = features.part("sharing", "scanned")
    cards = features.part("judge_checks", "cards")
    source = BoardSource(kind=Kind.RELEASE, name=release.name)
    runs = load_runs(reader, source)
    rows = read_release(reader, release.members)
    planned = {row.run_spec_id: row for row in rows.planned.values()}
    scenarios = {version: row for (version, _), row in rows.scenarios.items()}
    frozen = reader_of(reader, source)
    records = frozen.rows(CURRENT_RUNS, RunRecord)
    board = board_of(frozen, runs, coverage_floor=policy.comparison.coverage_floor)
    differs = {
        unit: cell.differs
        for row in board.rows
        for cell in row.cells
        if cell
        for unit in cell.run_spec_ids
    }
    changes = level_changes_of(reader, policy.binding_approvals)
    gated = tuple(
        Gated(
            run=run,
            planned=planned[run.run_spec.run_spec_id],
            records=tuple(
                record
                for record in records
                if record.unit_id in (run.run_spec.run_spec_id, run.run_spec.data_version)
            ),
            differs=differs.get(run.run_spec.run_spec_id, ""),
        )
        for run in runs
    )
    unreviewed = {
        version
        for version, row in scenarios.items()
        if lowering_of(row.access_level, version, changes, policy.binding_approvals).is_unreviewed
    }
    return Subject(
        release=release,
        runs=gated,
        left_out=skipped_in(reader, source),
        unreviewed=frozenset(unreviewed),
        policy=policy,
        unscanned=sharing.unscanned(reader, release.manifest_hash, policy) if sharing else None,
        num_waived=sharing.waived_of(reader, release.manifest_hash, policy) if sharing else 0,
        lacks={row.name: row.lacks for row in board.rows if row.lacks and not row.variant},
        trusted=cards.trusted_runs(reader, runs) if cards else None,
        untrusting=cards.untrusting_cards(reader, runs) if cards else {},
    )


def _every_run(subject: Subject, name: str) -> Findings:
    if subject.release.manifest is None:
        yield _unchecked(name, "", "made by an earlier version; publish it again")
        return
    for run in subject.release.manifest.lacking:
        yield _failed(name, run, "planned and not summarised when the release was made")
    for absent in subject.left_out:
        yield _failed(name, absent.name, "left out, because its data could not be had")
    for gated in subject.runs:
        if gated.run.cell is None:
            yield _failed(name, gated.name, "its main metric gave no value")


def _every_answer(subject: Subject, name: str) -> Findings:
    for gated in subject.runs:
        scored = [record for record in gated.records if record.stage == SCORE.name]
        counts = scored[-1].counts if scored else {}
        asked, answered = counts.get("requests"), counts.get("answered")
        if asked is None or answered is None:
            yield _unchecked(name, gated.name, "no record says how many requests were answered")
        elif answered < asked:
            yield _failed(name, gated.name, f"{answered:,} of {asked:,} requests answered")


def _coverage_floor(subject: Subject, name: str) -> Findings:
    floor = subject.policy.comparison.coverage_floor
    for gated in subject.runs:
        cell = gated.run.cell
        if cell and cell.is_below(floor):
            yield _failed(
                name, gated.name, f"{cell.coverage:.3f} of its answers scored, the floor is {floor}"
            )
        elif not cell:
            yield _failed(name, gated.name, "no answer has a score")


def _judge_coverage(subject: Subject, name: str) -> Findings:
    least = subject.policy.release.judge_coverage or 0.0
    for gated in _judged(subject):
        share = gated.run.cell.jury_coverage if gated.run.cell else None
        if share is None:
            yield _unchecked(name, gated.name, "no stat says how many verdicts could be used")
        elif share < least:
            yield _failed(name, gated.name, f"{share:.3f}, required {least}")


def _validated_judges(subject: Subject, name: str) -> Findings:
    for gated in _judged(subject):
        spec = gated.planned.run_spec
        if gated.planned.is_jury_demo:
            yield _failed(name, gated.name, "a demo judge is in its jury")
        elif spec.run_spec_id in (subject.trusted or ()):
            continue
        elif spec.run_spec_id in subject.untrusting:
            yield _failed(name, gated.name, subject.untrusting[spec.run_spec_id])
        elif gated.planned.is_jury_validated is None:
            jury = "imported jury" if gated.planned.as_imported is not None else "jury"
            yield _unchecked(name, gated.name, f"no record says whether its {jury} was checked")
        elif not gated.planned.is_jury_validated:
            reason = "clinicians have not checked its jury"
            yield _failed(name, gated.name, f"{reason}{_how_shown(subject, gated)}")
        elif subject.trusted is not None:
            reason = "that its jury was validated is stated, not shown by evidence"
            yield _failed(name, gated.name, f"{reason}{_how_shown(subject, gated)}")


def _how_shown(subject: Subject, gated: Gated) -> str:
    """The command whose card shows that a jury may be trusted, where this installation has it."""
    if subject.trusted is None:
        return ""
    suite, scenario = gated.planned.suite, gated.planned.run_spec.scenario_name
    command = f"medhelm-spark judge check --suite {suite} --scenario {scenario}"
    own = "with -r, as for run, where jury or rubric are in the benchmark's own files"
    return f"; no current card trusts it to rank and to score: {command} ({own})"


def _judged(subject: Subject) -> list[Gated]:
    return [gated for gated in subject.runs if has_jury(gated.planned.run_spec)]


def _provenance(subject: Subject, name: str) -> Findings:
    for gated in subject.runs:
        if gated.run.missing_provenance:
            lacking = ", ".join(gated.run.missing_provenance)
            yield _failed(name, gated.name, f"not on record: {lacking}")
    manifest = subject.release.manifest
    if manifest is None or not manifest.made_by:
        yield _failed(name, "", "not on record: who made it; publish it again")


def _comparable(subject: Subject, name: str) -> Findings:
    for gated in subject.runs:
        cell = gated.run.cell
        if gated.differs:
            yield _failed(name, gated.name, gated.differs)
        elif cell and (cell.comparability is None or UNKNOWN in cell.comparability.values()):
            yield _unchecked(name, gated.name, "no record says what its mean rests on")


def _min_instances(subject: Subject, name: str) -> Findings:
    least = subject.policy.release.min_instances or 0
    for gated in subject.runs:
        count = gated.run.cell.num_counted if gated.run.cell else 0
        count //= gated.planned.run_spec.adapter_spec.requests_per_instance
        if count < least:
            yield _failed(
                name, gated.name, f"{counted(count, 'scored instance')}, required {least}"
            )


def _max_interval_width(subject: Subject, name: str) -> Findings:
    widest = subject.policy.release.max_interval_width or 0.0
    for gated in subject.runs:
        cell = gated.run.cell
        if cell is None or cell.ci_low is None or cell.ci_high is None:
            yield _unchecked(name, gated.name, "its mean has no interval")
        elif (width := cell.ci_high - cell.ci_low) > widest:
            yield _failed(name, gated.name, f"{width:.3f} wide, allowed {widest}")


def _reviewed_levels(subject: Subject, name: str) -> Findings:
    for gated in subject.runs:
        if gated.run.run_spec.data_version in subject.unreviewed:
            scenario = gated.run.run_spec.scenario_name
            reason = f"the level of {scenario} was lowered, and nobody else approved it"
            yield _failed(name, gated.name, reason)


def _redaction_scan(subject: Subject, name: str) -> Findings:
    if subject.unscanned is None:
        yield _unchecked(name, "", "this installation is without the feature 'sharing'")
    elif subject.unscanned:
        yield _failed(name, "", subject.unscanned)
    elif subject.num_waived:
        reason = f"matches of patterns waived: {subject.num_waived:,}; the manifest names by whom"
        yield Finding(requirement=name, outcome=GateOutcome.PASSED, reason=reason)


def _no_demo_juries(subject: Subject, name: str) -> Findings:
    for gated in _judged(subject):
        if gated.planned.is_jury_demo is None and gated.planned.as_imported is None:
            reason = "no record says whether a demo judge is in its jury; medhelm-spark run, then "
            yield _unchecked(name, gated.name, f"{reason}release publish, record it")
        elif gated.planned.is_jury_demo:
            yield _failed(name, gated.name, "a demo judge is in its jury")


def _complete_models(subject: Subject, name: str) -> Findings:
    for model, lacks in subject.lacks.items():
        yield _failed(name, "", f"{model} is not ranked, without a mean on {first_of(lacks)}")


def _approval(lacks: Callable[[SignOff], bool], what: str) -> Callable[[Subject, str], Findings]:
    """A check of the current approval; a release that is not approved yet passes."""

    def check(subject: Subject, name: str) -> Findings:
        approval = subject.release.state.approval
        if approval and lacks(stated_in(approval)):
            yield _failed(name, "", f"its approval lacks {what}")

    return check


def _approval_days(subject: Subject, name: str) -> Findings:
    approval = subject.release.state.approval
    if approval is None:
        return
    required = ReleaseRequirements(approval_days=subject.policy.release.approval_days)
    for lacking in stated_in(approval).lacks(required, approval.changed_at):
        yield _failed(name, "", f"its approval lacks {lacking}")


def _verified_people(subject: Subject, name: str) -> Findings:
    release = subject.release
    own = [each for each in release.state.changes if each.manifest_hash == release.manifest_hash]
    last = {each.to_status: each for each in own}  # the last of each status counts
    for status in (ReleaseStatus.IN_REVIEW, ReleaseStatus.APPROVED):
        if status in last and not last[status].is_verified:
            yield _failed(name, "", f"{status} by {last[status].who}")


CHECKS: Mapping[str, Callable[[Subject, str], Findings]] = {
    "every_run": _every_run,
    "every_answer": _every_answer,
    "coverage_floor": _coverage_floor,
    "judge_coverage": _judge_coverage,
    "validated_judges": _validated_judges,
    "provenance": _provenance,
    "comparable": _comparable,
    "min_instances": _min_instances,
    "max_interval_width": _max_interval_width,
    "reviewed_levels": _reviewed_levels,
    "redaction_scan": _redaction_scan,
    "no_demo_juries": _no_demo_juries,
    "complete_models": _complete_models,
    "verified_people": _verified_people,
    "approval_note": _approval(lambda stated: not stated.note, "a note"),
    "approval_owner": _approval(lambda stated: not stated.owner, "an owner"),
    "approval_monitoring": _approval(lambda stated: not stated.monitoring, "a monitoring plan"),
    "approval_days": _approval_days,
}
"""A check for each field of `ReleaseRequirements`."""


def _failed(requirement: str, run: str, reason: str) -> Finding:
    return Finding(requirement=requirement, outcome=GateOutcome.FAILED, run=run, reason=reason)


def _unchecked(requirement: str, run: str, reason: str) -> Finding:
    return Finding(requirement=requirement, outcome=GateOutcome.UNCHECKED, run=run, reason=reason)
