"""The columns of a share's tables: the scan lets no other leave."""

from collections.abc import Mapping

import pyarrow as pa

RESULTS = {
    "share": pa.string(),
    "run": pa.string(),
    "model": pa.string(),
    "scenario": pa.string(),
    "benchmark": pa.string(),
    "part": pa.string(),
    "access_level": pa.string(),
    "metric": pa.string(),
    "is_main": pa.bool_(),
    "lower_is_better": pa.bool_(),
    "split": pa.string(),
    "mean": pa.float64(),
    "ci_low": pa.float64(),
    "ci_high": pa.float64(),
    "ci_method": pa.string(),
    "count": pa.int64(),
    "num_unscored": pa.int64(),
    "is_hidden": pa.bool_(),
}
"""The aggregates: numbers of a hidden row are null."""
SCORES = {
    "item": pa.string(),
    "run": pa.string(),
    "model": pa.string(),
    "scenario": pa.string(),
    "metric": pa.string(),
    "value": pa.float64(),
}
"""Scores by instance, of gated and private data rounded; `item` is the share's own id."""
TEXTS = {
    "item": pa.string(),
    "run": pa.string(),
    "model": pa.string(),
    "scenario": pa.string(),
    "input": pa.string(),
    "references": pa.list_(pa.string()),
    "answer": pa.string(),
}
"""Texts of public rows."""

DECLARED: Mapping[str, Mapping[str, pa.DataType]] = {
    "results": RESULTS,
    "scores": SCORES,
    "texts": TEXTS,
}
"""By table its columns and their types."""
