"""The models: deployments, where they run, and what is known of their weights."""

from collections.abc import Collection

from medhelm_spark.domain.engine_record import WEIGHTS, recorded_by
from medhelm_spark.domain.stages import PLAN
from medhelm_spark.evidence.fills.listed import listed
from medhelm_spark.evidence.material import ReleaseMaterial
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.render.report import Report

ANSWERS, SITE = "answers", "site"
"""Where the weights are known from."""
_ENGINES = """
SELECT DISTINCT q.run_spec_id, r.engine_fingerprint
FROM ({requests}) q JOIN ({results}) r ON r.request_id = q.request_id
WHERE q.run_spec_id IN ({units}) AND q.purpose = 'evaluate'
"""


def models(material: ReleaseMaterial) -> Report:
    """Each deployment with its model, engine, locality, and its weights where they are stated."""
    engines = _engine_fingerprints(material)
    records = []
    for name in material.model_names:
        runs = [run for run in material.runs if run.run_spec.model_deployment == name]
        spec, planned = runs[0].run_spec, runs[0].planned
        known = material.models.get(spec.model)
        settings = sorted({run.run_spec.deployment_fingerprint for run in runs})
        recorded = recorded_by(
            made for run in runs for made in engines.get(run.run_spec.run_spec_id, ())
        )
        stated = _stated(material, name, settings)
        records.append(
            {
                "model_deployment": name,
                "model": spec.model,
                "developer": known.creator_organization if known else "",
                "release_date": known.release_date if known else None,
                "num_parameters": known.num_parameters if known else None,
                "engine": planned.engine,
                "locality": planned.locality,
                "settings_hash": settings,
                "engine_version": recorded.get("version", []),
                "weights_known_from": _known_from(recorded, stated),
                **{key: recorded.get(key) or stated.get(key, []) for key in WEIGHTS},
            }
        )
    return listed(
        records,
        {
            "model_deployment": "Deployment",
            "model": "Model",
            "developer": "Developer",
            "release_date": "Released",
            "engine": "Engine",
            "locality": "Runs",
            "engine_version": "Version",
            "revision": "Revision",
            "weights_sha256": "SHA-256 of the weights",
            "dtype": "Numbers",
            "quantization": "Quantization",
            "weights_known_from": "Known from",
            "settings_hash": "Hash of settings",
        },
        notes=[
            f"Known from: {ANSWERS}, what the engine recorded with each answer; {SITE}, what its "
            "files state, where the settings still have the hash that the runs have; - where "
            "nobody states it. Developer and date are those of model_metadata.yaml."
        ],
    )


def _stated(material: ReleaseMaterial, name: str, settings: list[str]) -> dict[str, list[str]]:
    """What the site's file states of the weights; nothing where it has other settings by now."""
    deployment = material.deployments.get(name)
    if deployment is None or settings != [deployment.identity]:
        return {}
    return {key: [str(deployment.args[key])] for key in WEIGHTS if deployment.args.get(key)}


def _known_from(recorded: Collection[str], stated: Collection[str]) -> str:
    """Where a model's weights are known from; empty where they are not known."""
    if any(key in recorded for key in WEIGHTS):
        return ANSWERS
    return SITE if stated else ""


def _engine_fingerprints(material: ReleaseMaterial) -> dict[str, set[str]]:
    sql = _ENGINES.format(
        requests=output_of("requests", PLAN),
        results=CURRENT_RESULTS,
        units=literals(material.units),
    )
    by_run: dict[str, set[str]] = {}
    for row in material.frozen.query(sql).to_pylist():
        by_run.setdefault(row["run_spec_id"], set()).add(row["engine_fingerprint"])
    return by_run
