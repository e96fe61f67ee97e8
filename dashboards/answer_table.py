"""The table of answers of the page Instances: a row is chosen by a click, a column sorts by one.

Streamlit's own table draws on a canvas and chooses rows by check boxes. This small script makes a
table of HTML; it writes texts as text, and sends the index of a row or the name of a column.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from medhelm_spark.board import BoardRun, InstanceDetail, InstanceScore, Order, chosen_option
from medhelm_spark.domain.thinking import without_thinking

KEY = "answer-table"
MAX_WORDS = 120
"""So many characters of an input or an answer are in a cell."""
HIDDEN = "hidden"
_NUMBER, _SCORE = "#", "Score"

_SCRIPT = """\
const ARROWS = {ascending: ' ▲', descending: ' ▼', none: ' ↕'};

function element(name, text, attributes = {}) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function head(column, send) {
  const cell = element('th', undefined, {scope: 'col'});
  if (!column.sorted) { cell.textContent = column.name; return cell; }
  cell.setAttribute('aria-sort', column.sorted);
  const button = element('button', column.name + ARROWS[column.sorted], {type: 'button'});
  button.onclick = () => send('sorted', column.name);
  cell.append(button);
  return cell;
}

function line(row, index, send) {
  const tableRow = element('tr', undefined, row.chosen ? {class: 'ms-chosen'} : {});
  const [first, ...others] = row.cells;
  const cell = element('th', undefined, {scope: 'row'});
  const button = element('button', first, {type: 'button', 'aria-pressed': String(row.chosen)});
  cell.append(button);
  tableRow.append(cell, ...others.map((text) => element('td', text, {title: text, dir: 'auto'})));
  tableRow.onclick = () => send('picked', index);
  return tableRow;
}

export default function ({data, parentElement, setTriggerValue}) {
  const table = element('table', undefined, {class: 'ms-table ms-answers'});
  const top = element('tr');
  top.append(...data.columns.map((column) => head(column, setTriggerValue)));
  const thead = element('thead'), tbody = element('tbody');
  thead.append(top);
  tbody.append(...data.rows.map((row, index) => line(row, index, setTriggerValue)));
  table.append(thead, tbody);
  const region = element('div', undefined,
    {class: 'ms-scroll', tabindex: '0', role: 'region', 'aria-label': 'Answers'});
  region.append(table);
  parentElement.replaceChildren(region);
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """An answer as the table shows it; `detail` is None where its text is not shown."""

    score: InstanceScore
    detail: InstanceDetail | None
    flags: str
    groups: Mapping[str, str]


def show_table(
    run: BoardRun,
    rows: Sequence[AnswerRow],
    *,
    chosen: int,
    order: Order,
    on_pick: Callable[[int], None],
    on_sort: Callable[[Order], None],
) -> None:
    """The rows, one of them chosen; what is clicked is given to `on_pick` and `on_sort`."""
    names = sorted({name for row in rows for name in row.groups})
    has_flags = any(row.flags for row in rows)
    data = {
        "columns": [
            {"name": _NUMBER, "sorted": "ascending" if order is Order.SOURCE else "none"},
            {"name": "Id"},
            {"name": "First words"},
            {"name": "Answer"},
            *({"name": name} for name in names),
            *([{"name": "Flags"}] if has_flags else []),
            {"name": _SCORE, "sorted": _SORTED[order]},
        ],
        "rows": [
            {"cells": _cells(run, row, names, has_flags=has_flags), "chosen": index == chosen}
            for index, row in enumerate(rows)
        ],
    }

    def picked() -> None:
        on_pick(st.session_state[KEY].picked)

    def sorted_by() -> None:
        is_number = st.session_state[KEY].sorted == _NUMBER
        on_sort(Order.SOURCE if is_number else _NEXT[order])

    mount = st.components.v2.component(
        KEY.replace("-", "_"), html="<div></div>", js=_SCRIPT, isolate_styles=False
    )
    mount(key=KEY, data=data, on_picked_change=picked, on_sorted_change=sorted_by)


_SORTED = {Order.SOURCE: "none", Order.LOWEST: "ascending", Order.HIGHEST: "descending"}
_NEXT = {Order.SOURCE: Order.LOWEST, Order.LOWEST: Order.HIGHEST, Order.HIGHEST: Order.LOWEST}


def _cells(run: BoardRun, row: AnswerRow, names: Sequence[str], *, has_flags: bool) -> list[str]:
    more = [row.groups.get(name, "") for name in names] + [row.flags] * has_flags
    return [f"#{row.score.number}", *_texts(run, row), *more, score_text(row.score)]


def _texts(run: BoardRun, row: AnswerRow) -> tuple[str, str, str]:
    """The id that the data has, the first words of the input, and what was answered."""
    if row.detail is None:
        return (HIDDEN, HIDDEN, HIDDEN)
    instance = row.detail.instance
    if instance is None:
        return ("", "", _answer(run, row.detail))
    turns = [turn.content for turn in instance.messages[-1:]]
    words = first_words(instance.input or "".join(turns))
    return (instance.source_id, words, _answer(run, row.detail))


def _answer(run: BoardRun, detail: InstanceDetail) -> str:
    result = detail.result
    if result is None:
        return ""
    if result.failure:
        return f"no answer: {result.failure.value.replace('_', ' ')}"
    texts = [without_thinking(each).text for each in result.completions[:1]]
    return first_words(chosen_option(run.run_spec, detail) or "".join(texts))


def first_words(text: str) -> str:
    """The beginning of a text on one line.

    >>> first_words(" a  b c ")
    'a b c'
    """
    words = " ".join(text[: 4 * MAX_WORDS].split())
    return words if len(words) <= MAX_WORDS else f"{words[: MAX_WORDS - 1]}…"


def score_text(score: InstanceScore) -> str:
    """The value of an answer, or why it has none; a run with several trials says which one."""
    value = score.status.value.replace("_", " ") if score.value is None else f"{score.value:.3f}"
    trials = score.key.train_trial_index or score.key.trial_index
    trial = f" (trial {score.key.train_trial_index}.{score.key.trial_index})" if trials else ""
    return f"{value}{trial}"
