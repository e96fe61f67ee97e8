"""The corrected differences of two models whose judged answers people rated (`features`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.board import BoardRun
from medhelm_spark.board.scores import scores_of, side_by_side
from medhelm_spark.lake.reader import Reader
from medhelm_spark.ratings.cells import Answer, rated_answers
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.statistics.prediction_powered import corrected_difference


def with_pairs(
    reader: Reader, runs: Iterable[BoardRun], pairs: Sequence[BoardPair]
) -> list[BoardPair]:
    """The pairs, with corrected differences where people rated both models' answers.

    An instance counts as rated where both of its answers are. Pairs of a stat that no jury gives
    have none.
    """
    by_id = {run.run_spec.run_spec_id: run for run in runs}
    named = {unit for pair in pairs for unit in pair.run_spec_ids}
    people = rated_answers(reader, [run for unit, run in by_id.items() if unit in named])
    return [
        _corrected(reader, by_id[pair.run_spec_ids[0]], pair, people)
        if all(unit in people for unit in pair.run_spec_ids)
        else pair
        for pair in pairs
    ]


def _corrected(
    reader: Reader,
    run: BoardRun,
    pair: BoardPair,
    people: Mapping[str, Mapping[Answer, float]],
) -> BoardPair:
    scale, spec = run.info, run.run_spec
    if scale is None or pair.main_metric != spec.main_metric:
        return pair
    units = list(pair.run_spec_ids)
    scores = scores_of(reader, units, [pair.main_metric], spec.main_split)
    if not len(scores):
        return pair
    paired = side_by_side(scores, units, [pair.main_metric], by_trial=True)
    first, second = paired.values[:, :, 0]
    ours, theirs = (_ratings(paired.instances, people[unit]) for unit in units)
    is_judged = ~np.isnan(first) & ~np.isnan(second)
    is_rated = is_judged & ~np.isnan(ours) & ~np.isnan(theirs)
    is_other = is_judged & ~is_rated
    found = corrected_difference(
        (ours[is_rated], theirs[is_rated]),
        (first[is_rated], second[is_rated]),
        (first[is_other], second[is_other]),
        (scale.minimum, scale.maximum),
        clusters=(paired.labels[is_rated], paired.labels[is_other]),
    )
    if found is None:
        return pair
    return replace(
        pair,
        corrected_difference=found.value,
        corrected_low=found.low,
        corrected_high=found.high,
        num_rated=found.num_rated,
    )


def _ratings(ids: Iterable[str], by_answer: Mapping[Answer, float]) -> NDArray[np.float64]:
    """The mean rating of each answer, NaN of one that nobody rated; ids are `ID/TRAIN/TRIAL`."""
    parts = (text.rsplit("/", 2) for text in ids)
    return np.array([by_answer.get((name, int(trial)), np.nan) for name, _, trial in parts])
