"""A board as one HTML file: every number is the board's, and it loads nothing from a host."""

import re
from dataclasses import replace

import pytest

from medhelm_spark.board.render.charts import dot_plots, heat_map, share_of_scale, svg
from medhelm_spark.board.render.report_file import NOT_APPROVED, PALETTES, ReportFacts, report_file
from medhelm_spark.config.registry import Registry
from tests.unit.statistics.cells import CELL, NOTE, OTHER, PAIR, board_of

FACTS = ReportFacts(
    title="Suite <first>", standing=NOT_APPROVED, is_approved=False, lines=[("Manifest", "f00")]
)
SCALED = [replace(cell, minimum=0.0, maximum=1.0) for cell in (CELL, OTHER)]
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def addresses(page: str) -> set[str]:
    return set(re.findall(r"(?:https?:)?//[\w.-]+[^\s\"'<>]*", page))


def test_the_file_has_the_boards_numbers_and_asks_no_host():
    page = report_file(board_of([*SCALED, NOTE], [PAIR]), FACTS)
    assert addresses(page) == NAMESPACES
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "Suite &lt;first&gt;" in page
    assert NOT_APPROVED in page
    for number in ("0.550 [0.38,\N{NO-BREAK SPACE}0.45] n=100", "3.250* [3.00,", "-0.111 [-0.206"):
        assert number in page
    # A chart for each of two categories, and the map, each for a light and for a dark screen.
    assert page.count("<svg") == 2 * 3
    assert page.count('<div class="light"><svg') == page.count('<div class="dark"><svg') == 3
    assert "clip-path" not in page, "charts of one page would share the names of their clips"
    for heading in ("Medical Research Assistance", "Clinical Note Generation", "All benchmarks"):
        assert f"<h2>{heading}</h2>" in page


def test_names_that_are_markup_are_text_in_tables_and_charts():
    name = "<img src=//evil.example/x>"
    page = report_file(board_of([replace(SCALED[0], model_deployment=name), SCALED[1]]), FACTS)
    assert "<img" not in page
    assert "&lt;img src=//evil.example/x&gt;" in page


def test_a_card_tells_more_of_its_benchmark(registry: Registry):
    card = registry.cards["pubmed_qa"]
    page = report_file(board_of(SCALED), FACTS, {"pubmed_qa": card})
    assert card.licence in page
    assert card.licence not in report_file(board_of(SCALED), FACTS)


def test_an_empty_board_is_a_file_too():
    page = report_file(board_of([]), FACTS)
    assert "<svg" not in page
    assert page.endswith("</html>\n")


def test_a_dot_for_every_mean_with_its_interval():
    unscored = replace(OTHER, model_deployment="z", mean=None)
    ((category, spec),) = dot_plots(board_of([*SCALED, unscored]))
    assert category == "Medical Research Assistance"
    values = spec["data"]["values"]
    assert [(row["model"], row["mean"], row["low"], row["high"]) for row in values] == [
        ("imported/always_yes", 0.55, 0.38, 0.45),
        ("local/smollm2", 0.412, 0.38, 0.45),
    ]
    assert svg(spec).startswith("<svg")


def test_a_chart_is_drawn_alike_each_time_and_shares_no_element_with_another():
    board = board_of(SCALED)
    light, dark = (heat_map(board, palette) for palette in PALETTES)
    first = svg(light)
    assert svg(light) == first, "whatever was drawn before in this process"
    ids = [set(re.findall(r' id="([^"]*)', drawn)) for drawn in (first, svg(dark))]
    assert all(ids)
    assert not ids[0] & ids[1]
    assert all(f"url(#{name})" in first for name in ids[0])


def x_scale(spec):
    return spec["spec"]["layer"][0]["encoding"]["x"]["scale"], spec["resolve"]["scale"]["x"]


def test_benchmarks_of_one_scale_are_drawn_on_one_axis():
    further = replace(SCALED[0], scenario_name="b", mean=0.9, ci_low=0.85, ci_high=0.97)
    ((_, one),) = dot_plots(board_of([*SCALED, further]))
    assert x_scale(one) == ({"zero": False, "domain": [0.38, 0.97], "nice": True}, "shared")
    likert = replace(further, minimum=1.0, maximum=5.0)
    ((_, several),) = dot_plots(board_of([*SCALED, likert]))
    assert x_scale(several) == ({"zero": False}, "independent")
    open_ended = [replace(cell, maximum=None) for cell in SCALED]
    ((_, alone),) = dot_plots(board_of(open_ended))
    assert x_scale(alone) == ({"zero": False}, "independent")


def test_a_chart_holds_no_more_benchmarks_than_asked_for():
    cells = [replace(SCALED[0], scenario_name=f"bench-{n}", display_name="") for n in range(1, 8)]
    plots = [spec for _, spec in dot_plots(board_of(cells), at_most=3)]
    titles = [[row["benchmark"].split()[0] for row in spec["data"]["values"]] for spec in plots]
    assert titles == [
        ["bench-1", "bench-2", "bench-3"],
        ["bench-4", "bench-5", "bench-6"],
        ["bench-7"],
    ]


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        ({}, 0.412),
        ({"lower_is_better": True}, 1 - 0.412),
        ({"minimum": -1.0}, (0.412 + 1) / 2),
        ({"maximum": None}, None),
        ({"lower_is_better": None}, None),
        ({"mean": None}, None),
        ({"is_below_floor": True}, None),
        ({"mean": 7.0}, 1.0),
        ({"mean": -7.0}, 0.0),
        ({"mean": 4.0, "minimum": 1.0, "maximum": 5.0}, 0.75),
        ({"minimum": None, "maximum": None}, None),
        ({"differs": "strict"}, None),
    ],
)
def test_the_map_shows_the_position_on_the_scale(changes, share):
    found = share_of_scale(replace(SCALED[0], **changes))
    assert found == (None if share is None else pytest.approx(share))


def test_no_map_without_a_scale():
    assert heat_map(board_of([CELL, OTHER])) is None
