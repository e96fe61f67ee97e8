"""Which answers of a run have a text: in id in the data, input or references, or in the answer."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.board.answer_list import KEYS, AnswerList
from medhelm_spark.board.viewers import Viewer, refuse
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.lake.literals import literal, literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import current_results, output_of

MOST_NAMED = 1_000
"""A query has at most so many ids: more take longer to plan than they save, and for a million the
engine's stack is too small."""

_DATA = """
SELECT instance_id, access_level, source_id, input, references
FROM ({instances}) d
WHERE data_version = {data_version} AND perturbation = '' AND {named}
"""
_REQUESTS = """
SELECT request_id, access_level, instance_id, train_trial_index, trial_index
FROM ({requests}) q
WHERE run_spec_id = {run_spec_id} AND perturbation = ''
"""
# Which results are current is found by their keys: the window would keep the texts of all. The keys
# come first, because the engine keeps the first side of a join in memory.
_ANSWERS = """
SELECT r.request_id, r.access_level, r.completions
FROM (SELECT request_id, write_id, completed_at FROM ({current}) w) c
JOIN {{request_results}} r
  ON r.request_id = c.request_id AND r.write_id = c.write_id AND r.completed_at = c.completed_at
"""


def matching_indices(
    reader: Reader, spec: RunSpec, answers: AnswerList, text: str, viewer: Viewer
) -> tuple[NDArray[np.int64], frozenset[AccessLevel]]:
    """The indices of the answers with this text, in any case, and the levels of what was searched.

    SQL chooses the rows, and Arrow searches them in this process, part by part as they come: no
    text is kept, and none is part of the SQL, so that none has to be escaped.

    Raises:
        PolicyError: the viewer may not see text of the level of the run or of a row.
    """
    refuse(viewer, [spec.access_level])
    keys = answers.keys
    ids = keys["instance_id"].unique()
    sql = _DATA.format(
        instances=output_of("instances", INGEST, "data_version"),
        data_version=literal(spec.data_version),
        named=_named("instance_id", ids),
    )
    data = _found(reader, sql, partial(_in_data, text=text))
    planned = output_of("requests", PLAN, units=[spec.run_spec_id])
    of_run = _REQUESTS.format(requests=planned, run_spec_id=literal(spec.run_spec_id))
    requests = reader.query(of_run)
    requests = requests.filter(pc.is_in(requests["instance_id"], value_set=ids))
    request_ids = requests["request_id"].unique()
    sql = _ANSWERS.format(current=current_results(of_run))
    results = _found(reader, sql, partial(_in_answers, text=text))
    data = data.filter(pc.is_in(data["instance_id"], value_set=ids))
    results = results.filter(pc.is_in(results["request_id"], value_set=request_ids))
    levels = {spec.access_level}
    for table in (data, requests, results):
        row_levels = table["access_level"].unique().to_pylist()
        refuse(viewer, row_levels)
        known = list(AccessLevel)
        levels |= {
            AccessLevel(each) if each in known else AccessLevel.PRIVATE for each in row_levels
        }
    of_data = data.filter(data["has_text"])["instance_id"].combine_chunks()
    of_answer = results.filter(results["has_text"])["request_id"].combine_chunks()
    answered = requests.filter(pc.is_in(requests["request_id"], value_set=of_answer))
    has_text = pc.or_(
        pc.is_in(keys["instance_id"], value_set=of_data),
        pc.is_in(_as_text(keys), value_set=_as_text(answered).combine_chunks()),
    )
    return np.flatnonzero(has_text.to_numpy()), frozenset(levels)


def _named(column: str, ids: pa.Array) -> str:
    """A condition that saves reading where there are few ids."""
    return f"{column} IN ({literals(ids.to_pylist())})" if len(ids) <= MOST_NAMED else "true"


def _found(reader: Reader, sql: str, has_text: Callable[[pa.Table], pa.Array]) -> pa.Table:
    """Id and level of each row, and whether it has the text, without the text."""

    def part(rows: pa.Table) -> pa.Table:
        narrowed = rows.select([rows.column_names[0], "access_level"])
        return narrowed.append_column("has_text", has_text(rows).cast(pa.bool_()))

    return reader.query(sql, each=part)


def _in_data(rows: pa.Table, text: str) -> pa.Array:
    has_text = _in_texts(rows["references"], text)
    for name in ("source_id", "input"):
        in_column = pc.match_substring(rows[name], text, ignore_case=True)
        has_text = pc.or_kleene(has_text, in_column)
    return has_text


def _in_answers(rows: pa.Table, text: str) -> pa.Array:
    return _in_texts(rows["completions"], text)


def _in_texts(lists: pa.ChunkedArray, text: str) -> pa.Array:
    """Whether a `text` of each list has this text."""
    combined = lists.combine_chunks()
    texts = pc.struct_field(pc.list_flatten(combined), "text")
    has_it = pc.match_substring(texts, text, ignore_case=True)
    indices = pc.list_parent_indices(combined).filter(has_it)
    return pc.is_in(pa.array(range(len(combined)), pa.int64()), value_set=indices.cast(pa.int64()))


def _as_text(keys: pa.Table) -> pa.ChunkedArray:
    parts = (keys[name].cast(pa.string()) for name in KEYS)
    return pc.binary_join_element_wise(*parts, "/")
