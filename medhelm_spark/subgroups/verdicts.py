"""The outcome of a test of a group, in the words of every table."""

from enum import StrEnum

from medhelm_spark.statistics.student import LEVEL


class GroupVerdict(StrEnum):
    """What is shown of a group; in the order of a table."""

    WORSE = "worse"
    BETTER = "better"
    DIFFERENT = "different"
    NOT_SHOWN = "not shown"
    NOT_TESTED = "not tested"
    HIDDEN = "hidden"


def verdict(
    difference: float | None,
    adjusted_p: float | None,
    *,
    lower_is_better: bool | None,
    is_hidden: bool,
) -> GroupVerdict:
    """Shown where the adjusted p-value is below 5 %.

    >>> verdict(-0.2, 0.01, lower_is_better=False, is_hidden=False).value
    'worse'
    >>> verdict(-0.2, 0.2, lower_is_better=False, is_hidden=False).value
    'not shown'
    """
    if is_hidden:
        return GroupVerdict.HIDDEN
    if adjusted_p is None or difference is None:
        return GroupVerdict.NOT_TESTED
    if adjusted_p >= LEVEL:
        return GroupVerdict.NOT_SHOWN
    if lower_is_better is None:
        return GroupVerdict.DIFFERENT
    return GroupVerdict.BETTER if (difference < 0) == lower_is_better else GroupVerdict.WORSE
