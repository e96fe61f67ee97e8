"""Events as text: order, what comes too late, what is absent, lengths, and records drawn."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.history import Beyond, History
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios import read_events
from medhelm_spark.scenarios.histories import check_history, drawn, most_records
from medhelm_spark.scenarios.history_lines import UNITS, ending
from medhelm_spark.scenarios.records import BadReason, as_text
from tests.unit.scenarios.histories import event, record, texts, write_parquet, write_rows

T = datetime.fromisoformat("2020-03-04 10:00")


def only(events: list[dict[str, Any]], until: Any = T, **changes: Any) -> str:
    (found,) = texts(events, [record(until)], **changes)
    assert found.error is None
    return str(found.fields["text"])


def reasons(found: list[Any]) -> list[tuple[str, int, str | None]]:
    return [(one.source_file, one.row, one.error) for one in found]


def test_events_stand_in_the_order_of_time_then_of_the_file() -> None:
    events = [event("late", T), event("b", "2019-01-01 00:00:00"), event("a", "2019-01-01")]
    events += [
        event("c", datetime.fromisoformat("2019-01-01 00:00")),
        event("first", date(2018, 1, 1)),
    ]
    assert only(events) == "- first\n- b\n- c\n- a\n- late"


def test_nothing_after_a_records_moment_gets_into_its_text() -> None:
    second = timedelta(microseconds=1)
    events = [event("at", T), event("after", T + second), event("before", T - second)]
    assert only(events) == "- before\n- at"
    found = texts(events, [record(T + second), record(T - second), record(T - second * 2)])
    assert [one.fields.get("text") for one in found] == [
        "- before\n- at\n- after",
        "- before",
        None,
    ]
    assert found[2].error is BadReason.NO_HISTORY


def test_an_event_on_the_day_itself_is_not_known_to_come_before() -> None:
    events = [event("that day", "2020-03-04"), event("day before", date(2020, 3, 3))]
    assert only(events) == "- day before"
    assert only(events, "2020-03-04") == "- day before"
    assert only(events, "2020-03-05") == "- day before\n- that day"


@given(st.data())
def test_no_text_holds_what_comes_later_and_every_text_all_that_came_before(data: Any) -> None:
    minutes = st.integers(0, 20)
    times = data.draw(st.lists(st.tuples(st.integers(1, 3), minutes), max_size=12))
    records = data.draw(st.lists(st.tuples(st.integers(1, 3), minutes), min_size=1, max_size=4))
    events = [event(f"e{n}", T + timedelta(minutes=m), p) for n, (p, m) in enumerate(times)]
    found = texts(events, [record(T + timedelta(minutes=m), p) for p, m in records])
    for (patient, until), one in zip(records, found, strict=True):
        before = [(m, n) for n, (p, m) in enumerate(times) if p == patient and m <= until]
        lines = [f"- e{n}" for _, n in sorted(before)]
        assert one.fields.get("text", "").splitlines() == lines


def test_zones_are_compared_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    events = [event("in", datetime(2020, 3, 4, 12, tzinfo=east))]
    events += [event("out", "2020-03-04T12:00:01+02:00"), event("utc", "2020-03-04T09:59:59Z")]
    assert only(events, T.replace(tzinfo=UTC)) == "- utc\n- in"


def test_lines_have_what_is_there_and_headings_when_they_change() -> None:
    events = [
        event("HB", "2020-01-01 08:00", value=11.5, unit="g/dL", visit="v1"),
        event("K", "2020-01-01 09:00", value="", unit="mmol/L", visit="v1"),
        event("Na", "2020-01-01 10:00", value="  ", unit=None, visit="v2"),
        event("Glu", "2020-01-02 10:00", value=Decimal("5.50"), visit="v2"),
        event("ECG 🩺", "2020-01-03 10:00"),
        event("ż {code}\nsecond line", "2020-01-03 11:00", visit="v2", value=7),
    ]
    made = only(events, line=("{code}", ": {value}", " {unit}"), heading="[{day}, visit {visit}]")
    assert made.splitlines() == [
        "[2020-01-01, visit v1]",
        "HB: 11.5 g/dL",
        "K mmol/L",
        "[2020-01-01, visit v2]",
        "Na",
        "[2020-01-02, visit v2]",
        "Glu: 5.50",
        "ECG 🩺",
        "[2020-01-03, visit v2]",
        "ż {code}",
        "second line: 7",
    ]


def test_what_is_absent_or_unreadable_is_counted_and_the_rest_is_there() -> None:
    events = [
        event("a", "2019-01-01"),
        event(None, "2019-01-01"),
        event("b", "01/02/2019"),
        event("c", 20190101),
        event("without a time", None),
        event("without a time", ""),
        event("d", "2019-01-02", None),
        event("half \ud83e of a pair", "2019-01-02"),
        event("e", "2019-01-03"),
    ]
    records = [record(T), record(None), record("soon"), record(T, "  "), record(T, "other")]
    found = texts(events, records)
    assert sorted(reasons(found), key=str) == [
        ("asked", 1, None),
        ("asked", 2, "missing_field"),
        ("asked", 3, "unknown_time"),
        ("asked", 4, "missing_field"),
        ("asked", 5, "no_history"),
        ("events", 2, "missing_field"),
        ("events", 3, "unknown_time"),
        ("events", 4, "unknown_time"),
        ("events", 5, "untimed"),
        ("events", 6, "untimed"),
        ("events", 7, "missing_field"),
        ("events", 8, "not_unicode"),
    ]
    assert [one.fields["text"] for one in found if not one.error] == ["- a\n- e"]


def test_ids_as_numbers_and_as_text_are_the_same_patient() -> None:
    (found,) = texts([event("a", "2019-01-01", "7"), event("b", "2019-01-01", 8)], [record(T, 7)])
    assert found.fields["text"] == "- a"


def test_the_columns_of_a_record_stay_what_they_were() -> None:
    row = {
        **record(T),
        "yes": True,
        "n": 3,
        "x": 1.50,
        "day": date(2020, 1, 1),
        "list": ["a", None],
    }
    row |= {"dec": Decimal("1.50"), "none": None, "raw": b"x", "text": "old"}
    (found,) = texts([event("a", "2019-01-01")], [row])
    assert found.fields == {
        "patient_id": "1",
        "prediction_time": "2020-03-04 10:00:00",
        "yes": True,
        "n": "3",
        "x": "1.5",
        "day": "2020-01-01",
        "list": ["a", None],
        "dec": "1.50",
        "none": None,
        "raw": "x",
        "text": "- a",
    }


def test_records_that_do_not_count_are_left_out() -> None:
    rows = [{**record(T), "who": name} for name in ("one", "two", " one ")]
    found = texts([event("a", "2019-01-01")], rows, keep={"who": ("one",)})
    assert [one.row for one in found] == [1, 3]


@pytest.mark.parametrize(
    ("unit", "most", "text"),
    [
        ("words", 7, "one two\nthree four five\nsix seven"),
        ("words", 6, "two\nthree four five\nsix seven"),
        ("words", 5, "three four five\nsix seven"),
        ("words", 2, "six seven"),
        ("words", 1, "seven"),
        ("characters", 9, "six seven"),
        ("characters", 10, "\nsix seven"),
        ("characters", 3, "ven"),
        ("pieces", 2, "six seven"),
        ("pieces", 3, "\nsix seven"),
        ("pieces", 1, "seven"),
    ],
)
def test_a_long_text_keeps_its_end(unit: str, most: int, text: str) -> None:
    events = [
        event(line, f"2019-01-0{n}")
        for n, line in enumerate(("one two", "three four five", "six seven"), 1)
    ]
    assert only(events, line=("{code}",), unit=unit, most=str(most)) == text


LINE = st.text(alphabet="ab1 .\n_żé🩺", min_size=1, max_size=9).filter(str.strip)


@given(st.lists(LINE, min_size=1, max_size=6), st.integers(1, 30), st.sampled_from(sorted(UNITS)))
def test_lines_cut_as_they_come_are_the_whole_text_cut_once(
    lines: list[str], most: int, unit: str
) -> None:
    events = [event(line, f"2019-01-{n:02}") for n, line in enumerate(lines, 1)]
    whole = ending("\n".join(lines), most, UNITS[unit])
    cut = only(events, line=("{code}",), unit=unit, most=str(most))
    # A cut at a line's beginning leaves out the spaces before its first unit, or does not.
    assert cut == whole or (cut.endswith(whole) and not cut.removesuffix(whole).strip())


def test_a_text_that_is_too_long_is_dropped_for_good() -> None:
    events = [event("a b", "2019-01-01"), event("c", "2020-01-01"), event("d", "2021-01-01")]
    records = [record("2019-06-01"), record("2020-06-01"), record("2021-06-01")]
    found = texts(events, records, most="5", beyond=Beyond.DROP)
    assert [(one.fields.get("text"), one.error) for one in found] == [
        ("- a b", None),
        ("- a b\n- c", None),
        (None, "too_long"),
    ]
    again = texts(
        [*events, event("e", "2022-01-01")],
        [record(date(2023, 1, 1))],
        most="5",
        beyond=Beyond.DROP,
    )
    assert again[0].error is BadReason.TOO_LONG


def test_pieces_are_near_to_tokens() -> None:
    count = UNITS["pieces"].findall
    assert count("- SNOMED/59621000\n") == ["-", "SNOMED", "/", "596", "210", "00", "\n"]
    assert count("anticoagulation, żółć_2") == ["antico", "agulat", "ion", ",", "żółć", "_", "2"]


def test_without_times_files_are_taken_in_their_order() -> None:
    events = [event("b", None), event("a", None)]
    (found,) = texts(events, [record(T)], time="", until="")
    assert found.fields["text"] == "- b\n- a"


def test_what_is_drawn_is_what_pandas_draws() -> None:
    for total, most in ((50, 7), (12_345, 10_000)):
        frame = pd.DataFrame({"row": range(1, total + 1)})
        assert drawn(total, most) == frozenset(frame.sample(n=most, random_state=1)["row"])
    assert drawn(7, 7) is None
    history = History(column="t", files=(), patient="p", samples={"*/lab_*/x": 5, "*": 9})
    assert most_records("/data/labels/lab_a/x", history) == 5
    assert most_records("/data/labels/guo/x", history) == 9
    assert most_records("/data", replace(history, samples={})) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": "tokens"}, "unknown unit 'tokens'"),
        ({"most": "0"}, "the longest text is '0'; allowed: a whole number above 0"),
        ({"most": "1e5"}, "'1e5'"),
        ({"line": ()}, "needs a part of `line`"),
        ({"line": ("- {code!r}",)}, "only names of columns"),
        ({"heading": "{"}, "prompt template"),
        ({"time": ""}, "with `until` also `time`"),
    ],
)
def test_histories_that_cannot_be_made(changes: dict[str, Any], message: str) -> None:
    fields: dict[str, Any] = {"column": "text", "files": ("e",), "patient": "p", "until": "u"}
    with pytest.raises(ConfigError, match=message):
        check_history(History(**{**fields, "time": "t", **changes}))
    check_history(History(**fields, time="t", most="{max_length}"))


def test_partitions_hold_every_event_once_and_only_the_used_columns(
    tmp_path: Path,
) -> None:
    rows = [event(f"c{n}", T, n % 3, note="long") for n in range(20)]
    write_parquet(tmp_path / "a.parquet", rows, row_group_size=6)
    write_rows(tmp_path / "a.csv", rows)
    fields: dict[str, Any] = {"column": "text", "patient": "patient_id", "time": "start"}
    for form in ("parquet", "csv"):
        path = str(tmp_path / f"a.{form}")
        history = History(files=(path,), format=form, line=("{code}", "{unit}"), **fields)
        found = [
            one for n in range(3) for one in read_events(path, history, partition=n, partitions=3)
        ]
        by_row = {one.row: one.fields for one in found}
        assert len(found) == len(by_row) == 20
        assert [by_row[n]["code"] for n in range(1, 21)] == [f"c{n}" for n in range(20)]
        if form == "parquet":
            assert set(by_row[1]) == {"patient_id", "start", "code"}
        with pytest.raises(DataError, match=rf"a\.{form}: needs column 'when'"):
            list(read_events(path, replace(history, time="when")))


def test_a_records_cells_have_the_same_text_with_a_history_as_without() -> None:
    cells: dict[str, Any] = {
        "whole": 1.0,
        "large": 1e20,
        "small": 1e-5,
        "nothing": float("nan"),
        "decimal": Decimal("1E+2"),
        "bytes": b"yes",
        "moment": datetime(2020, 1, 31, 8, tzinfo=timezone(timedelta(hours=2))),
        "day": date(2020, 1, 31),
        "flag": True,
        "number": 3,
    }
    row = {**record(T), **cells, "list": [1.0, b"a"], "broken": b"\xff"}
    (found,) = texts([event("a", "2019-01-01")], [row])
    assert {name: as_text(found.fields[name]) for name in cells} == {
        name: as_text(value) for name, value in cells.items()
    }
    assert (found.fields["list"], found.fields["broken"]) == (["1", "a"], {})
