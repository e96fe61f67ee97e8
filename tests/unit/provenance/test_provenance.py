"""Chains of provenance: every single change is named, and a rewrite of all without the key."""

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from medhelm_spark.domain.purge import Purge
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.errors import IntegrityError, MedhelmSparkError, PolicyError, ReleaseError
from medhelm_spark.lake.session import is_started
from medhelm_spark.provenance.facts import FACTS
from medhelm_spark.provenance.tables import ProvenanceRecord
from medhelm_spark.releases.keys import key_name, public_keys
from medhelm_spark.releases.status import change_status
from medhelm_spark.releases.tables import Tombstone
from medhelm_spark.releases.tombstones import hashes_of
from medhelm_spark.releases.value_hash import row_digest, values_hash
from tests.unit.provenance.made import RELEASE, SUITE, Made, Rows, public_of, write_key


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("signed")
    return Made.at(folder / "made", signing_key=str(write_key(folder / "site.pem")))


@pytest.fixture
def made(signed: Made, tmp_path: Path) -> Made:
    """A copy of the release, by a site that has no key."""
    copied = signed.copied(tmp_path / "copy")
    copied.set()
    return copied


@pytest.fixture
def own(tmp_path: Path) -> Made:
    """The same, with the folder of its share."""
    return Made.at(tmp_path / "made")


def cell(name: str, value: object, at: int = 0) -> Callable[[Rows], Rows]:
    """One cell of one row."""

    def edit(rows: Rows) -> Rows:
        assert rows[at][name] != value
        rows[at][name] = value
        return rows

    return edit


def swapped(*names: str) -> Callable[[Rows], Rows]:
    """These cells of the first row and of the last one with others, exchanged."""

    def edit(rows: Rows) -> Rows:
        first, last = rows[0], next(row for row in rows[::-1] if row[names[0]] != rows[0][names[0]])
        for name in names:
            first[name], last[name] = last[name], first[name]
        return rows

    return edit


def without(position: int) -> Callable[[Rows], Rows]:
    return lambda rows: [row for row in rows if row["position"] != position]


def of_record(position: int, **values: Any) -> Callable[[Rows], Rows]:
    def edit(rows: Rows) -> Rows:
        (row,) = [row for row in rows if row["position"] == position]
        row.update(values)
        return rows

    return edit


def of_facts(rows: Rows) -> Rows:
    row = next(row for row in rows if row["kind"] == "run")
    row["facts"] = [(key, "eve" if key == "ran_by" else value) for key, value in row["facts"]]
    return rows


def of_status(status: str, **values: Any) -> Callable[[Rows], Rows]:
    return lambda rows: [{**row, **(values if row["to_status"] == status else {})} for row in rows]


def first_gone(rows: Rows) -> Rows:
    return rows[1:]


CHANGES: dict[str, tuple[str, Callable[[Rows], Rows], str]] = {
    "a_cell_of_stats": ("stats", cell("mean", 0.123), "stats of"),
    "a_cell_of_the_copy_of_stats": ("release_stats", cell("mean", 0.123), "release_stats of"),
    "a_row_of_stats_deleted": ("stats", first_gone, "stats of"),
    "a_score": ("per_instance_stats", cell("instance_id", "x"), "per_instance_stats of"),
    "a_copied_score_deleted": ("release_scores", first_gone, "release_scores of"),
    "a_result": ("request_results", cell("attempts", 9), "request_results of"),
    "a_result_deleted": ("request_results", first_gone, "request_results of"),
    "two_answers_swapped": ("request_results", swapped("completions"), "request_results of"),
    "a_prompt": ("prompts", cell("text", "Answer yes."), "prompts of"),
    "an_instance": ("instances", cell("input", "another"), "instances of"),
    "a_request_deleted": ("requests", first_gone, "requests of"),
    "a_plan": ("run_specs", cell("locality", "external"), "run_specs of"),
    "a_field_of_the_manifest": ("release_manifests", cell("made_by", "eve"), "releases"),
    "a_member": ("releases", cell("suite", "other"), "releases"),
    "a_member_deleted": ("releases", first_gone, "releases"),
    "a_field_of_a_record": ("provenance", of_facts, "record 1 of provenance"),
    "who_wrote_a_record": (
        "provenance",
        of_record(2, made_by="eve"),
        "record 2 of provenance",
    ),
    "a_record_removed_from_the_middle": ("provenance", without(3), "record 3 of provenance (gone)"),
    "the_last_record_removed": ("provenance", without(5), "approved by bob"),
    "two_records_swapped": ("provenance", swapped("position"), "of provenance ("),
    "an_approval": (
        "release_changes",
        of_status("approved", changed_by="carol"),
        "release_changes: approved",
    ),
    "an_approval_deleted": (
        "release_changes",
        lambda rows: [row for row in rows if row["to_status"] != "approved"],
        "release_changes: approved",
    ),
    "a_decision": ("policy_decisions", cell("rule", "another"), "policy_decisions of"),
    "a_decision_deleted": ("policy_decisions", first_gone, "policy_decisions of"),
}


@pytest.mark.attack("releases", "one change in a table, in the chain, an approval or a decision")
@pytest.mark.parametrize("change", CHANGES)
def test_every_single_change_is_named(made: Made, change: str) -> None:
    table, edit, named = CHANGES[change]
    made.edit(table, edit)
    with pytest.raises(IntegrityError) as refused:
        made.verified()
    assert named in str(refused.value)
    assert "eve" not in str(refused.value), "no value is in an error"
    assert not is_started()


@pytest.mark.attack("releases", "bytes of a file of a share, or of a table")
@pytest.mark.parametrize("kind", ["share", "manifest_of_a_share", "table"])
def test_changed_bytes_of_a_file_are_named(own: Made, kind: str) -> None:
    files = {
        "share": (own.folder / "share").glob("*-results.csv"),
        "manifest_of_a_share": (own.folder / "share").glob("manifest.json"),
        "table": (own.lake / "release_scores").glob("*.parquet"),
    }
    (path, *_) = sorted(files[kind])
    content = bytearray(path.read_bytes())
    offsets = range(8, 40) if kind == "table" else (len(content) // 3,)
    for offset in offsets:
        content[offset] ^= 0xFF
    path.write_bytes(bytes(content))
    if kind == "table":
        with pytest.raises(MedhelmSparkError, match="release_"):
            own.verified()
        return
    assert own.verified().endswith("every value is as published (integrity only)")
    (message,) = [line for line in own.messages if "is not as it was made" in line]
    assert path.name in message and "The release is not affected" in message


def test_a_file_that_is_too_many_in_a_share_is_named(own: Made) -> None:
    (own.folder / "share" / "extra.txt").touch()
    own.verified()
    assert any(
        "extra.txt" in line and "do not hand this folder on" in line for line in own.messages
    )
    with pytest.raises(IntegrityError, match=r"extra\.txt"):
        own.evaluation.sharing.verify(own.folder / "share")


def test_a_share_that_was_made_again_in_the_same_folder_is_as_it_was_made(own: Made) -> None:
    share = own.folder / "share"
    shutil.rmtree(share)
    own.evaluation.sharing.share(RELEASE, "board", share)
    own.verified()
    assert not any("is not as it was made" in line for line in own.messages)


def linked(path: Path, to: str) -> None:
    path.unlink()
    path.symlink_to(to)


NO_FILES: dict[str, Callable[[Path], object]] = {
    "a link to nothing": lambda path: linked(path, "/nowhere"),
    "a link to itself": lambda path: linked(path, path.name),
    "a link to the same bytes": lambda path: path.symlink_to(
        path.rename(path.parents[1] / "elsewhere")
    ),
    "a pipe": lambda path: os.mkfifo(path.with_name("pipe")),
    "an empty folder": lambda path: path.with_name("Mrs Brown of ward 7").mkdir(),
}


@pytest.mark.attack("releases", "a link, a pipe or an empty folder among the files of a share")
@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_in_a_share_is_named(own: Made, kind: str) -> None:
    share = own.folder / "share"
    (page,) = share.glob("*-report.html")
    NO_FILES[kind](page)
    assert own.verified().endswith("every value is as published (integrity only)")
    (message,) = [line for line in own.messages if "is not as it was made" in line]
    wrong = {"a pipe": "pipe", "an empty folder": "Mrs Brown of ward 7"}.get(kind, page.name)
    assert f": {wrong}. The release is not affected" in message
    with pytest.raises(IntegrityError, match="not as it was made"):
        own.evaluation.sharing.verify(share)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\udcff", '{"share": "a", "files": ["b"]}'])
def test_a_manifest_that_is_none_is_refused(own: Made, text: str) -> None:
    share = own.folder / "share"
    (share / "manifest.json").write_text(text, errors="surrogateescape")
    with pytest.raises(PolicyError, match="it is no share"):
        own.evaluation.sharing.verify(share)
    own.verified()
    assert any("share: manifest.json. The release" in line for line in own.messages)


def in_log(made: Made, table: str) -> None:
    """Say of each file in Delta's log that it has other runs."""
    for commit in (made.lake / table / "_delta_log").glob("*.json"):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        for action in actions:
            if encoded := action.get("add", {}).get("stats"):
                stats = json.loads(encoded)
                for ends in (stats["minValues"], stats["maxValues"]):
                    ends |= {name: "zz" for name in ends if name != "write_id"}
                action["add"]["stats"] = json.dumps(stats)
        commit.write_text("".join(json.dumps(action) + "\n" for action in actions))


def in_footers(made: Made, table: str) -> None:
    """Say the same in the Parquet files."""
    for path in (made.lake / table).glob("*.parquet"):
        group, content = pq.ParquetFile(path).metadata.row_group(0), path.read_bytes()
        columns = [group.column(index) for index in range(group.num_columns)]
        (found,) = [each for each in columns if each.path_in_schema == "run_spec_id"]
        size = int.from_bytes(content[-8:-4], "little") + 8
        footer = content[-size:]
        for end in (found.statistics.min, found.statistics.max):
            footer = footer.replace(end.encode(), b"z" * len(end))
        path.write_bytes(content[:-size] + footer)


def without_scored(made: Made, table: str) -> None:
    made.edit(table, lambda rows: [row for row in rows if row["stage"] != "score"])


UNREAD: dict[str, tuple[str, Callable[[Made, str], None]]] = {
    "statistics in Delta's log": ("release_scores", in_log),
    "statistics in Parquet files": ("release_scores", in_footers),
    "the ledger's statistics": ("runs", in_log),
    "rows of the ledger": ("runs", without_scored),
}


@pytest.mark.attack("releases", "scores hidden from boards by Delta's log, footers or the ledger")
@pytest.mark.parametrize("change", UNREAD)
def test_scores_that_boards_no_longer_read_are_named(made: Made, change: str) -> None:
    table, hide = UNREAD[change]
    assert made.evaluation.compare(release=RELEASE).pairs
    hide(made, table)
    assert not made.evaluation.compare(release=RELEASE).pairs
    with pytest.raises(IntegrityError, match="boards read 0 of 12, by the table runs or"):
        made.verified()


BESIDE: dict[str, tuple[str, Callable[[Rows], Rows], str]] = {
    "to_whom_a_share_went": ("shares", cell("audience", "press"), "shares: share-"),
    "who_made_a_share": ("shares", cell("made_by", "eve"), "shares: share-"),
    "a_share_deleted": ("shares", first_gone, "is changed or gone"),
    "the_agreement_of_a_purge": ("purges", cell("agreement", "another"), "purges: p1"),
    "a_purge_deleted": ("purges", first_gone, "purges: p1"),
}


@pytest.mark.attack("releases", "one change of a share or a purge on record")
@pytest.mark.parametrize("change", BESIDE)
def test_every_change_of_a_share_or_a_purge_is_named(made: Made, change: str) -> None:
    made.purged()
    assert made.verified().endswith("(integrity only)")
    table, edit, named = BESIDE[change]
    made.edit(table, edit)
    with pytest.raises(IntegrityError, match="recorded beside it is not") as refused:
        made.verified()
    assert named in str(refused.value) and "eve" not in str(refused.value)


@pytest.mark.attack("releases", "a share written into the table that nobody made")
def test_a_share_without_a_record_is_named(made: Made) -> None:
    made.edit("shares", lambda rows: [*rows, {**rows[0], "share": "share-forged"}])
    with pytest.raises(IntegrityError, match="shares: share-forged is not in the chain"):
        made.verified()


def test_a_release_whose_chain_has_no_shares_verifies_as_before(made: Made) -> None:
    made.edit("provenance", without(6))
    assert made.verified().endswith("(integrity only)")


def test_a_share_by_who_has_no_key_leaves_a_signed_release_signed(signed: Made, made: Made) -> None:
    public = made.folder / "public.pem"
    public.write_bytes(public_of(signed.folder.parent / "site.pem"))
    made.set(verify_keys=str(public))
    made.evaluation.sharing.share(RELEASE, "board", made.folder / "second")
    assert made.verified().endswith("up to record 6 of 7)")


@pytest.mark.attack("releases", "a rating that a release's agreement rests on, or a judge card")
@pytest.mark.parametrize("change", ["value", "deleted", "backdated", "card"])
def test_changed_ratings_and_cards_behind_a_release_are_named(tmp_path: Path, change: str) -> None:
    made = Made.planned(tmp_path / "made")
    made.rated()
    made.evaluation.releases.publish(RELEASE, SUITE)
    assert made.verified().endswith("(integrity only)")
    made.rated(later=True)
    assert made.verified().endswith("(integrity only)"), "later ratings are none of the release"
    made.edit("ratings", cell("comment", "[purged]"))
    assert made.verified().endswith("(integrity only)"), "a purge removes comments"
    edits: dict[str, tuple[str, Callable[[Rows], Rows]]] = {
        "value": ("ratings", lambda rows: [{**row, "value": 1.0} for row in rows]),
        "deleted": ("ratings", lambda rows: []),
        "backdated": (
            "ratings",
            lambda rows: [{**row, "rated_at": rows[0]["rated_at"]} for row in rows],
        ),
        "card": ("judge_cards", cell("trusted", ["release"])),
    }
    table, edit = edits[change]
    made.edit(table, edit)
    with pytest.raises(IntegrityError, match=f"{table} of "):
        made.verified()


def test_what_is_as_it_was_says_what_that_is_worth(signed: Made, made: Made) -> None:
    (key,) = {row.signed_by for row in signed.rows("provenance", ProvenanceRecord)}
    assert signed.verified().endswith(f"every value is as published (signed by key {key})")
    assert made.verified().endswith("every value is as published (integrity only)")


@pytest.mark.attack("releases", "table, hashes, manifest and the whole chain rewritten")
def test_a_rewrite_of_table_and_chain_is_named_where_there_is_a_key(
    signed: Made, made: Made
) -> None:
    made.rewrite()
    assert made.verified().endswith("(integrity only)"), "nobody can see it without a key"
    public = made.folder / "public.pem"
    public.write_bytes(public_of(signed.folder.parent / "site.pem"))
    made.set(verify_keys=str(public))
    with pytest.raises(IntegrityError, match="which no key of this site signed"):
        made.verified()


@pytest.mark.attack("releases", "the whole chain rewritten and signed by another key")
def test_another_key_signs_for_nobody(signed: Made, made: Made, tmp_path: Path) -> None:
    public = tmp_path / "public.pem"
    public.write_bytes(public_of(signed.folder.parent / "site.pem"))
    made.rewrite()
    made.set(signing_key=str(write_key(tmp_path / "own.pem")))
    made.evaluation.provenance.seal(RELEASE)
    made.set(verify_keys=str(public))
    with pytest.raises(IntegrityError, match="by a key that is not known"):
        made.verified()


@pytest.mark.attack("releases", "the chain rewritten where its end is anchored outside the lake")
def test_an_anchored_record_that_is_gone_is_named(made: Made, tmp_path: Path) -> None:
    made.set(anchor_file=str(tmp_path / "anchors.jsonl"))
    made.step(ReleaseStatus.PUBLISHED, "bob")
    assert made.verified().endswith(f"(anchored in {tmp_path / 'anchors.jsonl'})")
    made.edit("provenance", without(7))
    made.edit(
        "release_changes",
        lambda rows: [row for row in rows if row["to_status"] != "published"],
    )
    with pytest.raises(IntegrityError, match=r"names record .* its end removed"):
        made.verified()


def test_a_record_says_what_a_run_came_from(signed: Made) -> None:
    rows = list(signed.evaluation.provenance.records(RELEASE).rows())
    facts = {row["fact"]: row["value"] for row in rows if row["record"] == 1}
    assert {*FACTS, "rows.prompts", "rows.stats", "rows.request_results"} <= set(facts)
    assert facts["model"] == "ward/no, ward/no"
    assert facts["cost"].endswith(" s")
    assert facts["counts"].startswith("answered 12")
    assert int(facts["decisions"].split()[0]) >= 1
    assert len(facts["code"]) == len(facts["lock"]) == 64
    assert [row["name"] for row in rows if row["fact"] == "change"] == [
        "draft",
        "in review",
        "approved",
    ]


def test_a_command_that_was_killed_is_finished_by_the_same_command(tmp_path: Path) -> None:
    made = Made.at(tmp_path / "made")
    before = made.rows("provenance", ProvenanceRecord)
    made.evaluation.releases.publish(RELEASE, "first")
    assert made.rows("provenance", ProvenanceRecord) == before, "nothing is recorded twice"
    workspace = made.evaluation._workspace
    change_status(workspace.context("", is_in_process=True), RELEASE, ReleaseStatus.WITHDRAWN)
    with pytest.raises(IntegrityError, match=r"withdrawn by .*not in the chain"):
        made.verified()
    made.evaluation.releases.withdraw(RELEASE, reason="a wrong key")
    assert len(made.rows("provenance", ProvenanceRecord)) == len(before) + 1
    assert made.verified().endswith("(integrity only)")
    assert [row.to_status for row in made.evaluation.releases.show(RELEASE).changes].count(
        ReleaseStatus.WITHDRAWN
    ) == 1


@pytest.mark.attack("releases", "a status written into the table, then recorded by the next one")
def test_no_command_records_a_status_that_it_did_not_give(made: Made) -> None:
    made.edit(
        "release_changes",
        lambda rows: [
            *rows,
            {
                **rows[-1],
                "from_status": "approved",
                "to_status": "published",
                "changed_by": "eve",
                "changed_at": max(row["changed_at"] for row in rows).replace(year=2099),
            },
        ],
    )
    with pytest.raises(ReleaseError, match="no record of an earlier status: published"):
        made.evaluation.releases.withdraw(RELEASE, reason="forged")


def test_a_release_without_the_key_is_signed_as_it_is(made: Made, tmp_path: Path) -> None:
    made.edit(
        "provenance",
        lambda rows: [{**row, "signature": None, "signed_by": None} for row in rows],
    )
    key = write_key(tmp_path / "site.pem")
    made.set(signing_key=str(key))
    with pytest.raises(IntegrityError, match="made before the site had a key") as refused:
        made.verified()
    assert "`release seal r1` signs the release as it is" in str(refused.value)
    assert "restore the lake" not in str(refused.value)
    made.evaluation.provenance.seal(RELEASE)
    made.evaluation.provenance.seal(RELEASE)
    assert len(made.rows("provenance", ProvenanceRecord)) == 7, "sealed once"
    public = tmp_path / "public.pem"
    public.write_bytes(public_of(key))
    (name,) = map(key_name, public_keys(str(public), "a test"))
    assert made.verified().endswith(f"(signed by key {name})")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing", "an existing file"),
        ("no_key", "no private Ed25519 key"),
        ("readable", "others may use"),
        ("in_the_lake", "lies in the lake"),
    ],
)
def test_a_wrong_key_is_refused_before_anything_is_recorded(
    made: Made, tmp_path: Path, kind: str, message: str
) -> None:
    path = (made.lake if kind == "in_the_lake" else tmp_path) / "key.pem"
    if kind == "no_key":
        path.write_text("-----BEGIN PRIVATE KEY-----\n")
        path.chmod(0o600)
    elif kind != "missing":
        write_key(path).chmod(0o644 if kind == "readable" else 0o600)
    made.set(signing_key=str(path))
    with pytest.raises(MedhelmSparkError, match=message):
        made.evaluation.releases.withdraw(RELEASE, reason="x")
    assert made.evaluation.releases.show(RELEASE).status is ReleaseStatus.APPROVED


def renamed(made: Made) -> list[Tombstone]:
    """Swap the models of the two runs; the tombstones that would hide it."""
    before = made.rows("run_specs", SuiteRun)

    def swap(rows: Rows) -> Rows:
        names = [row["run_spec"]["model_deployment"] for row in rows]
        for row, name in zip(rows, reversed(names), strict=True):
            row["run_spec"]["model_deployment"] = row["run_spec"]["model"] = name
        return rows

    made.edit("run_specs", swap)
    old = {row.run_spec_id: row_digest(row) for row in before}
    return [
        Tombstone(
            purge_id="forged",
            table_name="run_specs",
            unit=row.run_spec_id,
            row_write_id="",
            digest=old[row.run_spec_id],
            replaced_by=row_digest(row),
        )
        for row in made.rows("run_specs", SuiteRun)
    ]


PURGES = {
    "no purge": (None, "changed since: run_specs of"),
    "a purge of other tombstones": ({"run_specs": "0" * 64}, "changed since: run_specs of"),
    "a purge with other tables": ({}, "changed since: run_specs of"),
    "a purge that no record has": ("theirs", "purges: forged is not in the chain"),
}


@pytest.mark.parametrize("purge", PURGES)
def test_tombstones_that_no_purge_recorded_replace_nothing(made: Made, purge: str) -> None:
    tombstones, message = PURGES[purge]
    made.edit("provenance", without(6))  # a chain without shares, as of an earlier version
    stones = renamed(made)
    made._append("tombstones", stones)
    if tombstones is not None:
        hashes = {"run_specs": values_hash(stones)} if tombstones == "theirs" else tombstones
        made._append("purges", [purge_of(hashes)])
    with pytest.raises(IntegrityError, match=message):
        made.verified()


def test_tombstones_of_a_purge_of_an_earlier_version_are_named_as_unproven(made: Made) -> None:
    made._append("tombstones", renamed(made))
    made._append("purges", [purge_of(None)])
    made.record()
    assert made.verified().endswith("(integrity only)")
    assert "purge forged of 'Cases': no record has the hash of its tombstones" in " ".join(
        made.messages
    )


def test_tombstones_of_a_recorded_purge_replace_digests(made: Made) -> None:
    stones = renamed(made)
    made._append("tombstones", stones)
    made._append("purges", [purge_of({"run_specs": values_hash(stones)})])
    made.record()
    made.verified()
    assert "no record has the hash" not in " ".join(made.messages)
    ctx = made.evaluation._workspace.context("", is_in_process=True)
    assert hashes_of(ctx, purge_of(None)) == {"run_specs": values_hash(stones)}


def purge_of(tombstones: dict[str, str] | None) -> Purge:
    at = datetime.now(UTC)
    return Purge(
        purge_id="forged",
        scenario_name="Cases",
        agreement="DUA 7",
        begun_at=at,
        purged_by="ada",
        finished_at=at,
        tombstones=tombstones,
    )
