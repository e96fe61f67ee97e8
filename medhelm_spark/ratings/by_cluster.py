"""Agreement whose intervals count clusters, where the card names a column of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.statistics.agreement import MeasurementLevel, krippendorff
from medhelm_spark.statistics.clustered_agreement import Counted, Labels, clustered_interval
from medhelm_spark.statistics.intraclass import Intraclass, intraclass
from medhelm_spark.statistics.two_by_two import Estimated

_CLUSTERS = """
SELECT data_version, instance_id, cluster_id FROM ({source}) d
WHERE perturbation = '' AND cluster_id IS NOT NULL AND data_version IN ({versions})
"""
Clusters = Mapping[tuple[str, str], str]
"""By run and instance the cluster of dependent answers; empty where no card names a column."""
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredAgreement:
    """Coefficients with intervals that count clusters (`statistics.clustered_agreement`)."""

    num_clusters: int
    intraclass: Intraclass
    alpha: Estimated | None = None
    kappa: Estimated | None = None
    bias: Estimated | None = None


def clusters_of(reader: Reader, specs: Sequence[RunSpec]) -> Clusters:
    """The clusters of the instances of RunSpecs, as their cards name them."""
    sql = _CLUSTERS.format(
        source=output_of("instances", INGEST, "data_version"),
        versions=literals({spec.data_version for spec in specs}),
    )
    by_version: dict[str, dict[str, str]] = {}
    for row in reader.query(sql).to_pylist():
        by_version.setdefault(row["data_version"], {})[row["instance_id"]] = row["cluster_id"]
    return {
        (spec.run_spec_id, instance): cluster
        for spec in specs
        for instance, cluster in by_version.get(spec.data_version, {}).items()
    }


def labels_of(items: Sequence[tuple[str, str, int]], clusters: Clusters) -> Labels | None:
    """The cluster of each answer, or the instance itself; None where no answer has a cluster."""
    if not any(item[:2] in clusters for item in items):
        return None
    # A cluster and an instance may have the same name.
    texts = [f"c{clusters[item[:2]]}" if item[:2] in clusters else f"i{item[1]}" for item in items]
    return np.unique(np.array(texts), return_inverse=True)[1].astype(np.int64)


def clustered_raters(
    table: Numbers,
    labels: Labels | None,
    scale: MeasurementLevel,
    *,
    kappa: Callable[[Numbers], float | None],
) -> ClusteredAgreement | None:
    """The raters among themselves; None for one rater, without clusters, and without two ratings.

    An answer with a single rating says nothing of agreement, and its cluster does not count.

    Args:
        table: one row per answer, one column per rater, NaN where there is no rating.
        labels: the cluster of each answer.
        scale: what a difference of two ratings means, for alpha.
        kappa: a function of such a table.
    """
    if labels is None:
        return None
    is_compared = (~np.isnan(table)).sum(axis=1) >= 2
    if not is_compared.any():
        return None
    table, labels = table[is_compared], labels[is_compared]
    is_whole = np.asarray(~np.isnan(table).any(axis=1))
    return ClusteredAgreement(
        num_clusters=len(np.unique(labels)),
        intraclass=_clustered_intraclass(table[is_whole], labels[is_whole]),
        alpha=clustered_interval(lambda counted: krippendorff(table[counted], scale), labels),
        kappa=clustered_interval(lambda counted: kappa(table[counted]), labels),
    )


def _clustered_intraclass(whole: Numbers, labels: Labels) -> Intraclass:
    def interval(name: str) -> Estimated | None:
        def measure(counted: Counted) -> float | None:
            estimate: Estimated | None = getattr(intraclass(whole[counted]), name)
            return estimate.value if estimate else None

        return clustered_interval(measure, labels)

    return Intraclass(**{name: interval(name) for name in Intraclass.__dataclass_fields__})


def clustered_other(
    own: Numbers,
    table: Numbers,
    labels: Labels | None,
    *,
    kappa: Callable[[Numbers, Numbers], float | None],
) -> ClusteredAgreement | None:
    """A judge, jury or metric with the raters; None without clusters.

    Args:
        own: its value of each answer.
        table: the raters' values, as in `clustered_raters`.
        labels: the cluster of each answer.
        kappa: a function of its values and such a table.
    """
    if labels is None:
        return None
    pair = np.stack([own, np.nanmean(table, axis=1)], axis=1)
    apart = pair[:, 0] - pair[:, 1]
    return ClusteredAgreement(
        num_clusters=len(np.unique(labels)),
        intraclass=_clustered_intraclass(pair, labels),
        kappa=clustered_interval(lambda counted: kappa(own[counted], table[counted]), labels),
        bias=clustered_interval(
            lambda counted: float(apart[counted].mean()) if counted.any() else None,
            labels,
            ends_at_one=False,
        ),
    )
