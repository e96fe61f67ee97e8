"""What a person reads of a lake: boards of suites and releases, and the answers behind a number.

Reads through `lake.reader.Reader` only, so it needs neither Spark nor a JVM.
"""

from medhelm_spark.leaderboard.instances import (
    InstanceDetail,
    InstanceKey,
    InstancePage,
    InstanceScore,
    Order,
    instance_detail,
    instances_of,
)
from medhelm_spark.leaderboard.pairs import paired
from medhelm_spark.leaderboard.robustness import robustness_of
from medhelm_spark.leaderboard.runs import (
    BoardRun,
    board_of,
    load_board,
    load_runs,
    text_levels,
)
from medhelm_spark.leaderboard.sources import (
    BoardSource,
    Kind,
    choose,
    list_releases,
    list_suites,
)

__all__ = [
    "BoardRun",
    "BoardSource",
    "InstanceDetail",
    "InstanceKey",
    "InstancePage",
    "InstanceScore",
    "Kind",
    "Order",
    "board_of",
    "choose",
    "instance_detail",
    "instances_of",
    "list_releases",
    "list_suites",
    "load_board",
    "load_runs",
    "paired",
    "robustness_of",
    "text_levels",
]
