"""The release itself: what it is, who approved it, what the policy requires of it."""

from medhelm_spark.board.render.report_file import standing_of
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.evidence.fills.listed import facts, listed, unavailable
from medhelm_spark.evidence.material import ReleaseMaterial
from medhelm_spark.releases.gate import gate_of
from medhelm_spark.releases.render import NOTHING_REQUIRED, UNVERIFIED, release_record
from medhelm_spark.render.report import Report


def release(material: ReleaseMaterial) -> Report:
    """The release: its status, the suites it was made of, and the versions that made it."""
    stored, manifest = material.release, material.release.manifest
    record = release_record(stored)
    stages = (manifest.stage_versions or {}) if manifest else {}
    lines = {
        "Release": stored.name,
        "Status": stored.state.status.value,
        "Standing": material.source.banner or standing_of(material.source),
        "Void": stored.state.void,
        "Manifest": stored.manifest_hash,
        "Made (UTC)": record["created_at"],
        "Made by": f"{manifest.made_by} (unverified)" if manifest else "nobody on record",
        "Run by": [f"{name} (unverified)" for name in manifest.ran_by] if manifest else "",
        "Suites": list(stored.suites),
        "Runs": len(stored.members),
        "Runs without a summary, not in it": list(manifest.lacking) if manifest else "",
        "Runs left out, their data could not be had": [row.name for row in material.left_out],
        "Made with medhelm-spark": manifest.code_version if manifest else "",
        "Versions of stages": [f"{name} {stages[name]}" for name in sorted(stages)],
        "Policy": manifest.policy_version if manifest else "",
        "Schema file": manifest.schema_hash if manifest else "",
    }
    return facts(lines, notes=[UNVERIFIED])


def approvals(material: ReleaseMaterial) -> Report:
    """The statuses that the release was given: by whom, when, with which note."""
    return listed(
        [
            {
                "status": change.to_status.value,
                "by": change.changed_by,
                "is_verified": change.is_verified,
                "at": change.changed_at.isoformat(),
                "manifest_hash": change.manifest_hash,
                "identified_by": change.identified_by or "",
                "note": change.note,
                "conditions": "; ".join(change.conditions or ()),
                "until": change.end,
                "owner": change.owner or "",
                "monitoring": ", ".join(
                    f"{name} {value}" for name, value in (change.monitoring or {}).items()
                ),
            }
            for change in material.release.state.changes
        ],
        {
            "status": "Status",
            "by": "By",
            "is_verified": "Name checked",
            "at": "At (UTC)",
            "note": "Note",
            "conditions": "Conditions",
            "until": "Until",
            "owner": "Owner",
            "monitoring": "Monitoring",
        },
        if_empty="Nobody submitted or approved it.",
    )


def requirements(material: ReleaseMaterial) -> Report:
    """The outcome of each requirement of the policy in force now."""
    if material.release.state.status is ReleaseStatus.EXTERNAL:
        return unavailable("the release was made elsewhere; the gate checks runs of this lake.")
    findings = gate_of(material.lake, material.release, material.policy)
    return listed(
        [
            {
                "requirement": each.requirement,
                "outcome": each.outcome.value,
                "run": each.run,
                "reason": each.reason,
            }
            for each in findings
        ],
        {"requirement": "Requirement", "outcome": "Outcome", "run": "Run", "reason": "Reason"},
        if_empty=NOTHING_REQUIRED,
    )
