"""The models: deployments, where they run, and what is known of their weights."""

from collections.abc import Mapping

from medhelm_spark.domain.stages import PLAN
from medhelm_spark.evidence.fills.listed import listed
from medhelm_spark.evidence.material import ReleaseMaterial
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.render.report import Report

STATED = ("revision", "weights_sha256", "lora_sha256", "quantization", "dtype")
"""The arguments of a deployment that say which weights answered; no other argument is shown."""
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
                "engine_hash": sorted(
                    {made for run in runs for made in engines.get(run.run_spec.run_spec_id, ())}
                ),
                "are_settings_known": stated is not None,
                **{key: (stated or {}).get(key) for key in STATED},
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
            "revision": "Revision",
            "weights_sha256": "SHA-256 of the weights",
            "quantization": "Quantization",
            "settings_hash": "Hash of settings",
        },
        notes=[
            "Revision and weights are those of the site's files, where the settings still have the "
            "hash that the runs have; - where nobody states them. Developer and date are those of "
            "model_metadata.yaml."
        ],
    )


def _stated(material: ReleaseMaterial, name: str, settings: list[str]) -> Mapping[str, str] | None:
    """What the site's file states of the weights; None where it has other settings by now."""
    deployment = material.deployments.get(name)
    if deployment is None or settings != [deployment.identity]:
        return None
    return {key: str(deployment.args[key]) for key in STATED if deployment.args.get(key)}


def _engine_fingerprints(material: ReleaseMaterial) -> dict[str, set[str]]:
    sql = _ENGINES.format(
        requests=output_of("requests", PLAN),
        results=CURRENT_RESULTS,
        units=literals(material.units),
    )
    held: dict[str, set[str]] = {}
    for row in material.frozen.query(sql).to_pylist():
        held.setdefault(row["run_spec_id"], set()).add(row["engine_fingerprint"])
    return held
