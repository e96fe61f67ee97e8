"""The first page of answers in the order of the data, without the scores of the others."""

from functools import partial

import numpy as np
import pyarrow as pa

from medhelm_spark.board.answer_list import (
    KEYS,
    SOURCE_INDICES,
    needed_stats,
    scored_where,
    valued,
    with_statuses,
)
from medhelm_spark.board.instances import InstancePage, scores_at
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import INGEST, SCORE
from medhelm_spark.lake.literals import literal, literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of

LOOKED_AT = 8
"""So many times the page's instances are looked at: a run may have answered some alone."""

_FIRST = "SELECT * FROM ({source_indices}) p ORDER BY source_index, instance_id LIMIT {count}"
_COUNT = "SELECT count(1) AS n FROM ({scores}) s WHERE {where}"
_STATS = """
SELECT instance_id, train_trial_index, trial_index, stats FROM ({scores}) s
WHERE {where} AND instance_id IN ({ids})
"""


def first_page(reader: Reader, spec: RunSpec, *, limit: int) -> InstancePage | None:
    """The page of `instances_of` at offset 0 in the order of the data; it has no `counts`.

    Of a million answers it takes a tenth of the time. None where the first instances of the data
    do not fill the page, or the main metric has no value of an answer on it: the run then has few
    of them, and only the list of all answers has which.
    """
    scores, where = output_of("per_instance_stats", SCORE), scored_where(spec)
    source_indices = SOURCE_INDICES.format(
        instances=output_of("instances", INGEST, "data_version"),
        data_version=literal(spec.data_version),
    )
    first = reader.query(_FIRST.format(source_indices=source_indices, count=LOOKED_AT * limit))
    ids = first["instance_id"].to_pylist()
    narrowed = partial(with_statuses, names=needed_stats(spec))
    sql = _STATS.format(scores=scores, where=where, ids=literals(ids))
    scored = reader.query(sql, each=narrowed)
    rank = {name: index for index, name in enumerate(ids)}
    keys = [tuple(key.values()) for key in scored.select(KEYS).to_pylist()]
    order = sorted(range(len(keys)), key=lambda at: (rank[keys[at][0]], *keys[at][1:]))[:limit]
    scored = scored.take(pa.array(order, pa.int64()))
    value_of, values, statuses = valued(spec, scored)
    if len(order) < limit or (statuses < 0).any():
        return None
    total = reader.query(_COUNT.format(scores=scores, where=where)).to_pylist()[0]["n"]
    return InstancePage(
        total=total,
        offset=0,
        scores=scores_at(scored.select(KEYS), np.arange(limit), values, statuses),
        value_of=value_of,
        num_answers=total,
    )
