"""Reports on releases: the list of releases, one release, its gate, and two releases compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from medhelm_spark.board.cells import jury_evidence
from medhelm_spark.domain.jury_evidence import JuryEvidence, mark_note
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.release import ReleaseChange
from medhelm_spark.domain.release_requirements import Finding, GateOutcome
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.domain.stats import Stat
from medhelm_spark.releases.differences import InReleases, RunDifference
from medhelm_spark.releases.pinned import ReleaseRows, StoredRelease, key_of
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.table import TextTable, interval_text, number_text

SHORT = 12
"""How many characters of a manifest hash a table shows; JSON has the whole hash."""

EMPTY = "This lake has no release; `medhelm-spark publish --suites SUITE --release NAME` makes one."
UNVERIFIED = "(unverified): the name of the operating system's user, which nobody has checked."
NOTHING_REQUIRED = "The policy requires nothing of a release (release.require in policy.yaml)."


def render_releases(rows: Sequence[StoredRelease], output_format: str) -> str:
    """The report that lists the releases of a lake, the newest first."""
    header = ("Release", "Status", "Made (UTC)", "By", "Runs", "Suites", "Manifest")
    table = TextTable(
        header=header,
        rows=[
            (
                release.name,
                release.state.status.value,
                _time(release),
                _maker(release),
                str(len(release.members)),
                ", ".join(release.suites),
                release.manifest_hash[:SHORT],
            )
            for release in rows
        ],
        notes=[f"{release.name}: {release.state.void}." for release in rows if release.state.void],
    )
    records = list(map(release_record, rows))
    report = Report(
        tables=[table],
        content={"releases": records},
        fields=list(records[0]) if records else list(_COLUMNS),
        records=records,
        if_empty="" if rows else EMPTY,
    )
    return formatted(report, output_format)


_COLUMNS = ("release", "status", "manifest_hash", "created_at", "made_by", "suites", "num_runs")


def release_record(release: StoredRelease) -> dict[str, object]:
    """One release as a record for JSON and CSV."""
    values = (
        release.name,
        release.state.status.value,
        release.manifest_hash,
        release.members[0].created_at.isoformat(),
        release.manifest.made_by if release.manifest else None,
        list(release.suites),
        len(release.members),
    )
    return {**dict(zip(_COLUMNS, values, strict=True)), "void": release.state.void}


def render_release(
    release: StoredRelease,
    rows: ReleaseRows,
    required: Mapping[str, bool | int | float],
    changed: Sequence[str],
    output_format: str,
) -> str:
    """The report on one release: its status and history, manifest, runs and requirements.

    `changed` names what differs from the published rows; the report then shows no number of a run.
    """
    known = replace(rows, stats={}) if changed else rows  # a board hides the numbers then, too
    runs = [_Run.of(known, member) for member in release.members]
    records = [run.record for run in runs]
    tables = [
        TextTable(
            header=("Release", release.name), rows=list(_facts(release, required, changed).items())
        ),
        *(_history(release) if release.state.changes else ()),
        TextTable(
            title="Runs",
            header=("Run", "Suite", "Metric", "Mean", "n"),
            rows=[run.cells for run in runs],
            notes=list(filter(None, [mark_note(run.jury_evidence for run in runs)])),
        ),
    ]
    content = {
        **release_record(release),
        "changed_since": list(changed),
        "requirements": dict(required),
        "manifest": None if release.manifest is None else _plain(asdict(release.manifest)),
        "changes": [_plain(asdict(change)) for change in release.state.changes],
        "runs": records,
    }
    report = Report(tables=tables, content=content, fields=list(records[0]), records=records)
    return formatted(report, output_format)


def _history(release: StoredRelease) -> Iterator[TextTable]:
    yield TextTable(
        title="Status",
        header=("Status", "By", "At (UTC)", "Manifest", "Note"),
        rows=list(map(_change_cells, release.state.changes)),
        notes=[UNVERIFIED],
    )


def _facts(
    release: StoredRelease, required: Mapping[str, bool | int | float], changed: Sequence[str]
) -> dict[str, str]:
    facts = {"status": release.state.status.value}
    if release.state.reason:
        facts["reason"] = release.state.reason
    if release.state.void:
        facts["void"] = release.state.void
    facts |= _approval(release)
    if changed:
        facts["changed since"] = f"{', '.join(changed)}; no number of it is shown"
    facts |= {
        "manifest": release.manifest_hash,
        "made": f"{_time(release)} UTC, by {_maker(release)}",
        "suites": ", ".join(release.suites),
    }
    if manifest := release.manifest:
        stages = manifest.stage_versions or {}
        unnamed = f" and {counted(manifest.num_unnamed, 'record')} without a name"
        facts |= {
            "run by": ", ".join(f"{name} (unverified)" for name in manifest.ran_by)
            + unnamed * bool(manifest.num_unnamed),
            "policy": f"{manifest.policy_version} {manifest.policy}",
            "stages": ", ".join(f"{name} {version}" for name, version in sorted(stages.items()))
            or "not on record",
            "schema": manifest.schema_hash or "none: names and groups of the cards",
            "judges": "; ".join(sorted(set(manifest.judges.values()))) or "none",
            "not summarised": ", ".join(manifest.lacking) or "none",
        }
    requirements = [
        name if value is True else f"{name} {value}" for name, value in required.items()
    ]
    facts["required"] = ", ".join(requirements) or NOTHING_REQUIRED
    return facts


def _approval(release: StoredRelease) -> dict[str, str]:
    """What the current approval states."""
    approval = release.state.approval
    if approval is None:
        return {}
    ended = f"EXPIRED at {approval.end}" if approval.is_expired(now()) else approval.end
    plan = ", ".join(f"{name} {value}" for name, value in (approval.monitoring or {}).items())
    facts = {
        "approved until": ended,
        "conditions": "; ".join(approval.conditions or ()),
        "owner": approval.owner or "",
        "monitoring": plan,
    }
    return {name: value for name, value in facts.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A run of a release; `planned` and `main` (the main stat) are None if the lake lacks them."""

    member: ReleaseMember
    planned: SuiteRun | None
    main: Stat | None

    @classmethod
    def of(cls, rows: ReleaseRows, member: ReleaseMember) -> "_Run":
        planned = rows.planned.get(key_of(member))
        main = [
            stat
            for stat in rows.stats.get(member.run_spec_id, ())
            if planned
            and (stat.name, stat.split)
            == (planned.run_spec.main_metric, planned.run_spec.main_split)
            and not stat.perturbation
        ]
        return cls(member=member, planned=planned, main=main[0] if main else None)

    @property
    def jury_evidence(self) -> JuryEvidence:
        if self.main is None or self.planned is None:
            return JuryEvidence.NO_JURY
        return jury_evidence(self.planned)

    @property
    def cells(self) -> tuple[str, ...]:
        main = self.main
        interval = interval_text(main.ci_low, main.ci_high) if main else ""
        return (
            self.member.name,
            self.member.suite,
            main.name if main else "-",
            number_text(main.mean if main else None) + self.jury_evidence.mark + interval,
            str(main.count) if main else "-",
        )

    @property
    def record(self) -> dict[str, object]:
        spec = self.planned.run_spec if self.planned else None
        names = ("mean", "ci_low", "ci_high", "count", "num_unscored")
        return {
            "name": self.member.name,
            "suite": self.member.suite,
            "run_spec_id": self.member.run_spec_id,
            "scenario_name": spec.scenario_name if spec else None,
            "model_deployment": spec.model_deployment if spec else None,
            "main_metric": spec.main_metric if spec else None,
            **{name: getattr(self.main, name, None) for name in names},
            "jury_evidence": self.jury_evidence,
        }


def render_gate(release: str, findings: Sequence[Finding], output_format: str) -> str:
    """The report on a gate: the outcome of each requirement, those that did not pass first."""
    ordered = sorted(findings, key=lambda each: each.outcome is GateOutcome.PASSED)
    rows = [(each.requirement, each.outcome.value, each.run, each.reason) for each in ordered]
    records = [_plain(asdict(each)) for each in ordered]
    report = Report(
        tables=[TextTable(header=("Requirement", "Outcome", "Run", "Reason"), rows=rows)],
        content={"release": release, "findings": records},
        fields=[field.name for field in fields(Finding)],
        records=records,
        if_empty="" if findings else NOTHING_REQUIRED,
    )
    return formatted(report, output_format)


def render_differences(
    first: str, second: str, rows: Sequence[RunDifference], output_format: str
) -> str:
    """The report that compares two releases run by run, in the order of `rows`."""
    header = ("Run", "Change", f"Mean in {first}", f"Mean in {second}", "Difference", "n", "Why")
    counts = {change: sum(row.change is change for row in rows) for change in InReleases}
    summary = ", ".join(f"{number} {change}" for change, number in counts.items() if number)
    table = TextTable(
        header=header,
        rows=[
            (
                row.name,
                row.change.value,
                number_text(row.first_mean) + interval_text(row.first_ci_low, row.first_ci_high),
                number_text(row.second_mean) + interval_text(row.second_ci_low, row.second_ci_high),
                "-" if row.difference is None else f"{row.difference:+.3f}",
                f"{_count(row.first_count)}, {_count(row.second_count)}",
                row.why,
            )
            for row in rows
        ],
        notes=[
            f"{counted(len(rows), 'run')}: {summary}. Difference: the second mean less the first."
        ],
    )
    records = [_plain(asdict(row)) for row in rows]
    report = Report(
        tables=[table],
        content={"first": first, "second": second, "runs": records},
        fields=[field.name for field in fields(RunDifference)],
        records=records,
    )
    return formatted(report, output_format)


def _count(number: int | None) -> str:
    return "-" if number is None else str(number)


def _time(release: StoredRelease) -> str:
    return f"{release.members[0].created_at:%Y-%m-%d %H:%M}"


def _maker(release: StoredRelease) -> str:
    return f"{release.manifest.made_by} (unverified)" if release.manifest else "nobody on record"


def _change_cells(change: ReleaseChange) -> tuple[str, ...]:
    at = f"{change.changed_at:%Y-%m-%d %H:%M}"
    manifest = change.manifest_hash[:SHORT]
    return change.to_status.value, change.who, at, manifest, change.note


def _plain(record: Mapping[str, object]) -> dict[str, object]:
    """A record with its times as text, which JSON can encode."""
    return {
        name: value.isoformat() if hasattr(value, "isoformat") else value
        for name, value in record.items()
    }
