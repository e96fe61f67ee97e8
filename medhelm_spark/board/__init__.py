"""Boards of suites and releases, and the answers behind a number, read from a lake.

Reads through `lake.reader.Reader` only, so it needs neither Spark nor a JVM.
"""

from medhelm_spark.board.answer_list import (
    RIGHT,
    AnswerFilter,
    AnswerList,
    answer_list,
    run_metric_of,
)
from medhelm_spark.board.boards import board_of, load_board, lost_note, robustness_of
from medhelm_spark.board.cells import decoding_is_known
from medhelm_spark.board.chosen import chosen_option
from medhelm_spark.board.disagreements import Disagreement, disagreements
from medhelm_spark.board.first_page import first_page
from medhelm_spark.board.instances import (
    InstanceDetail,
    InstanceKey,
    InstancePage,
    InstanceScore,
    Order,
    instance_detail,
    instance_details,
    instances_of,
    own_columns,
    own_columns_of,
    visible_details,
)
from medhelm_spark.board.pairs import has_few_models, paired, with_all
from medhelm_spark.board.runs import BoardRun, load_runs
from medhelm_spark.board.skipped import skipped_in
from medhelm_spark.board.sources import (
    BoardSource,
    Kind,
    as_of,
    choose,
    list_releases,
    list_suites,
    manifest_of,
    preferred,
    reader_of,
    text_levels,
)
from medhelm_spark.board.stat_rows import StatRow, stat_rows
from medhelm_spark.board.viewers import Viewer, is_loopback, viewer_of
from medhelm_spark.metrics.general import TECHNICAL

__all__ = [
    "RIGHT",
    "TECHNICAL",
    "AnswerFilter",
    "AnswerList",
    "BoardRun",
    "BoardSource",
    "Disagreement",
    "InstanceDetail",
    "InstanceKey",
    "InstancePage",
    "InstanceScore",
    "Kind",
    "Order",
    "StatRow",
    "Viewer",
    "answer_list",
    "as_of",
    "board_of",
    "choose",
    "chosen_option",
    "decoding_is_known",
    "disagreements",
    "first_page",
    "has_few_models",
    "instance_detail",
    "instance_details",
    "instances_of",
    "is_loopback",
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
    "robustness_of",
    "run_metric_of",
    "skipped_in",
    "stat_rows",
    "text_levels",
    "viewer_of",
    "visible_details",
    "with_all",
]
