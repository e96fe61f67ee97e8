"""Critical failures of two models on the same instances."""

import math

import numpy as np
import pyarrow.compute as pc

from medhelm_spark.board import BoardRun, run_metric_of
from medhelm_spark.board.class_answers import (
    answers_of,
    class_stats_of,
    classes_of,
    has_positive,
    in_common,
)
from medhelm_spark.board.measured import InstanceStat, measured
from medhelm_spark.board.scores import own_scores, scores_of
from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.domain.stats import SHARE
from medhelm_spark.lake.reader import Reader
from medhelm_spark.metrics.classification import normal_label
from medhelm_spark.statistics.class_differences import missed_difference
from medhelm_spark.statistics.paired import PairedDifference, paired_difference
from medhelm_spark.statistics.pairs import BoardPair

NOTHING = PairedDifference(n=0, num_dropped=0)


def why_not(critical: CriticalFailure, run: BoardRun) -> str:
    """Why a run has no critical failures of this kind; empty where it can have them."""
    spec = run.run_spec
    if critical.missed_positives:
        return "" if has_positive(spec) else "it declares no positive class"
    if critical.missed_class is not None:
        known = classes_of(spec)
        if normal_label(critical.missed_class) in map(normal_label, known):
            return ""
        return f"its classes are {', '.join(known)}" if known else "it declares no classes"
    if run.info is None or run.info.lower_is_better is not False:
        return f"a higher {spec.main_metric} is not known to be better"
    return f"{spec.main_metric} is of the whole run" if run_metric_of(spec) else ""


def critical_difference(
    reader: Reader, critical: CriticalFailure, pair: BoardPair, first: BoardRun, second: BoardRun
) -> PairedDifference:
    """The first model's share of critical failures less the second's, on the same instances.

    Args:
        reader: of the scores of both runs.
        critical: what counts.
        pair: the two runs.
        first: the run of the pair that comes first.
        second: the other one.
    """
    split = first.cell.split if first.cell else first.run_spec.main_split
    if critical.score_at_most is not None:
        return _of_scores(reader, critical.score_at_most, pair, first, split)
    names = {*class_stats_of(first.run_spec), *class_stats_of(second.run_spec)}
    scores = scores_of(reader, pair.run_spec_ids, names, split)
    answers = [
        answers_of(
            run.run_spec,
            scores.filter(pc.equal(scores["run_spec_id"], run.run_spec.run_spec_id)),
            critical.missed_class,
        )
        for run in (first, second)
    ]
    if answers[0] is None or answers[1] is None:
        return NOTHING
    ours, theirs = in_common(answers[0], answers[1])
    return missed_difference(ours, theirs)


def _of_scores(
    reader: Reader, most: float, pair: BoardPair, run: BoardRun, split: str
) -> PairedDifference:
    units = pair.run_spec_ids
    scores = own_scores(scores_of(reader, units, [pair.main_metric], split), units, split)
    stat = measured(run, pair.main_metric, scores, units)
    if not isinstance(stat, InstanceStat):
        return NOTHING
    failed = np.where(np.isnan(stat.values), math.nan, stat.values <= most)
    return paired_difference(failed[0], failed[1], SHARE, stat.clusters)
