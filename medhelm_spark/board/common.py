"""Means of two runs on the instances that both have, where one lacks answers."""

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import pyarrow as pa
import xxhash

from medhelm_spark.board.measured import measured, needed_stats
from medhelm_spark.board.runs import BoardRun
from medhelm_spark.board.scores import in_batches, own_scores, scores_of
from medhelm_spark.domain.stats import UNBOUNDED
from medhelm_spark.lake.reader import Reader
from medhelm_spark.statistics.bootstrap import Units
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.common import Common, CommonMeans, common_means

_SEED = 42
"""The seed of Spark's xxhash64, so that units are drawn as they were for each run's own mean."""

_Ids = tuple[str, ...]
_Column = list[tuple[BoardRun, BoardCell]]


def common_of(reader: Reader, runs: Iterable[BoardRun]) -> Common:
    """The means of two runs on the instances that both have.

    Only of columns in which a run lacks an answer that another has: in the others the means are
    those of the cells. A run that was scored again after its cell was made is left out.
    """
    columns: dict[tuple[str, ...], _Column] = {}
    for run in runs:
        if run.cell and run.cell.mean is not None and run.is_current:
            cell = run.cell
            key = (cell.scenario_name, cell.part, cell.main_metric, cell.split)
            columns.setdefault(key, []).append((run, cell))
    common: dict[tuple[_Ids, _Ids], CommonMeans] = {}
    for batch in in_batches(filter(_lacks_answers, columns.values()), _num_answers):
        scores = scores_of(
            reader,
            [run.run_spec.run_spec_id for column in batch for run, _ in column],
            {
                name
                for column in batch
                for run, cell in column[:1]
                for name in needed_stats(run, cell.main_metric)
            },
        )
        for column in batch:
            for (first, second), means in _of_column(scores, column):
                common[first, second], common[second, first] = means, means.turned
    return common


def _lacks_answers(column: _Column) -> bool:
    """Whether two runs may have scores of other instances.

    Answers to which a stat does not apply may be others in each run, as those without a query are
    to the validity of queries.
    """
    sizes = {cell.count for _, cell in column}
    return len(column) > 1 and (len(sizes) > 1 or any(cell.num_unscored for _, cell in column))


def _num_answers(column: _Column) -> int:
    return sum(cell.total for _, cell in column)


def _of_column(
    scores: pa.Table, column: _Column
) -> Iterator[tuple[tuple[_Ids, _Ids], CommonMeans]]:
    run, cell = column[0]
    ids = [each.run_spec.run_spec_id for each, _ in column]
    cells = [each.run_spec_ids for _, each in column]
    stat = measured(run, cell.main_metric, own_scores(scores, ids, cell.split), ids)
    pairs = list(combinations(range(len(ids)), 2))
    both = [stat.on_common(*pair) for pair in pairs]
    made = common_means(both, _hashes(stat.units), run.info or UNBOUNDED)
    return zip(((cells[first], cells[second]) for first, second in pairs), made, strict=True)


def _hashes(units: pa.DictionaryArray) -> Units:
    named = (xxhash.xxh64_intdigest(unit.encode(), _SEED) for unit in units.dictionary.to_pylist())
    hashed: Units = np.fromiter(named, np.uint64, len(units.dictionary))
    of_instances: Units = hashed[units.indices.to_numpy()]
    return of_instances
