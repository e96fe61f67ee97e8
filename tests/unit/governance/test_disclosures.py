"""What was sent where is counted from results; a denied or imported request was not sent."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import FailureKind, RequestResult
from medhelm_spark.domain.scenario import ScenarioVersion, Verified
from medhelm_spark.domain.sending import BegunOrder
from medhelm_spark.errors import ConfigError
from medhelm_spark.governance.disclosures import Disclosure, disclosures_of, lowered_levels
from medhelm_spark.governance.render_disclosures import AT_MOST, LOWERED
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.lake.reader import open_reader
from tests.rewriting import rewritable
from tests.unit.board.planted import plant


def result(request_id: str, day: int = 1, **fields: Any) -> RequestResult:
    defaults: dict[str, Any] = {
        "model_deployment": "vendor/model",
        "access_level": AccessLevel.PUBLIC,
        "destination": "models.example.org:443",
        "locality": "external",
    }
    return RequestResult(
        request_id=request_id,
        completed_at=datetime(2026, 3, day, 12, tzinfo=UTC),
        engine_fingerprint="{}",
        **{**defaults, **fields},
    )


@pytest.fixture
def lake(tmp_path: Path) -> str:
    rows = [
        result("a"),
        result("b", failure=FailureKind.TIMEOUT),
        result("b"),
        result("c", failure=FailureKind.UNREACHABLE),
        result("d", day=2),
        result("e", failure=FailureKind.DENIED, destination=None, locality=None),
        result("f", destination=None, locality=None),
        result(
            "g",
            access_level=AccessLevel.PRIVATE,
            model_deployment="ward/model",
            destination="this job",
            locality="local",
        ),
    ]
    return str(write(tmp_path / "lake", rows))


def write(lake: Path, rows: Sequence[RequestResult]) -> Path:
    table = pa.Table.from_batches([encode_batch(RequestResult, list(rows))])
    table = table.append_column("write_id", pa.array(["w"] * len(rows)))
    write_deltalake(str(lake / "request_results"), table)
    return lake


def test_what_was_sent_is_counted_by_place_and_day(lake: str) -> None:
    vendor = {
        "access_level": AccessLevel.PUBLIC,
        "lowered_from": "",
        "model_deployment": "vendor/model",
        "destination": "models.example.org:443",
        "locality": "external",
        "run_by": "",
    }
    assert disclosures_of(open_reader(lake)) == [
        Disclosure(
            access_level=AccessLevel.PRIVATE,
            lowered_from="",
            model_deployment="ward/model",
            destination="this job",
            locality="local",
            run_by="",
            sent_on="2026-03-01",
            texts=1,
            times=1,
            answered=1,
        ),
        Disclosure(**vendor, sent_on="2026-03-01", texts=3, times=4, answered=2),
        Disclosure(**vendor, sent_on="2026-03-02", texts=1, times=1, answered=1),
    ]


def test_the_command_prints_a_table_and_json(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disclosures", "-o", lake]) == 0
    output = capsys.readouterr().out
    assert "private local this job ward/model 2026-03-01 1 - 1 1" in " ".join(output.split())
    assert "were not sent and are not here" in output
    assert AT_MOST not in output
    assert LOWERED not in output
    assert main(["disclosures", "-o", lake, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["texts"] for row in rows] == [1, 3, 1]
    assert Evaluation(lake, site=None).governance.disclosures().to_pandas()["times"].sum() == 6


@pytest.mark.attack("network", "a driver that dies between sending text outside and its commit")
def test_an_order_that_was_never_committed_is_shown_as_a_bound(
    lake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = BegunOrder(
        write_id="w",  # this one was committed
        suite="s",
        model_deployment="vendor/model",
        access_level=AccessLevel.GATED,
        locality="baa",
        destination="models.example.org:443",
        texts=1_200,
        begun_at=datetime(2026, 3, 3, 12, tzinfo=UTC),
    )
    rows = [begun, replace(begun, write_id="lost"), replace(begun, write_id="lost again", texts=3)]
    table = pa.Table.from_batches([encode_batch(BegunOrder, rows)])
    write_deltalake(str(Path(lake) / "begun_waves"), table)
    (bound,) = (row for row in disclosures_of(open_reader(lake)) if row.is_bound)
    assert (bound.texts, bound.answered, bound.sent_on) == (1_203, 0, "2026-03-03")
    assert main(["disclosures", "-o", lake]) == 0
    output = " ".join(capsys.readouterr().out.split())
    row_start = "gated baa models.example.org:443 vendor/model 2026-03-03"
    assert f"{row_start} at most 1,203 - at most 1,203 0" in output
    assert AT_MOST in output


def test_tries_that_failed_count(tmp_path: Path) -> None:
    """An older row has only how often its request was tried in all."""
    rows = [
        result("a", tries=3, attempts=5),
        result("b", failure=FailureKind.ENGINE_ERROR, tries=5, attempts=5),
        result("c", attempts=2),
    ]
    (row,) = disclosures_of(open_reader(str(write(tmp_path / "lake", rows))))
    assert (row.texts, row.times, row.answered) == (3, 3 + 5 + 2, 2)


@pytest.mark.parametrize(("in_flight", "bound"), [(8, (8, 40)), (1_000, (15, 75)), (None, None)])
def test_what_was_open_when_an_order_was_cut_short_is_a_bound(
    tmp_path: Path, in_flight: int | None, bound: tuple[int, int] | None
) -> None:
    rows = [result("a"), result("b"), result("c", failure=FailureKind.DENIED, destination=None)]
    lake = write(tmp_path / "lake", [*rows, result("d", failure=FailureKind.REJECTED), rows[0]])
    begun = BegunOrder(
        write_id="w",
        suite="s",
        model_deployment="vendor/model",
        access_level=AccessLevel.PUBLIC,
        locality="local",
        destination="models.example.org:443",
        texts=19,
        begun_at=datetime(2026, 3, 3, 12, tzinfo=UTC),
        in_flight=in_flight,
        most_tries=5,
    )
    table = pa.Table.from_batches([encode_batch(BegunOrder, [begun])])
    write_deltalake(str(lake / "begun_waves"), table)
    bounds = [row for row in disclosures_of(open_reader(str(lake))) if row.is_bound]
    assert [(row.texts, row.times) for row in bounds] == ([bound] if bound else [])


def test_a_lake_that_sent_nothing_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = write(tmp_path / "lake", [result("f", destination=None, locality=None)])
    assert main(["disclosures", "-o", str(lake)]) == 0
    assert capsys.readouterr().out == "No text of this lake was sent anywhere.\n"


def version(name: str, level: AccessLevel, source: str = "csv") -> ScenarioVersion:
    return ScenarioVersion(
        scenario_name="ward",
        data_version=name,
        card_hash="h",
        access_level=level,
        display_name="Ward",
        category="c",
        subcategory="s",
        main_metric="exact_match",
        main_split="test",
        verified=Verified.NEVER,
        num_instances=1,
        num_quarantined=0,
        source=source,
    )


def test_what_rests_on_data_that_was_lowered_on_record_is_known() -> None:
    versions = [
        version("held", AccessLevel.PRIVATE),
        version("low", AccessLevel.PUBLIC, "lowered held"),
        version("copies", AccessLevel.PUBLIC, "perturbed low"),
        version("held-copies", AccessLevel.PRIVATE, "perturbed held"),
        version("public", AccessLevel.PUBLIC, "clinic.notes"),
    ]
    levels = dict.fromkeys(("low", "copies"), AccessLevel.PRIVATE)
    assert lowered_levels(versions) == lowered_levels(reversed(versions)) == levels


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Requests of two models about three benchmarks, sent on one day."""
    return planted(tmp_path_factory.mktemp("planted"))


def planted(folder: Path) -> str:
    lake = plant(folder)
    values = {"destination": "'models.example.org:443'", "locality": "'external'", "attempts": "1"}
    rewritable(lake / "request_results").update(updates=values)
    return str(lake)


def sent(lake: str, **scope: Any) -> list[dict[str, Any]]:
    return list(Evaluation(lake, site=None).governance.disclosures(**scope).rows())


def test_texts_are_told_apart_by_suite_benchmark_release_and_day(clinic: str) -> None:
    whole = sent(clinic)
    day = date.fromisoformat(whole[0]["sent_on"])
    triage = sent(clinic, suite="s1", benchmark="triage_choice")
    assert {row["access_level"] for row in triage} == {AccessLevel.PUBLIC}
    assert 0 < sum(row["texts"] for row in triage) < sum(row["texts"] for row in whole)
    assert all(0 < row["patients"] <= row["texts"] for row in triage)
    released = sent(clinic, release="R1")
    assert 0 < sum(row["texts"] for row in released) <= sum(row["texts"] for row in triage)
    assert sent(clinic, since=day, until=day) == whole
    assert sent(clinic, since=day + timedelta(days=1)) == []
    for wrong in ({"suite": "s9"}, {"benchmark": "triage"}, {"suite": "s1", "release": "R1"}):
        with pytest.raises(ConfigError):
            sent(clinic, **wrong)
    with pytest.raises(ConfigError, match="until is"):
        sent(clinic, since=day, until=day - timedelta(days=1))


def test_a_selection_without_text_is_not_taken_for_the_lake(
    clinic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["disclosures", "-o", clinic, "--suite", "s1", "--since", "2999-01-01"]) == 0
    text = capsys.readouterr().out
    assert "was sent anywhere (suite s1, since 2999-01-01)" in text
    assert "No text of this lake" not in text


def test_patients_are_counted_once(tmp_path: Path) -> None:
    """Two texts about one patient, and the lake has no more than that."""
    lake = planted(tmp_path)
    table = rewritable(tmp_path / "instances")
    table.update(
        updates={"cluster_id": "'one patient'"}, predicate="data_version = 'triage_choice-v1'"
    )
    rows = sent(lake, benchmark="triage_choice")
    assert {row["patients"] for row in rows} == {1}
    assert any(row["texts"] > 1 for row in rows)


def test_the_command_takes_days(clinic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["disclosures", "-o", clinic, "--suite", "s1", "--since", "2020-01-01"]) == 0
    assert "Patients: distinct patients" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["disclosures", "-o", clinic, "--since", "January"])
    assert "allowed: a day as 2026-01-31" in capsys.readouterr().err
