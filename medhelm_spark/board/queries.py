"""What the queries of a board share: one stat out of stored scores."""

import pyarrow as pa
import pyarrow.compute as pc


def stat_column(scores: pa.Table, name: str) -> pa.Table:
    """The rows of `scores` that have this stat, with its `value` and `status` in place of `stats`.

    `scores` has the column `stats` of `per_instance_stats`; its other columns are kept.
    """
    stats = scores.column("stats").combine_chunks()
    flat = stats.flatten()
    is_named = pc.equal(flat.field("name"), name)
    rows = scores.drop_columns(["stats"]).take(pc.list_parent_indices(stats).filter(is_named))
    rows = rows.append_column("value", flat.field("value").filter(is_named))
    return rows.append_column("status", flat.field("status").filter(is_named))
