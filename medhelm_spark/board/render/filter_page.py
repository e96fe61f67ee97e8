"""docs/filters.md, written from the filters.

`python -m medhelm_spark.board.render.filter_page > docs/filters.md`, which is part of `make docs`.
"""

import sys

from medhelm_spark.board.filters import FILTERS, UNKNOWN, Filter, FilterKind

HEAD = f"""\
# Governance filters

Written from the list of filters by `make docs`. Every page of the dashboard has them, behind
*Filters*. A filter in use is in the address, at the top of the page and in what is downloaded
from it; ranks, tiers and win rates are computed again over what passes.

- A run whose value the lake does not have is `{UNKNOWN}`. It passes no filter that is in use.
- In the address, `access=public&access=gated` chooses two values and `answers=100` gives a number.
- Where nobody names a suite or release, the newest approved release is shown, otherwise the suite
  that was planned last, marked as working results.
- Values that a card or a jury's file declares are stored when a run is planned: after an edit, run
  the same command again. Nothing is asked or scored again for it.

| Filter | In the address | Passes | Column | Who declares it, and where |
|---|---|---|---|---|
"""
_FOOT = """
A filter marked * is offered only where a run of the suite or release has a value.
"""


def page() -> str:
    """The page as Markdown."""
    return HEAD + "".join(map(_line, FILTERS.values())) + _FOOT


def _line(each: Filter) -> str:
    mark = " *" if each.if_declared else ""
    how = "the chosen values" if each.kind is FilterKind.CHOICE else f"{each.kind.value} the number"
    columns = ", ".join(f"`{name}`" for name in each.column.split(", "))
    return f"| {each.label}{mark} | `{each.key}` | {how} | {columns} | {each.declared} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
