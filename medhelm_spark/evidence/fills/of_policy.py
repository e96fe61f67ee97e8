"""What the policy decided and what was sent where: counts, never text."""

from collections import Counter

from medhelm_spark.domain.policy import PolicyDecision
from medhelm_spark.evidence.fills.listed import facts, listed
from medhelm_spark.evidence.material import ReleaseMaterial
from medhelm_spark.governance.disclosures import DisclosureScope, disclosures_of
from medhelm_spark.governance.level_changes import level_changes_of
from medhelm_spark.lake.literals import among
from medhelm_spark.render.report import Report

_DECISIONS = "SELECT * FROM {{policy_decisions}} WHERE {suites}"


def policy(material: ReleaseMaterial) -> Report:
    """The policy that the release was made under, and the one in force now."""
    manifest, now = material.release.manifest, material.policy
    return facts(
        {
            "Policy when the release was made": manifest.policy_version if manifest else None,
            "Policy in force now": now.version,
            "Its standing": now.standing.value,
            "Coverage floor": now.comparison.coverage_floor,
            "Incomplete juries": now.comparison.incomplete_jury.value,
            "Groups are shown from so many patients": now.small_cells.minimum,
            "Required of a release": [
                name if value is True else f"{name} {value}"
                for name, value in now.release.required.items()
            ],
        }
    )


def decisions(material: ReleaseMaterial) -> Report:
    """How many decisions let a deployment see text, by role and access level."""
    names = {run.run_spec.name for run in material.runs}
    sql = _DECISIONS.format(suites=among("suite", material.release.suites))
    rows = [
        row
        for row in material.lake.rows(sql, PolicyDecision)
        if row.run_name in names and row.suite in material.release.suites
    ]
    labels = {
        "role": "Role",
        "model_deployment": "Deployment",
        "locality": "Runs",
        "access_level": "Access level",
        "is_allowed": "Allowed",
        "policy_version": "Policy",
    }
    counted = Counter(
        (
            row.role,
            row.model_deployment,
            row.locality,
            row.access_level.value,
            row.allowed,
            row.policy_version,
        )
        for row in rows
    )
    return listed(
        [
            {**dict(zip(labels, key, strict=True)), "decisions": number}
            for key, number in sorted(counted.items())
        ],
        {**labels, "decisions": "Decisions"},
        if_empty="The lake has no decision on these runs.",
    )


def disclosures(material: ReleaseMaterial) -> Report:
    """How many texts the runs of the release sent, by access level and destination."""
    scope = DisclosureScope(run_spec_ids={run.run_spec.run_spec_id for run in material.runs})
    sums: Counter[tuple[str, ...]] = Counter()
    times: Counter[tuple[str, ...]] = Counter()
    answered: Counter[tuple[str, ...]] = Counter()
    for row in disclosures_of(material.lake, scope):
        key = (
            row.access_level.value,
            row.lowered_from,
            row.model_deployment,
            row.destination,
            row.locality,
            "at most, results not kept" if row.is_bound else "on record",
        )
        sums[key] += row.texts
        times[key] += row.times
        answered[key] += row.answered
    labels = {
        "access_level": "Access level",
        "lowered_from": "Lowered from",
        "model_deployment": "Deployment",
        "destination": "Sent to",
        "locality": "Runs",
        "kind": "Counted",
    }
    return listed(
        [
            {
                **dict(zip(labels, key, strict=True)),
                "texts": sums[key],
                "times": times[key],
                "answered": answered[key],
            }
            for key in sorted(sums)
        ],
        {**labels, "texts": "Texts", "times": "Times", "answered": "Answered"},
        notes=[
            "Disclosures that were begun and never committed belong to no run on record, and are "
            "counted here for the whole lake."
        ],
        if_empty="The lake has no record of text that these runs sent.",
    )


def levels(material: ReleaseMaterial) -> Report:
    """Access levels of the release's data that somebody lowered, and who approved it."""
    used = {run.run_spec.scenario_name for run in material.runs}
    rows = level_changes_of(material.lake, material.policy.binding_approvals)
    return listed(
        [
            {
                "scenario_name": row.scenario_name,
                "data_version": row.data_version,
                "from_level": row.from_level.value,
                "to_level": row.to_level.value,
                "changed_by": row.changed_by,
                "changed_at": row.changed_at.isoformat(),
                "approved_by": row.approved_by,
                "is_reviewed": row.reviewed,
            }
            for row in rows
            if row.scenario_name in used
        ],
        {
            "scenario_name": "Scenario",
            "from_level": "From",
            "to_level": "To",
            "changed_by": "By",
            "changed_at": "At (UTC)",
            "approved_by": "Approved by",
        },
        if_empty="No level of this data was lowered.",
    )
