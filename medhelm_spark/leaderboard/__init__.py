"""Boards of suites and releases, and the answers behind a number, read from a lake.

Reads through `lake.reader.Reader` only, so it needs neither Spark nor a JVM.
"""

from medhelm_spark.leaderboard.boards import board_of, load_board, lost_note, robustness_of
from medhelm_spark.leaderboard.disagreements import Disagreement, disagreements
from medhelm_spark.leaderboard.instances import (
    RIGHT,
    InstanceDetail,
    InstanceKey,
    InstancePage,
    InstanceScore,
    Only,
    Order,
    instance_detail,
    instance_details,
    instances_of,
    own_columns,
    own_columns_of,
    run_metric_of,
)
from medhelm_spark.leaderboard.left_out import left_out_of
from medhelm_spark.leaderboard.pairs import paired, with_all
from medhelm_spark.leaderboard.runs import BoardRun, load_runs
from medhelm_spark.leaderboard.sources import (
    BoardSource,
    Kind,
    choose,
    list_releases,
    list_suites,
    manifest_of,
    preferred,
    reader_of,
    release_of,
    text_levels,
)
from medhelm_spark.leaderboard.stat_rows import StatRow, stat_rows
from medhelm_spark.leaderboard.tracked import tracked_of
from medhelm_spark.leaderboard.viewers import Viewer, is_loopback, viewer_of

__all__ = [
    "RIGHT",
    "BoardRun",
    "BoardSource",
    "Disagreement",
    "InstanceDetail",
    "InstanceKey",
    "InstancePage",
    "InstanceScore",
    "Kind",
    "Only",
    "Order",
    "StatRow",
    "Viewer",
    "board_of",
    "choose",
    "disagreements",
    "instance_detail",
    "instance_details",
    "instances_of",
    "is_loopback",
    "left_out_of",
    "list_releases",
    "list_suites",
    "load_board",
    "load_runs",
    "lost_note",
    "manifest_of",
    "own_columns",
    "own_columns_of",
    "paired",
    "preferred",
    "reader_of",
    "release_of",
    "robustness_of",
    "run_metric_of",
    "stat_rows",
    "text_levels",
    "tracked_of",
    "viewer_of",
    "with_all",
]
