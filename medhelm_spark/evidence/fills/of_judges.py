"""Judges: who they are, how many verdicts are usable, and how they agree with people."""

from typing import Any

from medhelm_spark import features
from medhelm_spark.domain.comparability import JURY
from medhelm_spark.domain.declared import JUDGE_INDEPENDENCE
from medhelm_spark.domain.stages import ANNOTATE, PLAN_JUDGES
from medhelm_spark.evidence.fills.listed import listed, unavailable, without_feature
from medhelm_spark.evidence.material import ReleaseMaterial
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.views import output_of
from medhelm_spark.render.report import Report
from medhelm_spark.render.result import texts_of
from medhelm_spark.render.table import TextTable
from medhelm_spark.statistics.agreement import MeasurementLevel
from medhelm_spark.statistics.alt_test import EPSILON

_VERDICTS = """
SELECT run_spec_id, annotator, judge, status, CAST(count(*) AS BIGINT) AS verdicts
FROM ({annotations}) a WHERE perturbation = '' AND run_spec_id IN ({units})
GROUP BY run_spec_id, annotator, judge, status
"""
_DEPLOYMENTS = """
SELECT DISTINCT run_spec_id, judge, model_deployment FROM ({requests}) q
WHERE purpose = 'judge' AND run_spec_id IN ({units})
"""
AGREEMENT = (
    *("criterion", "who", "num_items", "num_raters", "icc_a1", "icc_ck", "alpha"),
    *("spearman", "kappa", "bias", "alt_omega", "alt_rho"),
)
"""The columns of the table of agreement; evidence.json has intervals too."""
NO_JUDGE = "no judge scored any run."


def judges(material: ReleaseMaterial) -> Report:
    """Each judge of each run: jury, rubric, evidence, deployment, usable and unusable verdicts."""
    judged = {run.run_spec.run_spec_id: run for run in material.runs if run.run_spec.annotators}
    if not judged:
        return unavailable(NO_JUDGE)
    units = literals(judged)
    sql = _VERDICTS.format(annotations=output_of("annotations", ANNOTATE), units=units)
    by_judge: dict[tuple[str, str, str], dict[str, int]] = {}
    for row in material.frozen.query(sql).to_pylist():
        key = (row["run_spec_id"], row["annotator"], row["judge"])
        by_judge.setdefault(key, {})[row["status"]] = row["verdicts"]
    sql = _DEPLOYMENTS.format(requests=output_of("requests", PLAN_JUDGES), units=units)
    rows = material.frozen.query(sql).to_pylist()
    deployments = {(row["run_spec_id"], row["judge"]): row["model_deployment"] for row in rows}
    records = []
    for (unit, annotator, judge), counts in sorted(by_judge.items()):
        run = judged[unit]
        cell = run.cell
        own = {each.name: each for each in run.run_spec.annotators}.get(annotator)
        records.append(
            {
                "scenario_name": run.run_spec.scenario_name,
                "model_deployment": run.run_spec.model_deployment,
                "jury": own.jury if own else annotator,
                "rubric": own.rubric if own else "",
                "judge": judge,
                "judge_deployment": deployments.get((unit, judge)),
                "evidence": cell.jury_evidence.value if cell else "",
                "independence": (run.planned.declared or {}).get(JUDGE_INDEPENDENCE),
                "version": ((cell.comparability if cell else None) or {}).get(JURY),
                "usable": counts.get("ok", 0),
                "unusable": sum(n for status, n in counts.items() if status != "ok"),
                "by_status": dict(sorted(counts.items())),
                "jury_coverage": cell.jury_coverage if cell else None,
            }
        )
    return listed(
        records,
        {
            "scenario_name": "Scenario",
            "model_deployment": "Model judged",
            "jury": "Jury",
            "rubric": "Rubric",
            "judge": "Judge",
            "judge_deployment": "Asked at",
            "evidence": "Evidence",
            "independence": "Maker",
            "usable": "Usable verdicts",
            "unusable": "Unusable",
            "jury_coverage": "Coverage",
        },
        notes=[
            "Evidence: what is known of the jury's agreement with clinicians. Coverage: the mean "
            "share of usable verdicts of an answer."
        ],
        if_empty="The lake has no verdict of these runs.",
    )


def agreement(material: ReleaseMaterial) -> Report:
    """How raters agree among themselves, and judges, juries and metrics with them."""
    stored = features.part("ratings", "stored")
    computed = features.part("ratings", "agreement")
    render = features.part("ratings", "results")
    if stored is None or computed is None or render is None:
        return without_feature("ratings")
    by_scenario: dict[str, list[Any]] = {}
    for run in material.runs:
        by_scenario.setdefault(run.run_spec.scenario_name, []).append(run.run_spec)
    records, tables = [], []
    for scenario, specs in sorted(by_scenario.items()):
        ratings = stored.stored_ratings(material.lake, [spec.run_spec_id for spec in specs])
        if not ratings:
            continue
        level = MeasurementLevel.INTERVAL
        agreements = computed.agreement_of(
            material.frozen, specs, ratings, scale=level, epsilon=EPSILON
        )
        made = render.Agreements(agreements=tuple(agreements), scale=level)
        rows = list(made.rows())
        tables.append(
            TextTable(
                title=f"{scenario}: raters, and who is compared with them",
                header=AGREEMENT,
                rows=[texts_of(row[name] for name in AGREEMENT) for row in rows],
                notes=made.notes,
            )
        )
        records += [{"scenario_name": scenario, **row} for row in rows]
    if not records:
        return unavailable("nobody rated an answer of these runs.")
    return Report(
        tables=tables,
        content={"agreement": records},
        fields=list(records[0]),
        records=records,
    )
