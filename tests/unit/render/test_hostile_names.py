"""Names from files and servers are shown in reports and exports, and do nothing there."""

import csv
import io
import json

import pytest

from medhelm_spark.render.report import FORMATS, Report, formatted
from medhelm_spark.render.table import TextTable, markdown_text

FORMULAS = ["=1+1", "+1+cmd", "-2+3|cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "-x"]
MARKUP = {
    "![x](https://evil.example/p.png)": "![x\\](https\\://evil.example/p.png)",
    "[click](https://evil.example)": "[click\\](https\\://evil.example)",
    "<img src=https://evil.example/p>": "\\<img src=https\\://evil.example/p>",
    "<https://evil.example>": "\\<https\\://evil.example>",
    "see www.evil.example": "see www\\.evil.example",
    "me@evil.example": "me\\@evil.example",
    "a|b\n|c|": "a\\|b \\|c\\|",
    "[x]: https://evil.example": "[x\\]: https\\://evil.example",
    "`code` *bold* _it_ ~~no~~": "\\`code\\` \\*bold\\* \\_it\\_ \\~\\~no\\~\\~",
    "&lt;b&gt; &#60;": "\\&lt;b\\&gt; \\&#60;",
    "# title": "\\# title",
    "\\[x](y)": "\\\\[x\\](y)",
}


def report(name: str, value: object = 0.5) -> Report:
    record = {"model": name, "value": value, "notes": ["=1"]}
    return Report(
        tables=[TextTable(header=["Model", "Value"], rows=[[name, str(value)]], title=name)],
        content=record,
        fields=list(record),
        records=[record],
    )


@pytest.mark.attack("inputs", "a name that a spreadsheet computes when the exported csv is opened")
@pytest.mark.parametrize("name", FORMULAS)
def test_a_text_cell_of_csv_is_no_formula(name: str) -> None:
    (row,) = csv.DictReader(io.StringIO(formatted(report(name), "csv")))
    assert row["model"] == f"'{name}".replace("\r", "\n")
    assert row["notes"] == '["=1"]'
    assert json.loads(formatted(report(name), "json"))["model"] == name


@pytest.mark.attack("inputs", "a name that a spreadsheet computes when the exported csv is opened")
def test_a_column_of_the_data_is_no_formula() -> None:
    rows = [{"=HYPERLINK(A1)": 1}]
    made = Report(tables=[], content={}, fields=list(rows[0]), records=rows)
    assert formatted(made, "csv").splitlines() == ["'=HYPERLINK(A1)", "1"]


@pytest.mark.parametrize("value", [-0.5, "-0.5", "+3", 1e-9, "-1e-9", -7])
def test_numbers_stay_numbers(value: object) -> None:
    (row,) = csv.DictReader(io.StringIO(formatted(report("gpt", value), "csv")))
    assert row["value"] == str(value)


@pytest.mark.attack("inputs", "a name with an image, a link, HTML or a cell, in Markdown and HTML")
@pytest.mark.parametrize("name", MARKUP)
def test_markup_in_a_name_is_shown_as_it_is(name: str) -> None:
    assert markdown_text(name) == MARKUP[name]
    assert MARKUP[name] in formatted(report(name), "md")
    page = formatted(report(name), "html")
    tags = {part.partition(">")[0] for part in page.split("<")[1:]}
    own = {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert {tag.strip("/") for tag in tags} <= own


def test_intervals_and_names_of_metrics_stay_as_they_are() -> None:
    for text in ("0.412 [0.38, 0.45] n=990/1000", "exact_match@medhelm-0.8 (x)", "<0.001", "-"):
        assert markdown_text(text).replace("\\@", "@") == text
    assert set(FORMATS) == {"table", "json", "csv", "md", "html"}
