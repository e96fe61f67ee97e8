"""The instances on which two runs have other values: where one model lost what the other had."""

from dataclasses import dataclass

import numpy as np

from medhelm_spark.board.runs import BoardRun
from medhelm_spark.board.scores import scores_of, side_by_side
from medhelm_spark.lake.reader import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An instance with the main metric's value of either run, of several trials their mean."""

    instance_id: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.first - self.second


def disagreements(reader: Reader, first: BoardRun, second: BoardRun) -> list[Disagreement]:
    """The instances on which two runs of a scenario differ, where the first is worst before.

    None where the main metric is of the whole run: its instances have no value.
    """
    runs = (first, second)
    units = [run.run_spec.run_spec_id for run in runs]
    metric = first.run_spec.main_metric
    held = side_by_side(scores_of(reader, units, first.run_spec.main_split), units, [metric])
    ours, theirs = held.values[:, :, 0]
    differ = np.flatnonzero(~np.isnan(ours) & ~np.isnan(theirs) & (ours != theirs))
    rows = [
        Disagreement(
            instance_id=held.instances[place], first=float(ours[place]), second=float(theirs[place])
        )
        for place in differ
    ]
    sign = -1 if first.info and first.info.lower_is_better else 1
    return sorted(rows, key=lambda row: (sign * row.difference, row.instance_id))
