"""Which instances a run asks, and which train rows its prompts show.

Where a run asks fewer instances than its scenario has, they are by default ordered by a keyed hash
and the first n are taken: the draw depends neither on the order of the source nor on its length,
runs in SQL on every executor, and a larger draw contains the smaller one, whose answers are reused.
(HELM's draw depends on order and length; `medhelm_indices` gives it on request.)
Train rows are drawn by HELM's label-balanced rule.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from medhelm_spark.domain.sampling import CHARACTERS, EXTRA, SPLIT, SUB_SPLIT, SamplingOrder
from medhelm_spark.domain.scenario import CORRECT_TAG

SAMPLE_KEY_SQL = "md5(concat(cast(seed as string), '|', instance_id))"
"""An instance's sort key in a draw by hash: 32 hexadecimal characters, compared as text."""

ORDER_KEY_SQL = f"""
CASE WHEN d.sampling_order = '{SamplingOrder.HASH}' THEN {SAMPLE_KEY_SQL}
     ELSE lpad(CAST(i.source_index AS STRING), 20, '0') END
"""
"""The sort key of instance `i` in draw `d`, as text."""

_VALUE_SQL = f"""
CASE c.key WHEN '{SPLIT}' THEN i.split
           WHEN '{SUB_SPLIT}' THEN i.sub_split
           ELSE try_element_at(i.extra_data, substr(c.key, {len(EXTRA) + 1})) END
"""

MEETS_FILTER_SQL = f"""
size(filter(map_entries(d.conditions), c -> NOT CASE
  WHEN c.key = '{CHARACTERS}' THEN length(i.input) >= coalesce(c.value.minimum, 0)
                               AND length(i.input) <= coalesce(c.value.maximum, length(i.input))
  ELSE coalesce(array_contains(c.value.values, {_VALUE_SQL}), false) END)) = 0
"""
"""Whether instance `i` meets every condition of draw `d`; an absent value meets none.

By `filter`: DuckDB, which draws for small runs, has no `forall`.
"""


def medhelm_indices(seed: int, size: int, count: int) -> list[int]:
    """The indices that MedHELM 0.8.0 takes of `size` instances for `count`.

    It seeds NumPy's legacy generator and calls `choice` without replacement, which takes the first
    `count` of a permutation; `size` up to `count` is taken whole, in order. NumPy keeps this
    generator's stream unchanged (NEP 19).
    """
    from numpy.random import RandomState

    if size <= count:
        return list(range(size))
    indices: list[int] = RandomState(seed).permutation(size)[:count].tolist()
    return indices


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainRow:
    """What a draw needs of a train row: none of its text.

    `label` is the index of its first correct reference among all in order; None without one.
    """

    instance_id: str
    source_index: int
    label: int | None


LABEL_SQL = f"get(filter(references, r -> array_contains(r.tags, '{CORRECT_TAG}')), 0).text"
"""The first correct reference of an instance; null without one."""


def select_train(
    pool: Sequence[TrainRow], k: int, trial_index: int, sample_train: bool = True
) -> tuple[TrainRow, ...]:
    """Draw up to `k` train rows, the same for every evaluation instance of the trial.

    Labels (the first correct reference) are taken from the most to the least frequent, ties
    shuffled, one random row each in turn until there are `k`; rows without a correct reference
    only fill what is left (HELM's in-context draw, seeded by the trial index). Without
    `sample_train` trial t takes rows k*t to k*(t+1) of the source order. The pool may come in any
    order, because it is put into source order first. A short pool gives fewer rows; HELM loops
    for ever where labelled rows run out and unlabelled ones are left.
    """
    rows = sorted(pool, key=lambda row: (row.source_index, row.instance_id))
    k = max(0, min(k, len(rows)))
    if not sample_train:
        return tuple(rows[k * trial_index : k * (trial_index + 1)])
    rng = random.Random(trial_index)
    by_label, unlabelled = _group_by_label(rows)
    chosen = _rotate(_ordered(by_label, rng), k, rng)
    chosen += rng.sample(unlabelled, min(k - len(chosen), len(unlabelled)))
    return tuple(chosen)


def _group_by_label(rows: Sequence[TrainRow]) -> tuple[dict[int, list[TrainRow]], list[TrainRow]]:
    by_label: dict[int, list[TrainRow]] = {}
    unlabelled: list[TrainRow] = []
    for row in rows:
        group = unlabelled if row.label is None else by_label.setdefault(row.label, [])
        group.append(row)
    return by_label, unlabelled


def _ordered(by_label: dict[int, list[TrainRow]], rng: random.Random) -> list[list[TrainRow]]:
    """The groups by falling size; labels of one size are sorted, then shuffled, as in HELM."""
    by_size: dict[int, list[int]] = {}
    for label in sorted(by_label):
        by_size.setdefault(len(by_label[label]), []).append(label)
    groups: list[list[TrainRow]] = []
    for size in sorted(by_size, reverse=True):
        rng.shuffle(by_size[size])
        groups.extend(by_label[label] for label in by_size[size])
    return groups


def _rotate(groups: list[list[TrainRow]], k: int, rng: random.Random) -> list[TrainRow]:
    chosen: list[TrainRow] = []
    while groups and len(chosen) < k:
        for group in groups[: k - len(chosen)]:
            chosen.append(group.pop(rng.randrange(len(group))))
        groups = [group for group in groups if group]
    return chosen
