"""What a scan reads of a lake's tables, and what it takes for a shingle."""

from medhelm_spark.lake.tables import TABLES
from medhelm_spark.sharing.scan import PATTERNS, TEXT_COLUMNS, shingles


def test_every_table_with_text_is_compared_or_left_out_on_purpose() -> None:
    assert {name for name, table in TABLES.items() if table.has_text} == set(TEXT_COLUMNS)


def test_undivided_words_are_compared_by_characters() -> None:
    text = "患者は" * 20
    assert len(shingles(text)) == 21 - 18
    assert shingles("a b c") == frozenset()


def test_patterns_find_identifiers_and_leave_numbers_alone() -> None:
    found = {
        "email address": "write to ann@ward.example.org",
        "social security number": "078-05-1120",
        "telephone number": "call (617) 555-0123",
        "date": "seen on 03/14/2026",
        "IP address": "from 10.0.0.7",
        "web address": "see https://ward.example.org/x",
        "ZIP code": "Boston, MA 02115",
        "record number": "MRN: 0042137",
        "age above 89": "a 93-year-old man",
    }
    assert set(found) == set(PATTERNS)
    for name, text in found.items():
        assert PATTERNS[name].search(text), name
    for text in ("BP 120/80, pulse 93", "5 to 10 mg", "a 64-year-old man", "0.937 [0.91, 0.95]"):
        assert not [name for name, pattern in PATTERNS.items() if pattern.search(text)], text
