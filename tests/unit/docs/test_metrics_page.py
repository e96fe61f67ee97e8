"""The page of metrics names stats and args that the code has."""

import re
from pathlib import Path

from medhelm_spark.metrics import METRICS, RUN_METRICS

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
ROWS = re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_has_rows_of_both_kinds():
    names = {name for name, _ in ROWS}
    assert set(RUN_METRICS) <= names
    assert names & set(METRICS)


def test_a_metric_gives_the_stats_that_the_page_says():
    on_page = {name: re.findall(r"`([^`]+)`", stats) for name, stats in ROWS}
    metrics = {name: RUN_METRICS.get(name) or METRICS[name] for name in on_page}
    assert on_page == {
        name: [stat.name for stat in metric.emits] for name, metric in metrics.items()
    }
