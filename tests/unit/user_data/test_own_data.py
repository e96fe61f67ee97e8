"""`--source` with `--columns`: a person's own data under their own names."""

from pathlib import Path

import pytest

from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.errors import ConfigError, DataError, UnknownNameError
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.medhelm.suites import load_suite
from medhelm_spark.scenarios import required_columns
from medhelm_spark.user_data.own_data import (
    OwnData,
    by_scenario,
    check_order,
    check_sources,
    own_data,
    parse_columns,
    replaced,
    suite_sources,
)
from tests.unit.runs import expand_one
from tests.unit.scenarios.cards import instances, write_csv

REGISTRY = load_site()
CARD = REGISTRY.cards["shc_ent_med"]


def test_columns_are_read_under_the_names_that_the_source_has(tmp_path: Path) -> None:
    rows = [["label", "ask", "note"], ["B", "Was ENT asked?", "No."], ["", "Dropped?", "Yes."]]
    path = write_csv(tmp_path / "mine.csv", rows)
    own = own_data([str(path)], parse_columns("prompt=ask,context=note"))
    (found,) = instances(replaced(CARD, own))
    assert "Question: Was ENT asked?\n\nText: No.\n" in found.input
    assert [one.text for one in found.references if one.is_correct] == ["B"]


def test_a_column_that_is_absent_is_named_as_the_source_should_have_it(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "mine.csv", [["label", "ask"], ["A", "q"]])
    scenario = replaced(CARD, own_data([str(path)], parse_columns("prompt=ask,context=note")))
    with pytest.raises(DataError, match=r"needs column 'note'; .* needed are among its 2 columns"):
        instances(scenario)


def test_a_table_has_names_of_its_own_too() -> None:
    scenario = replaced(CARD, own_data("table:clinic.notes", {"label": "outcome"}))
    assert (scenario.source.table, scenario.source.files) == ("clinic.notes", ())
    assert required_columns(scenario) == ("outcome", "prompt", "context")


def test_a_table_gives_no_order_to_take_instances_in(tmp_path: Path) -> None:
    entry = "shc_ent_med:sampling={},model=huggingface/smollm2-135m-instruct"
    table = own_data(["table:clinic.notes"])
    for order in ("medhelm", "source"):
        run = expand_one(REGISTRY, entry.format(order))
        with pytest.raises(ConfigError, match=f"takes the order {order}, and the rows of table"):
            check_order(run, table)
        path = write_csv(tmp_path / "mine.csv", [["label"], ["B"]])
        check_order(run, own_data([str(path)]))
    check_order(expand_one(REGISTRY, entry.format("hash")), table)


def test_without_a_source_the_card_stays() -> None:
    assert own_data([]) is None
    assert replaced(CARD, None) is CARD
    assert own_data("a.csv") == OwnData(paths=["a.csv"])


@pytest.mark.parametrize("columns", ["prompt", "=x", "prompt=", "prompt=a,,", "prompt=''"])
def test_names_that_are_none(columns: str) -> None:
    with pytest.raises(ConfigError, match="allowed: NAME=COLUMN,NAME=COLUMN"):
        parse_columns(columns)


def test_names_without_a_source() -> None:
    with pytest.raises(ConfigError, match=r"source \(--source\), which is not given"):
        own_data([], {"prompt": "ask"})


def test_paths_are_taken_as_paths_and_alone(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "mine.csv", [["label", "prompt", "context"], ["B", "q", "c"]])
    for value in (path, [path], str(path), OwnData(paths=path), OwnData(paths=str(path))):
        own = own_data(value)
        assert own is not None
        (found,) = instances(replaced(CARD, own))
        assert "Text: c" in found.input


def test_names_of_columns_are_said_once() -> None:
    for source in (OwnData(paths="a.csv"), {"bench": OwnData(paths="a.csv")}):
        with pytest.raises(ConfigError, match="OwnData, which has columns of its own"):
            by_scenario(source, {"a": "b"}, ())


def runs_of(*entries: str) -> list[ResolvedRun]:
    return [
        expand_one(REGISTRY, f"{entry}:model=huggingface/smollm2-135m-instruct")
        for entry in entries
    ]


def test_several_scenarios_have_data_of_their_own_by_name(tmp_path: Path) -> None:
    runs = runs_of("shc_ent_med", "pubmed_qa")
    own_path = str(tmp_path / "year=2024.csv")
    found = by_scenario(
        ["shc_ent_med=a.csv", "pubmed_qa=b.csv", f"shc_ent_med={own_path}"], {}, runs
    )
    assert {name: own.locations for name, own in found.items()} == {
        "shc_ent_med": ("a.csv", own_path),
        "pubmed_qa": ("b.csv",),
    }
    assert by_scenario([own_path], {}, runs[:1])["shc_ent_med"].locations == (own_path,)
    with pytest.raises(ConfigError, match="write NAME=FILE, once for each"):
        by_scenario(["a.csv", "pubmed_qa=b.csv"], {}, runs)
    with pytest.raises(UnknownNameError, match="shc_ent_mad"):
        by_scenario(["shc_ent_mad=a.csv"], {}, runs)
    with pytest.raises(ConfigError, match="names those of one source, and there are 2"):
        by_scenario(["shc_ent_med=a.csv", "pubmed_qa=b.csv"], {"label": "x"}, runs)
    with pytest.raises(UnknownNameError, match="med_qa"):
        check_sources({"med_qa": OwnData(paths="a.csv")}, runs)


def test_what_is_said_of_a_file_holds_for_a_cards_own_data(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes("label^prompt^context\nB^Łódź?^No.\n".encode("cp1250"))
    (found,) = instances(
        replaced(CARD, OwnData(paths=[path], separator="^", encoding="Windows-1250"))
    )
    assert "Question: Łódź?" in found.input
    with pytest.raises(ConfigError, match="separator is 'xx'; allowed: one character"):
        replaced(CARD, OwnData(paths=[path], separator="xx"))


def test_a_suite_file_names_data_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("label,ask,context\nB,q?,No.\n")
    (tmp_path / "own.yaml").write_text(
        "description: Ours.\nrun_entries: [shc_ent_med, pubmed_qa]\nsources:\n"
        "  shc_ent_med: {paths: [mine.csv], columns: {prompt: ask}, access_level: private}\n"
        "  pubmed_qa: table:clinic.questions\n"
    )
    suite, _ = load_suite(str(tmp_path / "own.yaml"))
    sources = suite_sources(suite.sources)
    assert sources["pubmed_qa"].locations == ("table:clinic.questions",)
    (found,) = instances(replaced(CARD, sources["shc_ent_med"]))
    assert "Question: q?" in found.input
    (tmp_path / "mine.csv").unlink()
    with pytest.raises(ConfigError, match=r"sources names 'mine\.csv', and there is no such file"):
        load_suite(str(tmp_path / "own.yaml"))
