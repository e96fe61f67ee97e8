"""Text that the lake stores as private is recognised, however it comes and is written."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.level_change import Approval
from medhelm_spark.domain.policy import PolicyTrust
from medhelm_spark.medhelm_results.import_results import import_results
from medhelm_spark.workspace.workspace import Workspace
from tests.helm_folder import run_spec, stat, state, values, write_run
from tests.spark.conftest import Site
from tests.spark.test_levels import command, levels

Row = dict[str, str]
NOTE = "Patient {} came at night with a cough of three weeks, a fever of 38.5 and a rash."
ASKED = "Read the whole of the letter below with care and reply with yes or no and nothing else."


def rows(many: int, **more: str) -> list[Row]:
    return [
        {"id": str(i), "note": NOTE.format(i), "question": f"Is it {i}?", "correct_answer": "yes"}
        | more
        for i in range(many)
    ]


def planned(site: Site, name: str, data: list[Row], level: str, template: str = "{note}") -> int:
    model = site.deploy("acme/inside", text="yes")
    entry = site.benchmark(name, data, template=template, access_level=level)
    return site.run("-r", f"{entry},model={model}", command="plan")


def full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


SPELLINGS: dict[str, Callable[[Row], Row]] = {
    "one full stop more": lambda row: {**row, "note": row["note"] + "."},
    "zero-width marks": lambda row: {**row, "note": row["note"].replace("i", "\u200bi\u2060")},
    "a soft hyphen in each word": lambda row: {**row, "note": row["note"].replace("e", "e\u00ad")},
    "capitals of full width": lambda row: {**row, "note": full_width(row["note"].upper())},
    "quotes, dashes, new lines": lambda row: {
        **row,
        "note": f"\u201c{row['note']}\u201d".replace(" ", " \u2013\n"),
    },
    "a row as one JSON column": lambda row: {"note": json.dumps(row), "correct_answer": "no"},
    "a row in a list in JSON in JSON": lambda row: {
        "note": json.dumps({"rows": json.dumps([[row["note"]]])}),
        "correct_answer": "no",
    },
    "an object as Python prints it": lambda row: {"note": f"See {row}.", "correct_answer": "no"},
}


@pytest.mark.attack("levels", "private text with a mark more, in other signs, in a JSON column")
def test_private_text_in_another_spelling_stays_private(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    letters = rows(3)
    assert planned(site, "WARD", letters, "private") == 0
    capsys.readouterr()
    for number, (kind, spell) in enumerate(SPELLINGS.items()):
        other = [{"id": row["id"], "question": "-"} | spell(row) for row in letters]
        assert planned(site, f"OTHER{number}", other, "public") == 0
        stderr = capsys.readouterr().err
        assert f"OTHER{number} is said to be public, but the lake has the text of 3" in stderr, kind
        assert "medhelm-spark level lower records another level" in stderr
        assert levels(site, "instances", scenario_name=f"OTHER{number}") == {"private"}, kind
    unlike = [{**row, "note": row["note"][::-1]} for row in rows(3)]
    assert planned(site, "UNLIKE", unlike, "public") == 0
    assert levels(site, "instances", scenario_name="UNLIKE") == {"public"}


def test_what_most_rows_of_private_data_share_raises_nothing(site: Site) -> None:
    assert planned(site, "WARD", rows(12, asked=ASKED), "private", "{asked} {note}") == 0
    own = [{**row, "note": f"A made-up case, number {row['id']}"} for row in rows(4, asked=ASKED)]
    assert planned(site, "OTHER", own, "public", "{asked} {note}") == 0
    assert levels(site, "instances", scenario_name="OTHER") == {"public"}
    # One note of the twelve, though many rows of the other data share it, is no boilerplate.
    note = rows(1)[0]["note"]
    shared = [{**row, "note": note} for row in rows(12, asked=ASKED)]
    assert planned(site, "SHARED", shared, "public", "{asked} {question} {note}") == 0
    assert levels(site, "instances", scenario_name="SHARED") == {"private"}


@pytest.mark.attack("levels", "import-helm of private notes under the name of a public scenario")
@pytest.mark.attack("levels", "import-helm of private notes with --access-level public")
@pytest.mark.parametrize("level_flags", [(), ("--access-level", "public")])
@pytest.mark.parametrize("where", ["instance", "prompt"])
def test_imported_results_keep_the_level_at_which_the_lake_holds_their_text(
    site: Site, capsys: pytest.CaptureFixture[str], level_flags: tuple[str, ...], where: str
) -> None:
    assert planned(site, "WARD", rows(3), "private") == 0
    write_pubmed(site, where)
    folder = str(site.folder / "helm")
    assert site.run(folder, *level_flags, command="import-helm", suite="official") == 0
    stderr = capsys.readouterr().err
    assert "pubmed_qa is said to be public, but the lake has the text of 3 of its" in stderr
    assert "medhelm-spark level lower records another level" in stderr
    for table in ("instances", "prompts", "requests", "request_results"):
        assert levels(site, table) == {"private"}, table
    if where == "instance" and level_flags:
        lowered_once_approved(site, folder)


def write_pubmed(site: Site, where: str) -> None:
    states = []
    for i, row in enumerate(rows(3)):
        shown = row["note"].upper() if where == "instance" else f"Abstract {i}"
        states.append(state(f"id{i}", text=shown))
        states[-1]["request"]["prompt"] = row["note"] + "!" if where == "prompt" else shown
    spec = run_spec(
        "pubmed_qa:model=acme_one",
        scenario_spec={
            "class_name": "helm.benchmark.scenarios.pubmed_qa_scenario.PubMedQAScenario"
        },
        groups=["pubmed_qa"],
    )
    write_run(
        site.folder / "helm",
        name=spec["name"],
        spec=spec,
        states=states,
        per_instance_stats=[values(f"id{i}", exact_match=1.0) for i in range(3)],
        stats=[stat("exact_match", 1.0), stat("num_instances", 3)],
    )


def lowered_once_approved(site: Site, folder: str) -> None:
    """A lowering of just this data, recorded and approved by somebody else, answers it."""
    lower = ["level", "lower", "--scenario", "pubmed_qa", "--to", "public", "--reason", "made up"]
    assert command(site, *lower) == 0
    (change,) = site.rows("level_changes")
    for version, level in (("another", "private"), (change["data_version"], "public")):
        approval = Approval(
            scenario_name="pubmed_qa",
            data_version=version,
            to_level=AccessLevel.PUBLIC,
            approved_by="the privacy officer",
        )
        workspace = Workspace(str(site.lake_path), site.folder / "prod_env", spark=site.spark)
        policy = replace(
            workspace.registry.policy, standing=PolicyTrust.BINDING, approvals=(approval,)
        )
        workspace.registry = replace(workspace.registry, policy=policy)
        import_result = import_results(workspace, folder, "again", access_level=AccessLevel.PUBLIC)
        assert bool(import_result.imported) == (level == "public")
    assert levels(site, "scenarios", scenario_name="pubmed_qa") == {"private", "public"}
