"""The level follows the data: what is private stays private by whatever way it comes again."""

from dataclasses import replace

import pytest
import yaml

from medhelm_spark import Entries, Evaluation
from medhelm_spark.cli import main
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.level_change import Approval
from medhelm_spark.domain.policy import PolicyTrust
from medhelm_spark.errors import PolicyError
from medhelm_spark.governance.declassification import lowered
from medhelm_spark.lake.user import this_user
from medhelm_spark.pipeline.prepare import Prepared, prepare
from medhelm_spark.pipeline.resolve import resolve
from medhelm_spark.stages.infer.stage import infer
from medhelm_spark.stages.ingest.ingested import Ingested
from medhelm_spark.workspace.workspace import Workspace
from tests.cards import NOTES
from tests.rewriting import rewritable
from tests.spark.conftest import PUBLIC, Site, calls, questions
from tests.spark.notes import card, ingest

REFUSED = 1
PRIVATE = {"private"}


def levels(site: Site, table: str, **where: str) -> set[str]:
    rows = site.rows(table)
    return {
        row["access_level"]
        for row in rows
        if all(row[key] == value for key, value in where.items())
    }


def command(site: Site, *arguments: str) -> int:
    flags = ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]
    return main([*arguments, *flags])


@pytest.mark.attack("levels", "a benchmark.yaml edited from private to public after ingest")
@pytest.mark.attack("levels", "private rows among others, in another order, under another name")
@pytest.mark.attack("levels", "the lake's own table of instances as the data of a public card")
def test_content_that_the_lake_holds_keeps_its_level_until_it_is_lowered_on_record(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = site.folder / "sent.log"
    outside = site.deploy("acme/outside", locality="external", text="yes", log_file=str(sent))
    inside = site.deploy("acme/inside", text="yes")
    rows = questions(4)
    private = site.benchmark("ward", rows, access_level="private")
    assert site.run("-r", f"{private},model={inside}", command="plan") == 0
    data_versions = {row["data_version"] for row in site.rows("scenarios")}

    edited = site.benchmark("ward", rows, access_level="public")
    assert site.run("-r", f"{edited},model={outside}") == REFUSED
    stderr = capsys.readouterr().err
    assert "ward is said to be public, but the lake has the text of 4 of its records" in stderr
    assert {row["data_version"] for row in site.rows("scenarios")} == data_versions

    more = [{"id": "new", "question": "More?", "correct_answer": "no"}, *rows[::-1]]
    other = site.benchmark("other", more, access_level="public")
    assert site.run("-r", f"{other},model={outside}") == REFUSED
    assert levels(site, "instances") == PRIVATE

    own = {**NOTES["fields"], "id": "instance_id", "context": "input", "question": "input"}
    card(site, fields={**own, "reference": "scenario_name"})
    assert ingest(site, f"table:delta.`{site.lake_path / 'instances'}`") == 0
    assert levels(site, "instances", scenario_name="notes") == PRIVATE
    assert levels(site, "scenarios") == PRIVATE

    lower = ["level", "lower", "--scenario", "ward", "--to", "public", "--reason", "made up"]
    assert command(site, *lower) == 0
    stderr = capsys.readouterr().err
    assert "unreviewed" in stderr
    (change,) = site.rows("level_changes")
    (line,) = yaml.safe_load(stderr.partition("approves it: ")[2].splitlines()[0])
    assert line == {
        "scenario_name": "ward",
        "data_version": change["data_version"],
        "to_level": "public",
        "approved_by": "NAME",
    }
    assert (change["from_level"], change["to_level"], change["reason"]) == (
        "private",
        "public",
        "made up",
    )
    assert change["changed_by"] and not change["reviewed"] and change["approved_by"] is None
    assert {change["data_version"]} == data_versions
    assert site.run("-r", f"{edited},model={outside}") == REFUSED
    assert site.run("-r", f"{edited},model={inside}", command="plan") == 0
    assert levels(site, "requests") == PRIVATE
    assert not calls(sent)

    (version,) = data_versions
    base = Ingested(data_version=version, splits={"test": 4}, access_level=AccessLevel.PRIVATE)
    ctx = Workspace(str(site.lake_path), None, spark=site.spark).context("s")
    by_self = _approval(version, change["changed_by"])
    assert lowered(ctx, {"ward": base}, [by_self])["ward"].is_unreviewed
    done = lowered(ctx, {"ward": base}, [_approval(version, "the privacy officer")])["ward"]
    assert (done.access_level, done.is_unreviewed) == (AccessLevel.PUBLIC, False)
    assert "ward counts as public, not private: lowered on record" in capsys.readouterr().err
    assert levels(site, "instances", data_version=done.data_version) == {"public"}
    assert levels(site, "instances", data_version=version) == PRIVATE


@pytest.mark.attack(
    "levels", "an approved lowering of a scenario's data, used for other data of it"
)
def test_an_approved_lowering_holds_for_its_data_whatever_the_card_says(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = site.deploy("acme/outside", locality="external", text="yes")
    inside = site.deploy("acme/inside", text="yes")
    bench = site.benchmark("ward", questions(3), access_level="private")
    entry = f"{bench},model={outside}"
    assert site.run("-r", entry, command="plan") == REFUSED
    assert not site.rows("instances"), "refused before it was read"
    assert site.run("-r", f"{bench},model={inside}", command="plan") == 0
    (version,) = {row["data_version"] for row in site.rows("scenarios")}
    lower = ["level", "lower", "--scenario", "ward", "--to", "public", "--reason", "made up"]
    assert command(site, *lower) == 0
    with pytest.raises(PolicyError, match="may not see private text"):
        _prepare(site, entry)

    approval = _approval(version, "the privacy officer")
    prepared = _prepare(site, entry, approval)
    assert prepared.levels == {"ward": AccessLevel.PUBLIC}
    (spec,) = prepared.specs
    assert spec.access_level is AccessLevel.PUBLIC
    assert infer(prepared.ctx, [spec.run_spec_id], prepared.models) == 3
    assert levels(site, "request_results") == {"public"}
    (sent,) = Evaluation(site.lake_path, spark=site.spark).governance.disclosures().disclosed
    assert (sent.access_level, sent.lowered_from, sent.texts) == ("public", "private", 3)
    assert sent.run_by == this_user()
    assert {row["run_by"] for row in site.rows("policy_decisions")} == {this_user()}

    site.benchmark("ward", questions(4), access_level="public")
    capsys.readouterr()
    prompts = len(site.rows("prompts"))
    with pytest.raises(PolicyError, match="may not see private text"):
        _prepare(site, entry, approval)
    stderr = capsys.readouterr().err
    assert "is read as private, and counts as less only where the approved lowering" in stderr
    assert "stays private" not in stderr
    assert len(site.rows("prompts")) == prompts


def _prepare(site: Site, entry: str, *approvals: Approval) -> Prepared:
    """What a run comes to under a binding policy with these approvals."""
    folder = site.folder / "prod_env"
    workspace = Workspace(str(site.lake_path), folder, spark=site.spark)
    policy = replace(
        workspace.registry.policy, standing=PolicyTrust.BINDING, approvals=tuple(approvals)
    )
    workspace.registry = replace(workspace.registry, policy=policy)
    return prepare(resolve(workspace, Entries(run_entries=[entry]).load(folder)), "s")


def _approval(version: str, by: str) -> Approval:
    return Approval(
        scenario_name="ward",
        data_version=version,
        to_level=AccessLevel.PUBLIC,
        approved_by=by,
    )


@pytest.mark.attack("levels", "a table whose rows are private, as few-shot examples of public ones")
@pytest.mark.attack(
    "levels", "requests and prompts rewritten to public where instances are private"
)
def test_what_is_derived_takes_the_strictest_level_of_what_it_is_made_of(site: Site) -> None:
    model = site.deploy("acme/inside", text="yes")
    fields = {**NOTES["fields"], "split": "split"}
    adapter = {"method": "generation", "max_train_instances": 1}
    card(site, fields=fields, adapter_spec=adapter)
    site.spark.sql("CREATE SCHEMA ward")
    try:
        site.spark.sql(
            "CREATE TABLE ward.notes USING delta AS SELECT * FROM VALUES "
            "('a', 'A note.', 'What?', 'yes', 'train', 'private'), "
            "('b', 'Another.', 'What?', 'yes', 'test', 'public') "
            "AS t(case, note, question, answer, split, access_level)"
        )
        arguments = ["-r", f"notes:model={model}", "--source", "table:ward.notes", *PUBLIC]
        assert site.run(*arguments, command="plan") == 0
        assert levels(site, "instances", split="train") == PRIVATE
        assert levels(site, "instances", split="test") == {"public"}
        assert levels(site, "prompts") == levels(site, "requests") == PRIVATE
        assert levels(site, "policy_decisions") == PRIVATE
        (spec,) = (row["run_spec"] for row in site.rows("run_specs"))
        assert spec["access_level"] == "private"
        (version,) = site.rows("scenarios")
        assert (version["access_level"], bool(version["level_stated_by"])) == ("private", True)
        for table, split in (("requests", ""), ("prompts", ""), ("instances", "private")):
            level = split or "public"
            rewritable(site.lake_path / table).update({"access_level": f"'{level}'"})
        assert site.run(*arguments) == 0
        assert levels(site, "request_results") == PRIVATE
    finally:
        site.spark.sql("DROP SCHEMA ward CASCADE")


@pytest.mark.attack("levels", "private rows that were ingested as public before")
def test_public_data_that_turns_out_to_be_private_is_read_again_as_private(site: Site) -> None:
    outside = site.deploy("acme/outside", locality="external", text="yes")
    card(site)
    rows = questions(2)
    own = [{"case": r["id"], "note": "N", "question": r["question"], "answer": "yes"} for r in rows]
    lines = [",".join(own[0]), *(",".join(row.values()) for row in own)]
    (site.folder / "notes.csv").write_text("\n".join(lines) + "\n")
    entry = f"notes:model={outside}"
    assert site.run("-r", entry, command="plan") == 0
    assert levels(site, "instances") == {"public"}
    (site.folder / "ward.csv").write_text("\n".join([lines[0], lines[2]]) + "\n")
    source_flags = ["--source", "ward.csv", "--access-level", "private"]
    assert command(site, "ingest", "--scenario", "notes", *source_flags) == 0
    assert site.run("-r", entry, command="plan") == REFUSED
    assert levels(site, "scenarios") == {"public", "private"}
    (newest,) = {
        row["access_level"] for row in site.rows("instances") if row["source_id"] == own[0]["case"]
    } - {"public"}
    assert newest == "private"
