"""What stats mean, a sentence each, as the metrics that give them declare it."""

from collections.abc import Mapping, Sequence

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.errors import MedhelmSparkError
from medhelm_spark.metrics import info


def meaning_of(stat_name: str, specs: Sequence[MetricSpec] = ()) -> str:
    """What a stat is; empty of one that is not installed here."""
    try:
        return info(stat_name, specs).description
    except MedhelmSparkError:
        return ""


def meanings_of(titles: Mapping[str, str], specs: Sequence[MetricSpec] = ()) -> str:
    """What stats are, in one paragraph.

    Args:
        titles: the stats' names with those that a table gives them.
        specs: the metrics of the runs.
    """
    meanings = ((title, meaning_of(name, specs)) for name, title in titles.items())
    return " ".join(
        f"{title}: {meaning[0].lower()}{meaning[1:]}" for title, meaning in meanings if meaning
    )
