"""Scores of several runs on the same instances, side by side."""

import numpy as np
import pyarrow as pa

from medhelm_spark.board.scores import side_by_side, with_values


def scores(order: np.ndarray) -> pa.Table:
    """Two runs, 40 instances in 7 clusters, each asked three times; rows in this order."""
    generator = np.random.default_rng(1)
    rows = [
        {
            "run_spec_id": run,
            "instance_id": f"i{instance}",
            "train_trial_index": 0,
            "trial_index": trial,
            "split": "test",
            "cluster_id": f"c{instance % 7}",
            "stats": [{"name": "f1", "value": generator.random(), "status": "ok"}],
        }
        for run in ("a", "b")
        for instance in range(40)
        for trial in range(3)
    ]
    return with_values(pa.Table.from_pylist([rows[index] for index in order]), ["f1"])


def test_the_order_of_rows_changes_no_bit():
    generator = np.random.default_rng(2)
    for by_trial in (False, True):
        ordered = side_by_side(scores(np.arange(240)), ["a", "b"], ["f1"], by_trial=by_trial)
        for _ in range(5):
            again = side_by_side(
                scores(generator.permutation(240)), ["a", "b"], ["f1"], by_trial=by_trial
            )
            assert again.instances == ordered.instances
            assert np.array_equal(again.values, ordered.values)
            assert np.array_equal(again.clusters, ordered.clusters)


def test_trials_of_an_instance_share_a_label_and_those_of_a_cluster_do():
    rows = scores(np.arange(240))
    plain = rows.set_column(
        rows.column_names.index("cluster_id"), "cluster_id", pa.nulls(240, pa.string())
    )
    unclustered = side_by_side(plain, ["a", "b"], ["f1"], by_trial=True)
    labels = dict(zip(unclustered.instances, unclustered.labels.tolist(), strict=True))
    assert labels["i3/0/0"] == labels["i3/0/2"] != labels["i30/0/0"]
    assert len(set(labels.values())) == 40
    assert unclustered.clusters is None
    clustered = side_by_side(rows, ["a", "b"], ["f1"], by_trial=True)
    assert len(set(clustered.labels.tolist())) == 7
    assert np.array_equal(clustered.clusters, clustered.labels)
