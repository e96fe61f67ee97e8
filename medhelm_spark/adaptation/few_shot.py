"""Which train rows a trial shows: HELM's label-balanced draw, without its endless loop."""

import random
from collections.abc import Sequence

from medhelm_spark.domain.scenario import Instance


def select_train(
    pool: Sequence[Instance], k: int, trial_index: int, sample_train: bool = True
) -> tuple[Instance, ...]:
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


def _group_by_label(rows: Sequence[Instance]) -> tuple[dict[str, list[Instance]], list[Instance]]:
    by_label: dict[str, list[Instance]] = {}
    unlabelled: list[Instance] = []
    for row in rows:
        label = next((ref.text for ref in row.references if ref.is_correct), None)
        group = unlabelled if label is None else by_label.setdefault(label, [])
        group.append(row)
    return by_label, unlabelled


def _ordered(by_label: dict[str, list[Instance]], rng: random.Random) -> list[list[Instance]]:
    """The groups by falling size; labels of one size are sorted, then shuffled, as in HELM."""
    by_size: dict[int, list[str]] = {}
    for label in sorted(by_label):
        by_size.setdefault(len(by_label[label]), []).append(label)
    groups: list[list[Instance]] = []
    for size in sorted(by_size, reverse=True):
        rng.shuffle(by_size[size])
        groups.extend(by_label[label] for label in by_size[size])
    return groups


def _rotate(groups: list[list[Instance]], k: int, rng: random.Random) -> list[Instance]:
    chosen: list[Instance] = []
    while groups and len(chosen) < k:
        for group in groups[: k - len(chosen)]:
            chosen.append(group.pop(rng.randrange(len(group))))
        groups = [group for group in groups if group]
    return chosen
