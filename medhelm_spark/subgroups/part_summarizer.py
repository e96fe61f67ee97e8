"""Stats of whole runs over groups, each a part of its column, and over all other parts."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np

from medhelm_spark.domain.stats import Stat, Summary, values_of
from medhelm_spark.stages.comparability import keyed
from medhelm_spark.stages.summarize.run_summarizer import (
    GROUP,
    CountedRows,
    Observed,
    RunSummarizer,
    counted_rows,
    key_of,
)
from medhelm_spark.statistics.summary import NOTHING

MARK = chr(31)
"""In the name of a split that is a part of something: between the whole's name and the part's.

ASCII's unit separator. Before such a name it means all other parts of that whole."""


class PartSummarizer(RunSummarizer):
    """The same of splits that are parts of something, and of all other parts of the same whole."""

    __slots__ = ()

    together = GROUP[:2]

    def __call__(self, rows: Iterable[Observed]) -> Iterator[Stat]:
        for (*key, _), whole in groupby(rows, _whole_of):
            metric, params = self._metric(key)
            width = len(metric.reads(params))
            parts = {
                part: counted_rows(part_rows, width)
                for part, part_rows in groupby(whole, attrgetter(*GROUP))
            }
            for part, group in parts.items():
                others = [other for name, other in parts.items() if name != part]
                for mark, over in (("", [group]), (MARK, others)):
                    names = {**key_of(part), "split": mark + key_of(part)["split"]}
                    made = self._of_group(metric, params, _joined(over), names) if over else ()
                    for numbers in made:
                        yield keyed(
                            Stat(**{**values_of(NOTHING, Summary), **names, **numbers}), self.keys
                        )


def _whole_of(row: Observed) -> tuple[str, int, str]:
    """Run, metric, and the whole that has a row's split as a part."""
    return row.run_spec_id, row.place, row.split.partition(MARK)[0]


def _joined(groups: Sequence[CountedRows]) -> CountedRows:
    """The rows of several groups as one, each distinct row once."""
    if len(groups) == 1:
        return groups[0]
    columns, inverse = np.unique(
        np.concatenate([group.columns for group in groups]), axis=0, return_inverse=True
    )
    weights = np.zeros(len(columns), np.int64)
    np.add.at(weights, inverse.reshape(-1), np.concatenate([group.weights for group in groups]))
    starts = np.cumsum([0, *(len(group.weights) for group in groups)])
    rows = [group.rows + start for group, start in zip(groups, starts, strict=False)]
    row_of = inverse.reshape(-1)[np.concatenate(rows)]
    by_row = np.argsort(row_of, kind="stable")
    return CountedRows(
        columns=columns,
        weights=weights,
        units=np.concatenate([group.units for group in groups])[by_row],
        rows=row_of[by_row],
        is_clustered=any(group.is_clustered for group in groups),
        unscored=sum(group.unscored for group in groups),
    )
