"""HTML tables for notebooks: plain, and every text escaped."""

from medhelm_spark.render.table import html_table


def test_html_table_with_title_and_notes() -> None:
    text = html_table(["Model", "<n>"], [["a & b", "<script>"]], ["n < 3"], title="T&T")
    assert text == (
        "<table>\n"
        "<caption>T&amp;T</caption>\n"
        "<thead><tr><th>Model</th><th>&lt;n&gt;</th></tr></thead>\n"
        "<tbody>\n"
        "<tr><td>a &amp; b</td><td>&lt;script&gt;</td></tr>\n"
        "</tbody>\n"
        "</table>\n"
        "<p>n &lt; 3</p>"
    )


def test_html_table_without_rows() -> None:
    assert "<tbody>\n</tbody>" in html_table(["Model"], [])
