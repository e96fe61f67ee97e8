"""What looks at the release found since."""

from medhelm_spark import features
from medhelm_spark.evidence.fills.listed import listed, unavailable, without_feature
from medhelm_spark.evidence.material import ReleaseMaterial
from medhelm_spark.render.report import Report


def monitoring(material: ReleaseMaterial) -> Report:
    """Each look at the release: when, what it came to, what moved, the largest difference."""
    watch = features.part("watch", "monitoring")
    if watch is None:
        return without_feature("watch")
    records = watch.look_records(
        material.lake, material.release.name, material.release.manifest_hash
    )
    if not records:
        return unavailable("nobody has looked at the release again; `release watch` does.")
    return listed(
        records,
        watch.look_labels(),
        notes=[
            "Each look asks the release's prompts again. False alarms of all looks together have a "
            "probability of at most 5 %."
        ],
    )
