"""MedCalc, MEDEC, EHRSQL, billing codes and SCT: MedHELM's values, and where the corrected differ.

Of each the stat `NAME@medhelm-0.8` is compared with MedHELM's class on every row, and the corrected
stat on the rows that no correction of docs/differences.md covers. The data of MIMIC-IV and
SCT-Bench are not available: those rows are all made.
"""

import json
import random
import re
import sqlite3
from pathlib import Path

import pytest

from tests.parity.compare import MEDHELM, NUM_ROWS, differing, ours, state
from tests.parity.pairs import (
    Row,
    calculation_rows,
    chooser,
    corrections,
    noise,
    row,
    variant_of,
    written_rows,
)
from tests.parity.peer import Peer
from tests.unit.metrics.test_ehr_sql import STAYS

MEDCALC = ("medcalc_bench_accuracy",)
TEXTS = {"risk", "severity", "diagnosis"}
BARE = re.compile(r"-?\d+(\.\d+)?|\d{1,2}/\d{1,2}/\d{4}|\('\d+ weeks', '\d+ days'\)")


def has_agreed_form(example: Row) -> bool:
    """Whether category, answer and limits are of a form on which both rules agree."""
    answer, extra = example["completions"][0]["text"], example["extra_data"]
    falls = extra["lower_limit"].startswith("-")  # limits of a negative value come upside down
    if extra["output_type"] == "integer":
        is_known = extra["category"] in {"physical", "date", *TEXTS} and "." not in answer
    else:
        is_known = extra["category"] in {"physical", "date"}
    return is_known and bool(BARE.fullmatch(answer)) and not falls


def near_row(rng: random.Random, example: Row) -> Row:
    """The row with an answer that is made of the truth or a limit."""
    extra = example["extra_data"]
    values = [example["references"][0][0], extra["lower_limit"], extra["upper_limit"]]
    return {**example, "completions": [{"text": variant_of(rng, rng.choice(values))}]}


@pytest.mark.parametrize("kind", ["real", "bent"])
def test_medcalc(medhelm: Peer, real_data: Path, kind: str) -> None:
    rng, rows = chooser("medcalc"), calculation_rows(real_data)
    rows = rows if kind == "real" else [near_row(rng, example) for example in rows * 2]
    theirs = medhelm.ask("class_stats", name="medcalc", rows=rows)
    own_values = ours("medcalc_bench_accuracy", [state(example) for example in rows])
    assert differing(own_values, theirs, MEDCALC, MEDHELM) == []
    assert not [
        index for index in differing(own_values, theirs, MEDCALC) if has_agreed_form(rows[index])
    ]
    assert sum(has_agreed_form(example) for example in rows) >= NUM_ROWS


MEDEC = ("medec_error_flag_accuracy", "medec_error_sentence_accuracy")


def test_medec(medhelm: Peer, real_data: Path) -> None:
    rng, references = chooser("medec"), corrections(real_data)

    def answer(gold: str) -> str:
        other = rng.choice(references)
        number = gold.split(" ")[0]
        texts = [
            gold,
            other,
            number,
            f"{number}.",
            f"Sentence {number}: x",
            "CORRECT",
            "correct",
            "CORRECT.",
        ]
        return variant_of(rng, rng.choice(texts)) if rng.random() < 0.5 else rng.choice(texts)

    rows = [row(answer(gold), [gold]) for gold in references * 2]
    theirs = medhelm.ask("class_stats", name="medec", rows=rows)
    own_values = ours("medec", [state(example) for example in rows])
    assert differing(own_values, theirs, MEDEC, MEDHELM) == []
    for index in differing(own_values, theirs, MEDEC):
        text, gold = rows[index]["completions"][0]["text"].strip(), rows[index]["references"][0][0]
        is_readable = text == "CORRECT" or re.match(r"\d+ ", text)
        assert gold != "CORRECT" or not is_readable


def test_medec_flags_are_medhelms_where_the_answer_has_the_form(
    medhelm: Peer, real_data: Path
) -> None:
    rng, references = chooser("flags"), corrections(real_data)
    rows = [row(rng.choice([gold, rng.choice(references)]), [gold]) for gold in references]
    theirs = medhelm.ask("class_stats", name="medec", rows=rows)
    assert differing(ours("medec", [state(example) for example in rows]), theirs, MEDEC[:1]) == []


SCT = ("sct_score", "sct_expert_set_membership")
RATED = re.compile(r"Rating: (\+[12]|0|-[12])(?![\d.,/])")


def rating_row(rng: random.Random) -> Row:
    size = rng.choice(["+2", "+1", "0", "-1", "-2", "1", "2", "10", "+3", "-12", "", "−1", " 0"])
    forms = ["Rating: {}", "**Rating:** {}", "rating: {}", "{}", "Rating:{}", "Rating: {}\nbecause"]
    odd_forms = [
        "Well. Rating: {}",
        "Rating: {}Rating: -1",
        "Rating: {}/2",
        "Rating: ({})",
        "Rating:   {}",
    ]
    odd_forms += ["Rating: {} or 0", "Rating: {}/-1", "Rating: about {}"]
    answer = rng.choice([noise(rng, 6), *(form.format(size) for form in (*forms, *odd_forms))])
    votes = [float(rng.choice([0, 0, 1, 2, 5, 11])) for _ in range(5)]
    return row(answer, [], extra_data={"expert_distribution": votes})


def test_sct(medhelm: Peer) -> None:
    rng = chooser("sct")
    rows = [rating_row(rng) for _ in range(1500)]
    theirs = medhelm.ask("class_stats", name="sct", rows=rows)
    own_values = ours("sct", [state(example) for example in rows])
    assert differing(own_values, theirs, SCT, MEDHELM) == []
    for index in differing(own_values, theirs, SCT):
        text = rows[index]["completions"][0]["text"]
        has_votes = any(rows[index]["extra_data"]["expert_distribution"])
        assert not (RATED.match(text) and has_votes)


CODES = [f"mimiciv_billing_code_{name}" for name in ("precision", "recall", "f1")]
FULL = re.compile(r"[A-Z]\d{2}(\.\d{1,4})?")


def codes_row(rng: random.Random, source: str, codes: list[str]) -> Row:
    """A note's words with codes among them, against listed codes."""
    golds = rng.sample(codes, rng.randint(1, 6))
    answer_codes = [rng.choice([*golds, *codes]) for _ in range(rng.randint(0, 6))]
    marks = [", ", "\n- ", "; ", " ", "** **", "/"]
    code_text = "".join(
        rng.choice(marks) + rng.choice([code, code, f"**{code}**", f"{code}."])
        for code in answer_codes
    )
    listed = rng.choice([golds, [",".join(golds)]])
    return row(rng.choice([source, ""]) + code_text, listed)


PLAIN = ["I10", "J18.9", "J45.909", "E11.65", "N18.6", "Z79.4", "K21.9", "I25.10", "F32.9", "D64.9"]
ODD = [
    "S72.001A",
    "M1A.00X0",
    "0JH606Z",
    "T81.4XXA",
    "C7A.1",
    "B2",
    "A123",
    "i10",
    "O9A.212",
    "Z00.00.",
]


@pytest.mark.parametrize("codes", [PLAIN, PLAIN + ODD], ids=["plain", "odd"])
def test_billing_codes(medhelm: Peer, real_data: Path, codes: list[str]) -> None:
    rng = chooser("codes")
    texts = [example["completions"][0]["text"] for example in written_rows(real_data)]
    sources = [text for text in texts if not re.search(r"[A-Z][0-9]|[A-Z0-9]{7}", text)]
    rows = [codes_row(rng, rng.choice(sources), codes) for _ in range(600)]
    theirs = medhelm.ask("class_stats", name="mimiciv_billing_code", rows=rows)
    own_values = ours("mimiciv_billing_code", [state(example) for example in rows])
    for index in differing(own_values, theirs, CODES, MEDHELM):
        assert "error" in theirs[index]  # a note without codes on either side ends MedHELM's run
        assert {own_values[index][name + MEDHELM] for name in CODES} == {0.0}
    if codes is PLAIN:
        assert differing(own_values, theirs, CODES) == []


EHR_SQL = [
    f"ehr_sql_{name}"
    for name in (
        "execution_accuracy",
        "query_validity",
        "precision_answerable",
        "recall_answerable",
    )
] + ["ehr_sql_total_predicted_answerable"]
QUERIES = [
    "SELECT patient FROM stay",
    "SELECT DISTINCT patient FROM stay",
    "SELECT patient FROM stay ORDER BY sao2 DESC",
    "SELECT patient, sao2 FROM stay WHERE sao2 > 95",
    "SELECT max(sao2) FROM stay",
    "SELECT count(*) FROM stay WHERE patient = 1",
    "SELECT 2",
    "SELECT NULL",
    "SELECT admitted FROM stay WHERE patient = 2",
    "SELECT patient FROM stay WHERE patient > 9",
    "select count(*) from stay where admitted >= datetime(current_time, '-1 year')",
    "SELECT patient FROM stay WHERE sao2 BETWEEN sao2_lower AND sao2_upper",
]
ANSWERS = [
    *QUERIES,
    "",
    "  ",
    "null",
    ";",
    "SELECT nothing FROM stay",
    "The patients are 1 and 2.",
    "SELECT 1; SELECT 2",
    "DROP TABLE stay",
    "DELETE FROM stay WHERE patient = 1",
    "INSERT INTO stay VALUES (3, '2105-12-31 09:00:00', 91.5)",
    "SELECT patient FROM",
]
WRAPPED = [
    "{}",
    "{};",
    "<sql>{}</sql>",
    "<SQL>\n{}\n<sql>",
    "`{}`",
    "sql\n{}",
    "```sql\n{}\n```",
    "Sure: {}",
]
# One row each, none twice, no notation: what no correction covers.
PLAIN_QUERIES = [QUERIES[at] for at in (1, 4, 5, 6, 8)]


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ward") / "ward.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE stay (patient INTEGER, admitted TEXT, sao2 REAL)")
    connection.executemany("INSERT INTO stay VALUES (?, ?, ?)", STAYS)
    connection.commit()
    connection.close()
    return path


def query_row(rng: random.Random) -> Row:
    gold = rng.choice([*QUERIES, ""])
    answer = rng.choice(WRAPPED).format(rng.choice([gold, *ANSWERS]))
    return row(answer, [gold], extra_data={"is_impossible": not gold or rng.random() < 0.1})


def test_ehr_sql(medhelm: Peer, ward: Path, tmp_path: Path) -> None:
    rng = chooser("ehr_sql")
    rows = [query_row(rng) for _ in range(1200)]
    rows += [
        row(rng.choice(PLAIN_QUERIES), [gold], extra_data={"is_impossible": False})
        for gold in PLAIN_QUERIES * 40
    ]
    theirs = medhelm.ask("ehr_sql", database=str(ward), folder=str(tmp_path), rows=rows)
    own_values = ours("ehr_sql", [state(example) for example in rows], db_path=str(ward))
    for index in differing(own_values, theirs, EHR_SQL, MEDHELM):
        # MedHELM puts the time of day where our metric puts noon.
        assert "current_time" in rows[index]["completions"][0]["text"]
    plain = range(1200, len(rows))
    assert not set(differing(own_values, theirs, EHR_SQL)) & set(plain)


def test_every_gold_query_of_ehrsql_2024(medhelm: Peer, real_data: Path, tmp_path: Path) -> None:
    """On the benchmark's schema without rows: what is a query to SQLite, and what is asked."""
    folder = real_data / "ehrsql2024"
    tables = json.loads((folder / "tables.json").read_text("utf-8"))[0]
    path = tmp_path / "schema.sqlite"
    connection = sqlite3.connect(path)
    for index, name in enumerate(tables["table_names_original"]):
        columns = [column for table, column in tables["column_names_original"] if table == index]
        connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
    connection.commit()
    connection.close()
    rng = chooser("ehrsql 2024")
    golds = [*json.loads((folder / "label.json").read_text("utf-8")).values()]
    rows = [
        row(rng.choice(WRAPPED[:4]).format(rng.choice([gold, rng.choice(golds)])), [gold])
        | {"extra_data": {"is_impossible": gold == "null"}}
        for gold in rng.sample(golds, 600)
    ]
    theirs = medhelm.ask("ehr_sql", database=str(path), folder=str(tmp_path), rows=rows)
    own_values = ours("ehr_sql", [state(example) for example in rows], db_path=str(path))
    for index in differing(own_values, theirs, EHR_SQL, MEDHELM):
        assert "current_time" in rows[index]["completions"][0]["text"].lower()
    assert len(rows) >= NUM_ROWS
