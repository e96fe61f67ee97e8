"""The list of an order's chunks where Spark stages the order."""

from dataclasses import fields

import pyarrow as pa

from medhelm_spark.lake.columnar import arrow_schema
from medhelm_spark.lake.in_process import LocalFrame, answered
from medhelm_spark.lake.reader import decode
from medhelm_spark.stages.infer.order import OrderedChunk
from medhelm_spark.stages.infer.rounds import LISTED, NumberedRequest


def test_each_chunk_is_listed_with_all_that_the_driver_reads_of_it() -> None:
    row = {
        "request_id": "r", "model_deployment": "acme/a", "messages": [], "text": "?",
        "decoding": {"max_tokens": 7}, "access_level": "gated", "attempts": 0,
        "estimated_tokens": 30, "tries": 0, "together": "", "file": "f", "number": 2, "place": 0,
    }  # fmt: skip
    rows = pa.Table.from_pylist(
        [row, {**row, "request_id": "s", "tries": 1}], arrow_schema(NumberedRequest)
    )
    listed = answered(LISTED, {"rows": LocalFrame(rows)}).rows
    assert set(listed.column_names) == {field.name for field in fields(OrderedChunk)}
    (chunk,) = decode(listed, OrderedChunk)
    assert chunk == OrderedChunk(
        file="f", number=2, model_deployment="acme/a", requests=2, tokens=60, longest=7,
        was_tried=True, public=0, gated=2, private=0,
    )  # fmt: skip
