"""HELM's splits of a scenario's instances."""

from enum import StrEnum


class Split(StrEnum):
    """HELM's splits: `train` feeds few-shot examples, `valid` and `test` are evaluated."""

    TRAIN = "train"
    VALID = "valid"
    TEST = "test"
