"""EHRSQL: both rules on a small ward by hand, and every gold query of EHRSQL-2024 on its schema."""

import json
import sqlite3
from pathlib import Path

import pytest

from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import AbsentDataError, ConfigError, SetupError
from medhelm_spark.metrics import METRICS
from medhelm_spark.metrics.ehr_sql import DATABASE_VARIABLE
from medhelm_spark.metrics.ehr_sql_text import query_in, resolved
from tests.unit.metrics.states import correct, state

EHR_SQL = METRICS["ehr_sql"]
NOW = "2105-12-31 23:59:00"
STAYS = [
    (1, "2103-05-01 08:00:00", 90.0),
    (1, "2105-12-30 08:00:00", 96.5),
    (2, "2105-12-31 08:00:00", 98.0),
]


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three stays of two patients."""
    path = tmp_path_factory.mktemp("ward") / "ward.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE stay (patient INTEGER, admitted TEXT, sao2 REAL)")
    connection.executemany("INSERT INTO stay VALUES (?, ?, ?)", STAYS)
    connection.commit()
    connection.close()
    return path


def scores(ward, gold, answer, *, impossible="", **params):
    found = state(answer, correct(gold), extra_data={"is_impossible": impossible})
    (row,) = EHR_SQL.fn([found], {"db_path": str(ward), **params})
    return {score.name.removeprefix("ehr_sql_"): score.value for score in row}


def accuracy(ward, gold, answer, **params):
    values = scores(ward, gold, answer, **params)
    return values["execution_accuracy"], values["execution_accuracy@medhelm-0.8"]


PATIENTS = "SELECT patient FROM stay"
LAST_YEAR = "SELECT count(*) FROM stay WHERE admitted >= datetime(current_time, '-1 year')"
NORMAL = "SELECT count(*) FROM stay WHERE sao2 BETWEEN sao2_lower AND sao2_upper"
NOBODY = "SELECT patient FROM stay WHERE patient = 9"


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        # Ours, then MedHELM's.
        (PATIENTS, PATIENTS, (1, 1)),
        (PATIENTS, "SELECT patient FROM stay ORDER BY admitted DESC;", (1, 1)),
        (PATIENTS, "SELECT sao2 FROM stay", (0, 0)),
        (PATIENTS, "SELECT patient, sao2 FROM stay", (0, 0)),
        ("SELECT 2", "SELECT 2.0", (1, 1)),
        ("SELECT 0.3", "SELECT 0.1 + 0.2", (1, 0)),
        ("SELECT 0.3", "SELECT 0.31", (0, 0)),
        ("SELECT NULL", "SELECT NULL", (1, 1)),
        ("SELECT 1", "SELECT '1'", (0, 0)),
        # A patient listed twice is another result than once; two sets would be equal.
        ("SELECT DISTINCT patient FROM stay", PATIENTS, (0, 1)),
        # Two queries without rows agree; MedHELM gives 0.
        (NOBODY, "SELECT patient FROM stay WHERE patient = 10", (1, 0)),
        (NOBODY, PATIENTS, (0, 0)),
        (PATIENTS, NOBODY, (0, 0)),
        # MedHELM replaces current_time in the gold query alone.
        (LAST_YEAR, LAST_YEAR, (1, 0)),
        (LAST_YEAR, "SELECT 2", (1, 1)),
        # The authors' lower-cased year is no format of SQLite, which gives NULL for it.
        (
            "select count(*) from stay where strftime('%y', admitted) = '2105'",
            "SELECT COUNT(*) FROM stay WHERE strftime('%Y', admitted) = '2105'",
            (1, 0),
        ),
        (NORMAL, "SELECT 2", (1, 0)),
        (PATIENTS, "SELECT nothing FROM stay", (0, 0)),
        (PATIENTS, "The patients are 1 and 2.", (0, 0)),
        (PATIENTS, "DROP TABLE stay", (0, 0)),
        (PATIENTS, "", (0, 0)),
        # To MedHELM no query is right where the result is empty.
        (NOBODY, "", (0, 1)),
    ],
)
def test_results_are_compared_by_both_rules(ward, gold, answer, expected):
    assert accuracy(ward, gold, answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "<sql>{}</sql>",
        "Sure: <SQL> {}; </SQL> That is all.",
        "```sql\n{}\n```",
        "```\n{};\n```",
        "Here it is:\n```sqlite\n{}\n```\nIt lists all patients.",
        "```{}```",
        "{} ;\n",
    ],
)
def test_the_query_of_an_answer(ward, answer):
    assert query_in(answer.format(PATIENTS)) == PATIENTS
    assert accuracy(ward, PATIENTS, answer.format(PATIENTS))[0] == 1


@pytest.mark.parametrize("answer", ["", ";", "null", "NULL;", "<sql></sql>", "```sql\nnull\n```"])
def test_no_query(answer):
    assert query_in(answer) == ""


def test_notation_inside_texts_is_left_alone():
    query = "SELECT 'current_time', '%y', t.current_time, current_timestamp, x LIKE '%y'"
    assert resolved(query, NOW) == query
    assert resolved("strftime ( '%j', CURRENT_TIME )", NOW) == f"strftime ( '%J', '{NOW}' )"
    assert resolved("heart_rate_lower + mean_bp_upper", NOW) == "60.0 + 110.0"


def test_every_stat_of_an_answerable_question(ward):
    assert scores(ward, PATIENTS, PATIENTS) == {
        "execution_accuracy": 1,
        "query_validity": 1,
        "precision_answerable": 1,
        "recall_answerable": 1,
        "total_predicted_answerable": 1,
        "total_ground_truth_answerable": 1,
        "reliability_10": 1,
        "execution_accuracy@medhelm-0.8": 1,
        "query_validity@medhelm-0.8": 1,
        "precision_answerable@medhelm-0.8": 1,
        "recall_answerable@medhelm-0.8": 1,
        "total_predicted_answerable@medhelm-0.8": 1,
    }
    wrong = scores(ward, PATIENTS, "SELECT nothing FROM stay")
    assert (wrong["query_validity"], wrong["reliability_10"]) == (0, -10)
    none = scores(ward, PATIENTS, "null")
    assert (none["query_validity"], none["precision_answerable"]) == (None, None)
    assert (none["recall_answerable"], none["reliability_10"]) == (0, 0)


@pytest.mark.parametrize(
    ("gold", "impossible"), [("null", ""), ("NULL", "false"), (PATIENTS, "True")]
)
def test_an_unanswerable_question_wants_no_query(ward, gold, impossible):
    right = scores(ward, gold, "null", impossible=impossible)
    assert (right["execution_accuracy"], right["reliability_10"]) == (1, 1)
    assert (right["recall_answerable"], right["total_ground_truth_answerable"]) == (None, 0)
    wrong = scores(ward, gold, PATIENTS, impossible=impossible)
    assert (wrong["execution_accuracy"], wrong["reliability_10"]) == (0, -10)
    assert (wrong["query_validity"], wrong["precision_answerable"]) == (1, 0)


def test_precision_and_recall_are_ratios_and_medhelms_are_not(ward):
    # Of three answerable questions two get a query, of one unanswerable question one does.
    pairs = [(PATIENTS, PATIENTS), (PATIENTS, NOBODY), (PATIENTS, ""), ("null", PATIENTS)]
    states = [
        state(answer, correct(gold), extra_data={"is_impossible": str(gold == "null")})
        for gold, answer in pairs
    ]
    rows = EHR_SQL.fn(states, {"db_path": str(ward)})
    values = {column[0].name: [s.value for s in column] for column in zip(*rows, strict=True)}
    assert values["ehr_sql_precision_answerable"] == [1, 1, None, 0]
    assert values["ehr_sql_recall_answerable"] == [1, 1, 0, None]
    assert values["ehr_sql_precision_answerable@medhelm-0.8"] == [1, 1, 0, 0]
    assert values["ehr_sql_recall_answerable@medhelm-0.8"] == [1, 1, 0, 0]
    assert values["ehr_sql_execution_accuracy"] == [1, 0, 0, 0]


def test_a_gold_query_without_result_is_no_reference(ward):
    for gold, params in (("SELECT nothing FROM stay", {}), (PATIENTS, {"max_rows": "2"})):
        (row,) = EHR_SQL.fn([state(PATIENTS, correct(gold))], {"db_path": str(ward), **params})
        absent = {score.name for score in row if score.status is ScoreStatus.NO_REFERENCE}
        assert absent == {"ehr_sql_execution_accuracy", "ehr_sql_reliability_10"}


def test_what_the_sandbox_stops_is_valid_to_medhelm_alone(ward):
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    endless = f"{numbers} SELECT count(*) FROM n"
    for answer in ("DELETE FROM stay", endless):
        values = scores(ward, PATIENTS, answer, max_steps="100000")
        assert (values["query_validity"], values["query_validity@medhelm-0.8"]) == (0, 1)
    assert accuracy(ward, "SELECT count(*) FROM stay", "SELECT 3") == (1, 1)


def test_current_time_is_a_param(ward):
    assert accuracy(ward, LAST_YEAR, "SELECT 3", current_time="2104-01-01 00:00:00")[0] == 1


def test_no_value_without_reference(ward):
    (row,) = EHR_SQL.fn([state(PATIENTS)], {"db_path": str(ward)})
    assert {(score.value, score.status) for score in row} == {(None, ScoreStatus.NO_REFERENCE)}


def test_database_and_limits_are_checked_before_any_model_is_asked(ward, monkeypatch):
    monkeypatch.delenv(DATABASE_VARIABLE, raising=False)
    args = {"db_path": str(ward)}
    EHR_SQL.preflight({**args, "max_seconds": "0.5"})
    with pytest.raises(SetupError, match=r"absent\.sqlite"):
        EHR_SQL.preflight({"db_path": str(ward.parent / "absent.sqlite")})
    for wrong in ({"max_rows": "0"}, {"max_steps": "many"}, {"max_seconds": "nan"}):
        with pytest.raises(ConfigError, match="positive"):
            EHR_SQL.preflight({**args, **wrong})
    with pytest.raises(AbsentDataError, match="no database"):
        EHR_SQL.preflight({})


def test_the_database_may_stand_in_the_environment_and_never_in_the_data(ward, monkeypatch):
    scored_state = state(PATIENTS, correct(PATIENTS), extra_data={"db_path": str(ward)})
    monkeypatch.delenv(DATABASE_VARIABLE, raising=False)
    with pytest.raises(AbsentDataError, match="no database"):
        EHR_SQL.fn([scored_state], {})
    monkeypatch.setenv(DATABASE_VARIABLE, str(ward))
    EHR_SQL.preflight({})
    (row,) = EHR_SQL.fn([scored_state], {})
    assert row[0].value == 1


@pytest.fixture(scope="module")
def hospital(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The schema of EHRSQL-2024, with three rows in each table; its records are not public."""
    (schema,) = json.loads((real_data / "ehrsql2024" / "tables.json").read_text("utf-8"))
    path = tmp_path_factory.mktemp("hospital") / "mimic_iv.sqlite"
    connection = sqlite3.connect(path)
    for number, table in enumerate(schema["table_names_original"]):
        columns = [name for owner, name in schema["column_names_original"] if owner == number]
        connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        marks = ", ".join("?" * len(columns))
        rows = [[f"21{year:02d}-01-01 00:00:00"] * len(columns) for year in range(3)]
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    connection.commit()
    connection.close()
    return path


def test_all_real_gold_queries_run_and_are_right(real_data: Path, hospital: Path):
    gold = json.loads((real_data / "ehrsql2024" / "label.json").read_text("utf-8"))
    states = [state(query, correct(query)) for query in gold.values()]
    params = {"db_path": str(hospital), "current_time": "2100-12-31 23:59:00"}
    rows = EHR_SQL.fn(states, params)
    values = {column[0].name: [s.value for s in column] for column in zip(*rows, strict=True)}
    assert values["ehr_sql_execution_accuracy"] == [1] * 1167
    assert values["ehr_sql_reliability_10"] == [1] * 1167
    assert sum(values["ehr_sql_total_ground_truth_answerable"]) == 1167 - 233
    assert values["ehr_sql_query_validity"].count(1) == 1167 - 233
    assert values["ehr_sql_query_validity"].count(None) == 233
