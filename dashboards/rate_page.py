"""The page of a rater's personal link: one instance, its answers without names, and their ratings.

It is no page of the picker: a valid token in the address shows this page alone. The browser
receives a letter in place of an answer's key; the key of a widget contains indices alone.
"""

import argparse
import re
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import streamlit as st
from loaded import REFRESH_SECONDS, reader_of
from page_markup import note, passage, section, table, text
from rate_keys import SCALE, listen_for_digits

from medhelm_spark.board import Viewer
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import LakeError, MedhelmSparkError, SetupError
from medhelm_spark.features import part

PARAMETER = "rate"
REFUSED = "This link opens nothing: ask whoever sent it for a new one."
UNSAVED = "Your last entry was not saved: enter it again. What was saved before is safe."
MOST_VALUES = 11
"""A scale of so many whole numbers is shown as buttons, a longer one as a field."""
MAX_COMMENT = 2000
MAX_COLUMNS = 3
"""So many criteria of an answer are side by side; on a telephone they are below each other."""
RECORDED = "rating-recorded-"
FIELD, COMMENT = "field", "comment"
KEY = re.compile(rf"({SCALE}|{FIELD}|{COMMENT})-(\d+(?:-\d+)+)")
"""The key of an input: its kind and its indices, which are item, answer and, but of a comment,
criterion."""
QUEUE, ITEM, FAILED = "rate-queue", "rate-item", "rate-failed"
"""The session's keys on the server: the queue, the index in it, that saving failed."""
OF_A_QUEUE = (RECORDED, SCALE, FIELD, COMMENT)
"""How the keys begin whose indices are those of one queue."""


@st.cache_data(ttl=REFRESH_SECONDS, show_spinner=False)
def level_now(site: Path) -> AccessLevel:
    """The strictest level that the policy lets a link open.

    Raises:
        SetupError: this installation is without ratings.
    """
    module = part("ratings", "queue")
    if module is None:
        raise SetupError("this installation is without ratings.")
    level: AccessLevel = module.level_of_links(site)
    return level


def show(args: argparse.Namespace, viewer: Viewer) -> None:
    """The page, or one sentence where the token opens nothing."""
    try:
        queue = _queue(args, viewer)
        item = _item(queue) if queue else 0
        content = queue.texts(item) if queue else None
        if queue and content:
            _record(args.output_path, queue, item, viewer)
            _store_entered(queue)
    except (MedhelmSparkError, ValueError):  # whatever it is, a rater sees no more
        queue = content = None
    if queue is None or content is None:
        st.html(note(REFUSED, "error"))
        return
    listen_for_digits(item)
    _head(queue, item)
    left, right = st.columns([1, 1.15], gap="large")
    with left, st.container(key="ms-rate-question"):
        turns = (
            (f'<p class="ms-role">{text(turn.role)}</p>' if turn.role else "")
            + passage(turn.content)
            for turn in content.question
        )
        st.html(section("Question", *turns))
        st.html(_scales(queue))
    with right:
        for answer, answer_text in enumerate(content.answers):
            _rate(queue, item, answer, answer_text)
        _turn(queue, item)


def _record(location: str, queue: Any, item: int, viewer: Viewer) -> None:
    """Put on record, once for a session, that the answers to an instance are shown.

    Raises:
        PolicyError: it cannot be recorded, and so they may not be shown.
    """
    viewings, opened = part("viewings", "record"), f"{RECORDED}{item}"
    if viewings is None or opened in st.session_state:
        return
    levels, units = queue.opened(item)
    record = viewings.Opening(location=location, viewer=viewer, suite=queue.suite)
    record.of_rating(queue.rater, queue.scenario, units, levels)
    st.session_state[opened] = True


def _queue(args: argparse.Namespace, viewer: Viewer) -> Any:
    """The queue that the token opens; the session keeps it, and the token is checked each time.

    Where people sign in, it opens only to those who may rate, with text that they may see.
    """
    module = part("ratings", "queue")
    if module is None or (viewer.name and not viewer.may_write):
        return None
    token, reader = st.query_params.get(PARAMETER, ""), reader_of(args.output_path)
    level = level_now(args.local_path)
    if viewer.name and viewer.text:
        level = min(level, viewer.text, key=lambda each: each.strictness)
    known = st.session_state.get(QUEUE)
    if known and known[:2] == (token, level):
        return known[2] if module.is_open(reader, token) else None
    queue = module.queue_of(reader, token, level)
    st.session_state[QUEUE] = (token, level, queue)
    for seen in [name for name in st.session_state if str(name).startswith(OF_A_QUEUE)]:
        del st.session_state[seen]
    st.session_state.pop(ITEM, None)
    return queue


def _item(queue: Any) -> int:
    """The instance that is shown: on a visit the first that is not rated."""
    item: int = st.session_state.setdefault(ITEM, queue.first_unrated or 0)
    return item


def _head(queue: Any, item: int) -> None:
    """Progress, and how to move."""
    done, size = queue.num_rated, queue.size
    left, right = st.columns([2.2, 1], vertical_alignment="bottom")
    where = f"{text(queue.scenario)}: item {item + 1} of {size}, <b>{done} of {size} rated</b>"
    left.html(
        f'<header class="ms-head"><h1>Rate answers</h1><p class="ms-source">{where}</p></header>'
    )
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        _button("Previous", "top-previous", item - 1, size, shortcut="p")
        _button("Next", "top-next", item + 1, size, shortcut="n")
    st.progress(done / size)
    if st.session_state.pop(FAILED, False):
        st.html(note(UNSAVED, "error"))
    if done == size:
        until = f"{queue.ends_at:%d %B %Y, %H:%M} UTC"
        st.html(note(f"All items are rated. You can change ratings until {until}."))


def _button(label: str, key: str, item: int, size: int, shortcut: str | None = None) -> None:
    is_there = 0 <= item < size
    st.button(label, key=key, disabled=not is_there, shortcut=shortcut, on_click=_go, args=(item,))


def _go(item: int) -> None:
    st.session_state[ITEM] = item


def _scales(queue: Any) -> str:
    """What each criterion asks, and what its values mean."""
    rows = []
    for each in queue.criteria:
        numbered = [f"{number} {line}" for number, line in enumerate(each.anchors, start=1)]
        lines = numbered if each.classes else each.anchors
        anchors = "".join(f"<li>{text(line)}</li>" for line in lines)
        first, last = ("best", "worst") if each.lower_is_better else ("worst", "best")
        scale = f"{each.minimum:g} ({first}) to {each.maximum:g} ({last})"
        ends = text(", ".join(each.classes) or scale)
        lower = " Lower is better." if each.lower_is_better else ""
        question = f"{each.question}{lower}".strip()
        asks = f"<p>{text(question)}</p>" if question else ""
        anchors = anchors or (f"<li>{ends}</li>" if asks else "")
        rows.append((f"<b>{text(each.name)}</b>", f"{asks}<ul>{anchors}</ul>" if anchors else ends))
    how = (
        "Digits choose, Enter moves to the next scale, Tab also to comments, n and p turn to the "
        "next and the previous item. Each choice is saved at once."
    )
    body = f'<p class="ms-role">{how}</p>{table(("Criterion", "Scale"), rows, "ms-scales")}'
    return f'<details class="ms-block" open><summary>How to rate</summary>{body}</details>'


def _rate(queue: Any, item: int, answer: int, answer_text: str) -> None:
    """One answer, an input for each criterion, and the comment."""
    letter = ascii_uppercase[answer] if answer < len(ascii_uppercase) else str(answer + 1)
    values = queue.values(item, answer)
    st.html(section(f"Answer {letter}", passage(answer_text, "answer")))
    per_row = min(len(queue.criteria), MAX_COLUMNS)
    columns = [column for _ in queue.criteria[::per_row] for column in st.columns(per_row)]
    for index, (criterion, column) in enumerate(zip(queue.criteria, columns, strict=False)):
        with column:
            _input(queue, item, answer, index, values.get(criterion.name))
    key = f"{COMMENT}-{item}-{answer}"
    st.session_state.setdefault(key, queue.comment(item, answer))
    st.text_area(
        f"Comment on answer {letter}",
        key=key,
        max_chars=MAX_COMMENT,
        height=68,
        disabled=not values,
        placeholder="Optional" if values else "Optional, once the answer has a rating",
    )


def _input(queue: Any, item: int, answer: int, index: int, value: float | None) -> None:
    """Buttons for a short scale, else a field; what is stored of it is chosen."""
    criterion = queue.criteria[index]
    values = _values(criterion)
    key = f"{SCALE if values else FIELD}-{item}-{answer}-{index}"
    st.session_state.setdefault(key, _as_shown(criterion, value))
    if values:
        st.segmented_control(
            criterion.name,
            values,
            key=key,
            required=True,
            width="stretch",
            format_func=partial(_label, criterion),
        )
        return
    low, high, step = (
        (int(criterion.minimum), int(criterion.maximum), 1)
        if criterion.whole
        else (criterion.minimum, criterion.maximum, None)
    )
    st.number_input(
        criterion.name,
        low,
        high,
        step=step,
        key=key,
        placeholder=f"{low} to {high}",
    )


def _label(criterion: Any, value: int) -> str:
    """A value on its button; a class behind the digit that chooses it."""
    return f"{value + 1} {criterion.classes[value]}" if criterion.classes else str(value)


def _values(criterion: Any) -> list[int]:
    """The indices of classes, or the values of a short scale between whole numbers, else none."""
    if criterion.classes:
        return list(range(len(criterion.classes)))
    low, high = criterion.minimum, criterion.maximum
    is_short = low == int(low) and high == int(high) and high - low < MOST_VALUES
    return list(range(int(low), int(high) + 1)) if is_short else []


def _as_shown(criterion: Any, value: float | None) -> float | int | None:
    """A stored value as the input has it; None of one between the buttons."""
    if value is None:
        return None
    if not _values(criterion) and not criterion.whole:
        return value
    return int(value) if value == int(value) else None


def _store_entered(queue: Any) -> None:
    """Store what the inputs have and the queue has not, those of an item that was left too.

    No callback of an input stores: Streamlit leaves out the second of two callbacks when a key is
    pressed while the first is called. A value that a stopped run has not stored, the next run does:
    the values of inputs stay until a run has ended (tests/e2e/test_rating_hour.py).
    """
    for key in sorted(map(str, st.session_state)):
        found = KEY.fullmatch(key)
        if found is None:
            continue
        kind, indices = found[1], [int(each) for each in found[2].split("-")]
        try:
            (_save_comment if kind == COMMENT else _save)(queue, key, *indices)
        except LakeError:
            st.session_state[FAILED] = True
            if kind != COMMENT:  # the input then has what is stored; a comment is tried again
                st.session_state.pop(key)


def _save(queue: Any, key: str, item: int, answer: int, index: int) -> None:
    criterion, value = queue.criteria[index], st.session_state[key]
    stored = _as_shown(criterion, queue.values(item, answer).get(criterion.name))
    if value is not None and value != stored:
        queue.rate(item, answer, criterion.name, float(value))


def _save_comment(queue: Any, key: str, item: int, answer: int) -> None:
    comment = st.session_state[key].strip()
    if comment != queue.comment(item, answer):
        queue.write_comment(item, answer, comment)


def _turn(queue: Any, item: int) -> None:
    """The way on below the answers."""
    with st.container(horizontal=True):
        _button("Previous item", "previous", item - 1, queue.size)
        _button("Next item", "next", item + 1, queue.size)
