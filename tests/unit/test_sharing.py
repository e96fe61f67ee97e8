"""Which tables a scan reads, what it takes for a shingle, and columns that no list declares."""

import csv
import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from deltalake import DeltaTable, write_deltalake

from medhelm_spark import Evaluation
from medhelm_spark.domain.purge import Purge
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.errors import ConfigError, IntegrityError, PolicyError
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.reader import open_reader, table_schema
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.sharing.manifest import sha256_of
from medhelm_spark.sharing.methods import Shares
from medhelm_spark.sharing.scan import (
    NAME_COLUMNS,
    PATTERNS,
    PROSE_COLUMNS,
    TEXT_COLUMNS,
    UNDECLARED,
    Leak,
    LookedFor,
    has_strings,
    scan,
)
from medhelm_spark.sharing.tables import MANIFEST, ReleaseShare
from medhelm_spark.sharing.waivers import Waiver, blocking
from medhelm_spark.whole_files import whole_folder
from tests.unit.board.planted import plant
from tests.unit.provenance import made as planting
from tests.unit.provenance.made import RELEASE, SUITE, Made


def test_every_table_with_text_is_compared_or_left_out_on_purpose() -> None:
    assert {name for name, table in TABLES.items() if table.has_text} == set(TEXT_COLUMNS)


@pytest.mark.parametrize("name", sorted(TEXT_COLUMNS))
def test_every_column_with_strings_is_declared_once(name: str) -> None:
    strings = {field.name for field in table_schema(name) if has_strings(field.type)}
    text, prose = set(TEXT_COLUMNS[name]), set(PROSE_COLUMNS.get(name, ()))
    assert not text & prose
    assert not (text | prose) & NAME_COLUMNS
    assert strings - NAME_COLUMNS == text | prose


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("lake"))


@pytest.mark.attack("sharing", "a column of text that no list of the scan declares")
def test_an_undeclared_column_of_text_in_the_lake_stops_the_scan(tmp_path: Path) -> None:
    lake, out = plant(tmp_path / "lake"), tmp_path / "out"
    out.mkdir()
    assert not scan(out, open_reader(str(lake))).leaks
    table = DeltaTable(lake / "instances").to_pyarrow_table().slice(0, 1)
    texts = pa.array([[{"note": "what the nurse said"}]])
    write_deltalake(
        str(lake / "instances"),
        table.append_column("later", texts),
        mode="append",
        schema_mode="merge",
    )
    with pytest.raises(PolicyError, match=r"table instances of .* has the column later") as refused:
        scan(out, open_reader(str(lake)))
    assert "nurse" not in str(refused.value)


@pytest.mark.attack("sharing", "a column, key or kind of file of a share that no list declares")
@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("share-1-results.csv", "number 2"),
        ("share-1-texts.parquet", "comment"),
        ("share-1-comments.parquet", "comment"),
        ("run_spec.json", "adapter_spec.instructions"),
        ("scenario_state.json", "request_states.result.error"),
        ("other.json", "text"),
        ("board.xlsx", ""),
        ("notes.txt", ""),
    ],
)
def test_what_no_list_declares_in_a_share_blocks_and_nobody_can_waive_it(
    planted: Path, tmp_path: Path, name: str, column: str
) -> None:
    path = tmp_path / name
    documents = {
        "run_spec.json": {"name": "a", "adapter_spec": {"model": "b", "instructions": "c"}},
        "scenario_state.json": {"request_states": [{"result": {"error": "c"}}]},
        "other.json": {"text": "c"},
    }
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"comment": ["c"]}), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(documents[name]))
    else:
        path.write_bytes(b"share,the comment\nx,c\n" if path.suffix == ".csv" else b"\xff\x00")
    found = scan(tmp_path, open_reader(str(planted)))
    (leak,) = (leak for leak in found.leaks if leak.kind == UNDECLARED)
    assert (leak.file, leak.column) == (name, column)
    waiver = Waiver(
        table=path.stem.rpartition("-")[2],
        column=column,
        pattern=UNDECLARED,
        match="*",
        approver="ann",
        reason="no",
    )
    assert leak in blocking(found.leaks, [waiver])


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
    others = {
        "date": (
            *("14 March 2026", "the 3rd of Sept. 2025", "Mar. 14th, 2026", "2026/03/14"),
            *("14-03-2026", "14.3.26"),
        ),
        "telephone number": ("(617)555-0123", "+49 30 901820 11", "+44 20 7946 0958"),
        "age above 89": ("she is 101 yrs old", "aged 94", "age 92"),
    }
    for name, texts in others.items():
        assert [text for text in texts if not PATTERNS[name].search(text)] == [], name
    for text in (
        "BP 120/80, pulse 93",
        "5 to 10 mg",
        "a 64-year-old man",
        "0.937 [0.91, 0.95]",
        "10 of 2026",
    ):
        assert not [name for name, pattern in PATTERNS.items() if pattern.search(text)], text


@pytest.mark.attack("sharing", "an answer of a million letters, digits or signs without a blank")
@pytest.mark.parametrize("sign", ["x", "1", "+", "-", "@", "<!--", "(617)"])
def test_the_scan_of_a_long_answer_without_blanks_ends(
    planted: Path, tmp_path: Path, sign: str
) -> None:
    """A pattern that looked from every letter on would take hours."""
    folder = texts_of(tmp_path / "out", sign * (1_000_000 // len(sign)), "call (617) 555-0123")
    found = scan(folder, open_reader(str(planted)))
    assert {leak.kind for leak in found.leaks if leak.row == 2} == {"telephone number"}


@pytest.mark.attack("sharing", "an identifier with other dashes and blanks, or signs unseen")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("078\u201105\u20111120", "social security number"),
        ("call 617\u00a0555\u20130123", "telephone number"),
        ("on 2026\u201003\u201014", "date"),
        ("MRN\u202f0042\u200b137", "record number"),
        ("ann\u2060@ward.example.org", "email address"),
        ("Ward-4\u00ad2 it is", "record number 1"),
    ],
)
def test_an_identifier_is_found_whatever_its_dashes_and_blanks(
    planted: Path, tmp_path: Path, text: str, kind: str
) -> None:
    rules = LookedFor(record_numbers=[r"\bWard-\d\d\b"])
    found = scan(texts_of(tmp_path / "out", text), open_reader(str(planted)), rules)
    assert [leak.kind for leak in found.leaks] == [kind]


LETTER = "The patient from ward seven told the nurse that her brother keeps bees in Grindelwald."
AS_WRITTEN: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "underscores": lambda text: text.replace(" ", "_"),
    "commas": lambda text: text.replace(" ", ","),
    "dashes": lambda text: text.replace(" ", "-"),
    "slashes": lambda text: text.replace(" ", "/"),
    "no blanks": lambda text: text.replace(" ", ""),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "zero-width spaces": "\u200b".join,
    "percent": quote,
    "percent six times": lambda text: reduce(lambda quoted, _: quote(quoted), range(6), text),
    "JSON in JSON": lambda text: json.dumps(json.dumps({"a": text.replace(" ", "\n")})),
    "JSON in JSON in letters": lambda text: json.dumps(json.dumps("\u200b".join(text))),
    "tags": lambda text: text.replace(" ", "<b> </b>"),
    "comments": lambda text: text.replace(" ", "<!-- of other words -->"),
    "character data": lambda text: text.replace(" ", "<![CDATA[ ]]>"),
    "instructions": lambda text: text.replace(" ", "<?of other words?>"),
    "entities": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "escapes": lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text),
    "lines": lambda text: text.replace(" ", "\\n"),
    "fullwidth": lambda text: "".join(chr(ord(s) + 0xFEE0) if s.isalnum() else s for s in text),
    "eight words": lambda text: " ".join(text.split()[3:11]),
    "forty letters": lambda text: text.replace(" ", "")[5:45],
}


NOT_FOUND: dict[str, tuple[str, ...]] = {
    "look-alike letters": (LETTER.translate(str.maketrans("aeo", "\u0430\u0435\u043e")),),
    "accents": ("\u0301".join(LETTER),),
    "base64": (b64encode(LETTER.encode()).decode(),),
    "hexadecimal": (LETTER.encode().hex(),),
    "quoted-printable": (LETTER.replace(" ", "=20"),),
    "reversed": (LETTER[::-1],),
    "every seventh": (" ".join(w for n, w in enumerate(LETTER.split()) if n % 7 != 6),),
    "between the words": (" ".join(f"{w} {n}" for n, w in enumerate(LETTER.split())),),
    "two cells": (" ".join(LETTER.split()[:7]), " ".join(LETTER.split()[7:14])),
}
"""How private text passes the scan; docs/sharing.md names each by these words."""


def private_row(lake: Path, table: str, **values: object) -> None:
    """Add a private row to a table; other columns are null."""
    row = {"access_level": "private", "write_id": "planted", **values}
    FileTables(str(lake)).append(table, pa.Table.from_pylist([row], schema=table_schema(table)))


@pytest.mark.attack("sharing", "a canary of the policy in a file or in the manifest of a share")
@pytest.mark.parametrize("key", ["MRN-123456", "Quokka 9"])
def test_a_key_above_a_number_is_searched(planted: Path, tmp_path: Path, key: str) -> None:
    rules = LookedFor(record_numbers=[r"\bMRN-\d{6}\b"], canaries=["quokka 9"])
    (tmp_path / "stats.json").write_text(json.dumps([{"share": "a", key: 1}]))
    found = scan(tmp_path, open_reader(str(planted)), rules, {"instances_left_out": {key: 11}})
    assert [leak.file for leak in found.leaks] == ["stats.json", "manifest.json"]
    assert {leak.kind for leak in found.leaks} < {"record number 1", "canary 1"}


@pytest.mark.attack("sharing", "a column, key or kind of file of a share that no list declares")
@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"what the nurse said"]),
        pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), ["a", "what the nurse said"]),
        pa.array([["a"]], pa.list_(pa.field("element", pa.string(), True, {"n": "the nurse"}))),
    ],
    ids=["bytes", "a value of no row", "what describes a part"],
)
def test_a_declared_column_of_another_type_blocks(
    planted: Path, tmp_path: Path, values: pa.Array
) -> None:
    column = "references" if pa.types.is_list(values.type) else "answer"
    pq.write_table(pa.table({column: values}), tmp_path / "share-1-texts.parquet")
    found = scan(tmp_path, open_reader(str(planted)))
    assert [(leak.column, leak.kind) for leak in found.leaks] == [(column, UNDECLARED)]


def texts_of(folder: Path, *answers: str) -> Path:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table({"answer": list(answers)}), folder / "share-1-texts.parquet")
    return folder


NOTES = ["She keeps her bees indoors", "Two hives stand on the balcony"]
"""A cell with several notes, which the lake has as JSON."""


@pytest.fixture(scope="module")
def lettered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = plant(tmp_path_factory.mktemp("letters"))
    private_row(
        lake,
        "instances",
        input=LETTER,
        source_id="CASE-400013",
        cluster_id="patient77",
        references=[{"text": "no bees were seen here", "tags": []}],
        extra_data=[("sex", "female"), ("number", "4711"), ("notes", json.dumps(NOTES))],
    )
    private_row(lake, "instances", source_id="90125", input="", references=[])
    private_row(lake, "ratings", comment="", rater="rater-0f3a9c12ab34")
    return lake


@pytest.mark.attack("sharing", "private text with other marks or codes between its words")
@pytest.mark.parametrize("form", list(AS_WRITTEN))
def test_private_text_is_found_whatever_stands_between_its_words(
    lettered: Path, tmp_path: Path, form: str
) -> None:
    written = AS_WRITTEN[form](LETTER)
    folder = texts_of(tmp_path / "out", "nothing", f"So: {written}", LETTER[:30])
    found = scan(folder, open_reader(str(lettered)))
    assert [(leak.row, leak.kind) for leak in found.leaks] == [(2, "text of instances")]


@pytest.mark.parametrize("form", list(NOT_FOUND))
def test_what_passes_the_scan_is_named_on_the_page(
    lettered: Path, tmp_path: Path, form: str
) -> None:
    found = scan(texts_of(tmp_path / "out", *NOT_FOUND[form]), open_reader(str(lettered)))
    assert not found.leaks
    page = (Path(__file__).parents[2] / "docs" / "sharing.md").read_text(encoding="utf-8")
    assert form in page.partition("## The scan")[2].partition("## Afterwards")[0]


@pytest.mark.attack("sharing", "ids and short notes of private rows inside a public answer")
def test_ids_and_short_notes_are_found_inside_a_string_and_common_words_are_not(
    lettered: Path, tmp_path: Path
) -> None:
    answers = {
        "the case CASE-400013 is like it": True,
        "compare case 400013.": True,
        "as with PATIENT77": True,
        "says rater-0f3a9c12ab34": True,
        "I think no bees were seen here, or were they": True,
        "so two hives stand on the balcony now": True,
        "dose 90125 of it": True,
        "a female of 4711 years": False,
        "patient778 and patient7 and CASE-4000139": False,
        "no bees were": False,
    }
    found = scan(texts_of(tmp_path / "out", *answers), open_reader(str(lettered)))
    rows = {row for row, is_found in enumerate(answers.values(), 1) if is_found}
    assert {leak.row for leak in found.leaks if leak.is_text} == rows


LOCATIONS: dict[str, Callable[[Path], None]] = {
    "parquet metadata": lambda folder: pq.write_table(
        pa.table({"answer": ["a"]}).replace_schema_metadata({"note": LETTER}),
        folder / "share-1-texts.parquet",
    ),
    "parquet field": lambda folder: pq.write_table(
        pa.table(
            {"answer": ["a"]},
            schema=pa.schema([pa.field("answer", pa.string(), True, {"n": LETTER})]),
        ),
        folder / "share-1-texts.parquet",
    ),
    "xlsx properties": lambda folder: ZipFile(folder / "board.xlsx", "w", ZIP_DEFLATED).writestr(
        "docProps/core.xml", f"<dc:title>{LETTER}</dc:title>"
    ),
    "html comment": lambda folder: (folder / "a.html").write_text(f"<p>a</p><!-- {LETTER} -->"),
    "html declaration": lambda folder: (folder / "a.html").write_text(f"<!DOCTYPE html {LETTER}>"),
    "html instruction": lambda folder: (folder / "a.html").write_text(f"<p>a</p><?{LETTER}?>"),
    "html section": lambda folder: (folder / "a.html").write_text(f"<p><![CDATA[{LETTER}]]></p>"),
    "html open comment": lambda folder: (folder / "a.html").write_text(f"<p>a</p><!-- {LETTER}"),
    "html open tag": lambda folder: (folder / "a.html").write_text(f"<p>a</p><b title='{LETTER}"),
    "html open entity": lambda folder: (folder / "a.html").write_text(f"<p>a</p>{LETTER} &am"),
    "html attribute names": lambda folder: (folder / "a.html").write_text(f"<p {LETTER}>a</p>"),
    "html attributes between words": lambda folder: (folder / "a.html").write_text(
        " ".join(f"<b id='of other words'>{word}</b>" for word in LETTER.split())
    ),
    "html script": lambda folder: (folder / "a.html").write_text(f"<script>'{LETTER}'</script>"),
    "file name": lambda folder: (folder / f"{LETTER}.html").write_text(""),
    "csv header": lambda folder: (folder / "a-texts.csv").write_text(f"{LETTER}\nx\n"),
}


@pytest.mark.attack("sharing", "private text in what describes a file: metadata, comments, names")
@pytest.mark.parametrize("location", list(LOCATIONS))
def test_private_text_is_found_in_what_describes_a_file(
    lettered: Path, tmp_path: Path, location: str
) -> None:
    LOCATIONS[location](tmp_path)
    found = scan(tmp_path, open_reader(str(lettered)))
    assert "text of instances" in {leak.kind for leak in found.leaks}


@pytest.mark.attack("sharing", "a canary of the policy in a file or in the manifest of a share")
def test_a_canary_of_the_policy_is_found_and_nobody_can_waive_it(
    planted: Path, tmp_path: Path
) -> None:
    folder = texts_of(tmp_path / "out", "nothing", "a QUOKKA-on%20the*roof")
    rules = LookedFor(canaries=["quokka on the roof"])
    found = scan(folder, open_reader(str(planted)), rules, {"release": "Quokka on the roof"})
    assert [(leak.file, leak.row, leak.kind) for leak in found.leaks] == [
        ("share-1-texts.parquet", 2, "canary 1"),
        ("manifest.json", 1, "canary 1"),
    ]
    waivers = [
        Waiver(table=t, column=c, pattern="canary 1", match="*", approver="ann", reason="no")
        for t, c in (("texts", "answer"), ("manifest", "release"))
    ]
    assert blocking(found.leaks, waivers) == list(found.leaks)


def test_a_canary_of_few_letters_is_refused(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.site.mkdir()
    audience = {"name": "board", "content": "texts", "canaries": ["the lamp of ward 9", "a b c!"]}
    (made.site / "policy.yaml").write_text(yaml.safe_dump({"audiences": [audience]}))
    with pytest.raises(ConfigError, match="canaries: number 2 has 3 letters and digits"):
        made.evaluation.sharing.share(RELEASE, "board", tmp_path / "out")


@pytest.mark.attack("sharing", "a waiver of one match used for another text of the same column")
def test_a_waiver_is_for_one_match_of_one_text(planted: Path, tmp_path: Path) -> None:
    reader, default_rules = open_reader(str(planted)), LookedFor(key="k")

    def found(name: str, *answers: str, key: LookedFor = default_rules) -> list[Leak]:
        return list(scan(texts_of(tmp_path / name, *answers), reader, key).leaks)

    first, second = found("one", "seen on 03/14/2026 and 03/15/2026")
    waiver = Waiver(
        table="texts", column="answer", pattern="date", match=first.match, approver="a", reason="b"
    )
    assert blocking([first, second], [waiver]) == [second]
    later = found("two", "x", "seen on 03/14/2026 and 03/15/2026", "born on 03/14/2026")
    assert [leak.row for leak in blocking(later, [waiver])] == [2, 3]
    everywhere = replace(waiver, match="*")
    assert not blocking(later, [everywhere])
    other = found("three", "seen on 03/14/2026 and 03/15/2026", key=LookedFor(key="l"))
    assert not {leak.match for leak in other} & {first.match, second.match}


def test_a_count_that_is_equal_to_a_private_id_stops_no_share(
    lettered: Path, tmp_path: Path
) -> None:
    (tmp_path / "share-1-results.csv").write_text("model,count\nward/yes,90125\n")
    (tmp_path / "share-1-report.html").write_text("<td>0.500 n=90125</td>")
    reader = open_reader(str(lettered))
    assert not scan(tmp_path, reader).leaks
    (tmp_path / "share-1-results.csv").write_text("model,count\nward/90125,CASE-400013\n")
    found = scan(tmp_path, reader).leaks
    assert [leak.column for leak in found] == ["model", "count"]


@pytest.mark.attack("sharing", "text of a row that has no access level")
def test_a_row_without_a_level_is_not_public(tmp_path: Path) -> None:
    lake = plant(tmp_path / "lake")
    private_row(lake, "answer_notes", text=LETTER, access_level=None)
    found = scan(texts_of(tmp_path / "out", LETTER), open_reader(str(lake)))
    assert [leak.kind for leak in found.leaks] == ["text of answer_notes"]


@pytest.mark.attack("sharing", "a private case that every question of a public benchmark quotes")
def test_a_case_that_a_public_prompt_repeats_is_private_text(tmp_path: Path) -> None:
    lake = plant(tmp_path / "lake")
    for number in range(6):
        private_row(
            lake,
            "instances",
            instance_id=f"public{number}",
            data_version="version public",
            access_level="public",
            perturbation="",
            input=f"{LETTER} Question {number}?",
        )
    private_row(lake, "instances", data_version="version private", perturbation="", input=LETTER)
    found = scan(texts_of(tmp_path / "out", LETTER), open_reader(str(lake)))
    assert [leak.kind for leak in found.leaks] == ["text of instances"]


def test_the_words_of_every_prompt_are_no_private_text(tmp_path: Path) -> None:
    """Two benchmarks have one prompt; a private case in a public prompt is found all the same."""
    lake = plant(tmp_path / "lake")
    prompt = "Read the case below with care and then answer the question with one word only: "
    cases = ["the man fell from a red ladder onto his left hand today", "she coughs at night"]
    for number in range(6):
        for level in ("public", "private"):
            private_row(
                lake,
                "instances",
                instance_id=f"{level}{number}",
                data_version=f"version {level}",
                access_level=level,
                perturbation="",
                input=prompt + (cases[0] if level == "private" and not number else f"no {number}"),
            )
    folder = texts_of(tmp_path / "out", prompt, f"{prompt}{cases[1]}", f"{prompt}{cases[0]}")
    found = scan(folder, open_reader(str(lake)))
    assert [(leak.row, leak.kind) for leak in found.leaks] == [(3, "text of instances")]


def test_purged_texts_are_counted_and_not_compared(tmp_path: Path) -> None:
    lake = plant(tmp_path / "lake")
    reader = open_reader(str(lake))
    before = scan(texts_of(tmp_path / "out", "a"), reader)
    note = Purge(
        purge_id="1",
        scenario_name="s",
        agreement="DUA 7 of the ward",
        begun_at=datetime(2026, 3, 2, tzinfo=UTC),
        purged_by="amy",
    ).note
    private_row(lake, "instances", input=note, references=[], extra_data=[], messages=[])
    after = scan(texts_of(tmp_path / "out", note), reader)
    assert (before.num_purged, after.num_purged) == (0, 1)
    assert not [leak for leak in after.leaks if leak.is_text]


def test_a_share_of_many_windows_is_compared_in_parts(
    lettered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = open_reader(str(lettered))
    folder = texts_of(tmp_path / "out", LETTER, *(f"{n} bees " * 9 for n in range(9)), LETTER)
    whole = scan(folder, reader)
    monkeypatch.setattr("medhelm_spark.sharing.scan.AT_ONCE", 1)
    monkeypatch.setattr("medhelm_spark.sharing.strings.CHUNK", 1)
    assert scan(folder, reader) == whole
    assert {leak.row for leak in whole.leaks} == {1, 11}


@pytest.mark.attack("sharing", "a share of aggregates where the gate asks for a scan of the text")
def test_the_gate_asks_for_the_widest_scan_and_prints_what_was_waived(tmp_path: Path) -> None:
    made = Made.planned(tmp_path)
    audiences = [
        {"name": "board", "content": "aggregates"},
        {"name": "teachers", "content": "texts", "record_numbers": [r"Case 1\d"]},
    ]
    rules = {"audiences": audiences, "release": {"require": {"redaction_scan": True}}}
    (made.site / "policy.yaml").write_text(yaml.safe_dump(rules))
    here, out = made.evaluation, tmp_path / "text"
    here.releases.publish(RELEASE, SUITE)

    def gate() -> tuple[str, ...]:
        return tuple(map(str, here.releases.gate(RELEASE).findings))

    here.sharing.share(RELEASE, "board", tmp_path / "aggregates")
    with pytest.raises(PolicyError, match="record number 1"):
        here.sharing.share(RELEASE, "teachers", out)
    (failed,) = gate()
    assert "failed: no share of it for teachers (texts) passed the scan" in failed
    path = tmp_path / "text-matches.yaml"
    listed = yaml.safe_load(path.read_text())
    for waiver in listed["waivers"]:
        waiver |= {"approver": "ann", "reason": "places"}
    path.write_text(yaml.safe_dump(listed))
    done = here.sharing.share(RELEASE, "teachers", out, waivers=path)
    assert done.share.num_waived == 4  # two cases of two models
    assert gate() == (
        "redaction_scan passed: matches of patterns waived: 4; the manifest names by whom",
    )


def shared_at(made: Made, out: Path) -> str:
    """The message of a refused share; nothing is on record."""
    with pytest.raises(PolicyError) as refused:
        made.evaluation.sharing.share(RELEASE, "board", out)
    assert not made.evaluation.sharing.list().shares
    return str(refused.value)


@pytest.mark.attack("sharing", "a share made at a link, an address, or where another is made")
def test_a_share_takes_no_place_that_something_else_has(tmp_path: Path) -> None:
    made = Made.planned(tmp_path / "made")
    made.evaluation.releases.publish(RELEASE, SUITE)
    out, other = tmp_path / "out", tmp_path / "other"
    out.symlink_to("/nowhere")
    assert "is there already" in shared_at(made, out)
    assert "is there already" in shared_at(made, tmp_path / "new" / "..")
    assert "is an address" in shared_at(made, Path("s3://bucket/share"))
    with whole_folder(other) as begun:
        (begun / "file").touch()
        with pytest.raises(ConfigError, match=r"another command makes .*other now"):
            made.evaluation.sharing.share(RELEASE, "board", other)
        assert not made.evaluation.sharing.list().shares
    assert [path.name for path in other.iterdir()] == ["file"]
    assert {path.name for path in tmp_path.iterdir()} == {"other", "made", "out"}
    (tmp_path / ".link.unfinished").symlink_to(other)
    share = made.evaluation.sharing.share(RELEASE, "board", tmp_path / "link").folder
    assert not share.is_symlink()
    assert [path.name for path in other.iterdir()] == ["file"]


def test_a_share_that_was_killed_is_made_by_the_same_command(tmp_path: Path) -> None:
    made = Made.planned(tmp_path / "made")
    made.evaluation.releases.publish(RELEASE, SUITE)
    left = tmp_path / ".share.unfinished"
    left.mkdir()
    (left / "of a killed process").touch()
    (tmp_path / ".share.unfinished.lock").touch()
    share = made.evaluation.sharing.share(RELEASE, "board", tmp_path / "share").folder
    assert not (share / "of a killed process").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"made", "share"}


@pytest.mark.attack("sharing", "a name that a spreadsheet computes, in the csv files of a share")
def test_a_name_in_the_csv_files_of_a_share_is_no_formula(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(planting.BENCHMARK, "name", "-Cases")
    made = Made.planned(tmp_path / "made")
    made.evaluation.releases.publish(RELEASE, SUITE)
    share = made.evaluation.sharing.share(RELEASE, "board", tmp_path / "share").folder
    (table,) = share.glob("*-results.csv")
    with table.open(newline="") as file:
        cells = {row["benchmark"] for row in csv.DictReader(file)}
    assert cells == {"'-Cases"}
    (table,) = share.glob("*-results.parquet")
    assert set(pq.read_table(table)["benchmark"].to_pylist()) == {"-Cases"}


@pytest.mark.attack("sharing", "private text or a record number in a condition of an approval")
def test_what_people_typed_with_an_approval_is_searched(tmp_path: Path) -> None:
    made = Made.planned(tmp_path / "made")
    here = made.evaluation
    here.releases.publish(RELEASE, SUITE)
    here.releases.submit(RELEASE)
    made.step(ReleaseStatus.APPROVED, "bob", conditions=("Ask MRN 0042137 again.",))
    with pytest.raises(PolicyError, match="column conditions, row 1: record number"):
        here.sharing.share(RELEASE, "board", tmp_path / "share")
    path = tmp_path / "share-matches.yaml"
    listed = yaml.safe_load(path.read_text())
    (waiver,) = listed["waivers"]
    waiver |= {"approver": "ann", "reason": "invented"}
    path.write_text(yaml.safe_dump(listed))
    done = here.sharing.share(RELEASE, "board", tmp_path / "share", waivers=path)
    assert done.share.num_waived == 1


def test_a_folder_that_is_made_again_is_of_its_newest_share_alone(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{}")
    newer = ReleaseShare(
        share="newer",
        release="r2",
        release_manifest="",
        audience="partner",
        content="",
        made_at=datetime(2026, 4, 2, tzinfo=UTC),
        made_by="",
        manifest_sha256="",
        num_texts=0,
        folder=str(tmp_path),
    )
    older = replace(newer, share="older", made_at=datetime(2026, 4, 1, tzinfo=UTC))
    elsewhere = replace(older, share="elsewhere", folder=None)
    rows = Shares((newer, older, elsewhere)).rows()
    assert [row["share"] for row in rows if row["is_here"]] == ["newer"]


@pytest.mark.attack("sharing", "a file that is changed or added after the scan has read it")
def test_what_is_changed_after_the_scan_is_no_file_of_the_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made.planned(tmp_path / "made")
    made.evaluation.releases.publish(RELEASE, SUITE)

    def scanned(folder: Path, *more: Any) -> Any:
        found = scan(folder, *more)
        (page,) = folder.glob("*.html")
        page.write_text(LETTER)
        (folder / "more.html").write_text(LETTER)
        return found

    monkeypatch.setattr("medhelm_spark.sharing.share.scan", scanned)
    share = made.evaluation.sharing.share(RELEASE, "board", tmp_path / "share").folder
    with pytest.raises(IntegrityError, match=r"more\.html, share-.*-report\.html"):
        made.evaluation.sharing.verify(share)


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Made.planned(tmp_path_factory.mktemp("given") / "made")
    made.evaluation.releases.publish(RELEASE, SUITE)
    return made.evaluation.sharing.share(RELEASE, "board", made.folder / "share").folder


def with_column(name: str, values: Callable[[int], pa.Array]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        table = pq.read_table(path)
        index = table.column_names.index(name)
        pq.write_table(table.set_column(index, name, values(len(table))), path)

    return edit


FORGED: dict[str, Callable[[Path], object]] = {
    "no Parquet": lambda path: path.write_bytes(b"PAR1"),
    "a mean that is a text": with_column("mean", lambda size: pa.array(["1"] * size)),
    "a model that is a number": with_column("model", lambda size: pa.array([1] * size)),
    "fewer columns": lambda path: pq.write_table(pa.table({"model": ["a"]}), path),
}


@pytest.mark.attack("sharing", "a folder that calls itself a share, read as a board")
@pytest.mark.parametrize("form", FORGED)
def test_a_forged_share_has_no_board(share: Path, tmp_path: Path, form: str) -> None:
    folder = Path(copytree(share, tmp_path / "share"))
    (table,) = folder.glob("*-results.parquet")
    FORGED[form](table)
    manifest = json.loads((folder / "manifest.json").read_text())
    for each in manifest["files"]:
        each["sha256"] = sha256_of(folder / each["name"])
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(IntegrityError, match=rf"{table.name}: (is no|has not)"):
        Evaluation(folder).sharing.board()
