"""A release is shared: what leaves, what stops it, and what two shares have in common."""

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from medhelm_spark import Evaluation
from medhelm_spark.domain.policy import Audience, ShareContent
from medhelm_spark.errors import ConfigError, IntegrityError, PolicyError, UnknownNameError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.sharing.scan import LookedFor, scan
from medhelm_spark.sharing.scanned import unscanned
from tests.spark.conftest import Site

CANARY = "zebra canary stands in the ward and nobody may ever carry it outside again"
AUDIENCES = {
    "board": {"content": "aggregates"},
    "research": {"content": "scores", "decimals": 1, "record_numbers": [r"\bQX-\d{4}\b"]},
    "public": {"content": "texts"},
}


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory: pytest.TempPathFactory, spark) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("sharing"), spark)
    for text in ("yes", "no"):
        site.deploy(f"acme/{text}", text=text)
    private = [
        {
            "id": f"w{index}",
            "question": f"{CANARY} {index}?",
            "correct_answer": "yes" if index % 3 else "no",
        }
        for index in range(40)
    ]
    public = [
        {
            "id": f"o{index}",
            "question": f"Is {index} an even number, written to ann@example.org?",
            "correct_answer": "yes",
        }
        for index in range(12)
    ]
    runs = [
        f"{entry},model=acme/{text}"
        for entry in (
            site.benchmark("ward", private, access_level="private"),
            site.benchmark("open", public),
        )
        for text in ("yes", "no")
    ]
    assert site.run("-r", *runs, "-m", "40") == 0
    policy = {"audiences": [{"name": name, **rules} for name, rules in AUDIENCES.items()]}
    (site.folder / "prod_env" / "policy.yaml").write_text(yaml.safe_dump(policy))
    open_evaluation(site).releases.publish("r1", "s")
    yield site


def open_evaluation(site: Site) -> Evaluation:
    return Evaluation(
        site.lake_path, site=site.folder / "prod_env", tracking=False, say=lambda line: None
    )


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def table_of(folder: Path, name: str) -> list[dict[str, object]]:
    (path,) = folder.glob(f"*-{name}.parquet")
    return pq.read_table(path).to_pylist()


@pytest.mark.attack("sharing", "private text in any file of a share of aggregates")
def test_aggregates_are_the_releases_numbers_and_no_text_leaves(
    shared_site: Site, tmp_path: Path
) -> None:
    share_result = open_evaluation(shared_site).sharing.share("r1", "board", tmp_path / "out")
    assert share_result.share.num_texts > 80
    board = json.loads(open_evaluation(shared_site).board(release="r1").render("json"))
    means = {(c["model_deployment"], c["scenario_name"]): c["mean"] for c in board["cells"]}
    rows = [row for row in table_of(tmp_path / "out", "results") if row["is_main"]]
    assert {(row["model"], row["scenario"]): row["mean"] for row in rows} == means
    files = files_of(tmp_path / "out")
    assert {name.rpartition("-")[2] for name in files} == {
        *("manifest.json", "report.html", "results.csv", "results.parquet")
    }
    (report,) = (data.decode() for name, data in files.items() if name.endswith("-report.html"))
    assert "Results of release r1" in report
    rounded_means = [f"{row['mean']:.3f}" for row in rows if row["mean"] is not None]
    assert rounded_means
    assert all(f"<td>{mean} [" in report for mean in rounded_means)
    assert not any(b"zebra" in data or b"example.org" in data for data in files.values())
    manifest = json.loads(files["manifest.json"])
    assert manifest["scan"]["matches_of_texts"] == 0
    assert "no certificate" in manifest["scan"]["what_it_is"]


@pytest.mark.attack("sharing", "an instance of private data found by its scores in a share")
def test_scores_are_rounded_and_nobody_is_alone_with_theirs(
    shared_site: Site, tmp_path: Path
) -> None:
    share_result = open_evaluation(shared_site).sharing.share("r1", "research", tmp_path / "out")
    rows = table_of(tmp_path / "out", "scores")
    by_item: dict[object, list[tuple[object, ...]]] = {}
    for row in rows:
        if row["scenario"] == "ward":
            by_item.setdefault(row["item"], []).append((row["model"], row["metric"], row["value"]))
    kinds = [tuple(sorted(values)) for values in by_item.values()]
    assert kinds
    assert all(kinds.count(kind) > 1 for kind in kinds)
    assert [row["item"] for row in rows] == sorted(row["item"] for row in rows)
    lake = open_reader(str(shared_site.lake_path))
    ids = {
        row["instance_id"] for row in lake.query("SELECT instance_id FROM {instances}").to_pylist()
    }
    assert not ids & {row["item"] for row in rows}
    assert share_result.share.content == "scores"


def test_data_of_few_instances_has_no_scores(shared_site: Site, tmp_path: Path) -> None:
    policy = shared_site.folder / "prod_env" / "policy.yaml"
    before = policy.read_text()
    policy.write_text(yaml.safe_dump({**yaml.safe_load(before), "small_cells": {"minimum": 41}}))
    try:
        share_result = open_evaluation(shared_site).sharing.share(
            "r1", "research", tmp_path / "out"
        )
    finally:
        policy.write_text(before)
    assert {row["scenario"] for row in table_of(tmp_path / "out", "scores")} == {"open"}
    assert dict(share_result.left_out) == {"ward": 40}
    hidden = [row for row in table_of(tmp_path / "out", "results") if row["is_hidden"]]
    assert {row["scenario"] for row in hidden} == {"ward"}
    assert all(row["mean"] is None for row in hidden)


@pytest.mark.attack("sharing", "rows of two shares linked by id, hash, order or file name")
def test_two_shares_have_no_id_hash_order_or_file_name_in_common(
    shared_site: Site, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        open_evaluation(shared_site).sharing.share("r1", "research", tmp_path / name)
    manifests = [
        json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("one", "two")
    ]
    names, hashes = (
        [{file[key] for file in manifest["files"]} for manifest in manifests]
        for key in ("name", "sha256")
    )
    assert not names[0] & names[1]
    assert not hashes[0] & hashes[1]
    rows = [table_of(tmp_path / name, "scores") for name in ("one", "two")]
    assert not {row["item"] for row in rows[0]} & {row["item"] for row in rows[1]}
    orders = [[(row["model"], row["metric"], row["value"]) for row in each] for each in rows]
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


def test_a_pattern_blocks_until_somebody_answers_for_it(shared_site: Site, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(PolicyError) as raised:
        open_evaluation(shared_site).sharing.share("r1", "public", out)
    assert "column input, row 1: email address" in str(raised.value)
    assert "example" not in str(raised.value)
    assert not out.exists()
    assert not list(tmp_path.glob(".out*"))
    path = tmp_path / "out-matches.yaml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert b"example" not in path.read_bytes()
    waiver_file = yaml.safe_load(path.read_text())
    assert len(waiver_file["waivers"]) == 12
    with pytest.raises(ConfigError, match="waiver 1: approver is empty"):
        open_evaluation(shared_site).sharing.share("r1", "public", out, waivers=path)
    for waiver in waiver_file["waivers"]:
        waiver |= {"approver": "ann", "reason": "made up"}
    first, *others = waiver_file["waivers"]
    path.write_text(yaml.safe_dump({**waiver_file, "waivers": others}))
    with pytest.raises(PolicyError, match="email address"):
        open_evaluation(shared_site).sharing.share("r1", "public", out, waivers=path)
    (remaining,) = yaml.safe_load((tmp_path / "out-matches-2.yaml").read_text())["waivers"]
    assert remaining["match"] == first["match"]
    unused = {**first, "column": "answer"}
    path.write_text(yaml.safe_dump({**waiver_file, "waivers": [*waiver_file["waivers"], unused]}))
    open_evaluation(shared_site).sharing.share("r1", "public", out, waivers=path)
    rows = table_of(out, "texts")
    assert {row["scenario"] for row in rows} == {"open"}
    assert {row["answer"] for row in rows} == {"yes", "no"}
    scan_record = json.loads((out / "manifest.json").read_text())["scan"]
    assert len(scan_record["waived"]) == 12
    assert {(each["approver"], each["column"]) for each in scan_record["waived"]} == {
        ("ann", "input")
    }
    assert scan_record["matches_of_patterns"] == sum(
        each["matches"] for each in scan_record["waived"]
    )
    canonical = json.dumps({k: v for k, v in scan_record.items() if k != "sha256"}, sort_keys=True)
    assert scan_record["sha256"] == sha256(canonical.encode()).hexdigest()


@pytest.mark.attack(
    "sharing", "private text or a record number in a waiver, which the manifest has"
)
@pytest.mark.parametrize(
    ("reason", "kind"),
    [(CANARY, "text of instances"), ("for QX-0042", "record number 1")],
    ids=["text", "record number"],
)
def test_what_a_waiver_says_is_scanned(
    shared_site: Site, tmp_path: Path, reason: str, kind: str
) -> None:
    path = tmp_path / "waivers.yaml"
    waiver = {"table": "texts", "column": "input", "pattern": "date", "match": "*"}
    path.write_text(yaml.safe_dump({"waivers": [{**waiver, "approver": "ann", "reason": reason}]}))
    with pytest.raises(PolicyError, match=rf"manifest.json, column scan.waived.reason.*{kind}"):
        open_evaluation(shared_site).sharing.share("r1", "research", tmp_path / "out", waivers=path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("planted.csv", f"column\n{CANARY} 7?\n"),
        ("planted.json", json.dumps({"deep": [{"text": f"x {CANARY.upper()} 7?"}]})),
        ("planted.html", f"<p>{CANARY.replace(' ', '  ')}</p>"),
        ("tags.html", f"<p>{CANARY.replace(' ', '</b> <b>')}</p>"),
        ("attribute.html", f'<img alt="{CANARY.replace("ward", "&#119;ard")}">'),
        (f"{CANARY}.csv", "column\n1\n"),
    ],
)
@pytest.mark.attack("sharing", "private text planted in each kind of file, and in file names")
def test_text_of_private_rows_is_found_wherever_it_stands(
    shared_site: Site, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    scan_result = scan(tmp_path, open_reader(str(shared_site.lake_path)))
    assert {leak.kind for leak in scan_result.leaks if leak.is_text} >= {"text of instances"}
    assert {leak.file for leak in scan_result.leaks if leak.is_text} == {name}
    assert "zebra" not in " ".join(leak.kind + leak.column for leak in scan_result.leaks)


@pytest.mark.attack("sharing", "a record number of the site in a column of a share")
def test_a_record_number_of_the_site_is_found_in_any_column(
    shared_site: Site, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("name\nmodel QX-0042\n")
    scan_result = scan(
        tmp_path,
        open_reader(str(shared_site.lake_path)),
        LookedFor(record_numbers=[r"\bQX-\d{4}\b"]),
    )
    assert "a.csv, column name, row 1: record number 1" in map(str, scan_result.leaks)


@pytest.mark.attack("sharing", "a share of aggregates where the gate asks for a scan of the text")
def test_a_share_is_on_record_and_a_changed_file_is_named(
    shared_site: Site, tmp_path: Path
) -> None:
    sharing = open_evaluation(shared_site).sharing
    share_result = sharing.share("r1", "board", tmp_path / "out")
    release_details = open_evaluation(shared_site).releases.show("r1")
    assert share_result.share.release_manifest == release_details.manifest_hash
    lake = open_reader(str(shared_site.lake_path))
    board = Audience(name="board", content=ShareContent.AGGREGATES)
    text = Audience(name="public", content=ShareContent.TEXTS)
    policy = open_evaluation(shared_site)._workspace.registry.policy
    assert not unscanned(lake, release_details.manifest_hash, replace(policy, audiences=(board,)))
    # A scan of aggregates alone is none of the text that another audience gets.
    other = replace(text, name="other")
    refused = unscanned(
        lake, release_details.manifest_hash, replace(policy, audiences=(board, other))
    )
    assert "no share of it for other (texts) passed the scan" in refused
    assert sharing.verify(tmp_path / "out").share == share_result.share.share
    assert share_result.share.share in {row.share for row in sharing.list().shares}
    (path,) = (tmp_path / "out").glob("*.csv")
    path.write_text(path.read_text().replace("0.", "1."))
    with pytest.raises(IntegrityError, match=path.name):
        sharing.verify(tmp_path / "out")


@pytest.mark.attack("sharing", "a share for an audience that the policy does not name")
def test_what_the_policy_does_not_name_is_refused(shared_site: Site, tmp_path: Path) -> None:
    sharing = open_evaluation(shared_site).sharing
    with pytest.raises(UnknownNameError, match="Did you mean 'board'"):
        sharing.share("r1", "bord", tmp_path / "out")
    (tmp_path / "there").mkdir()
    with pytest.raises(PolicyError, match="is there already"):
        sharing.share("r1", "board", tmp_path / "there")
    alone = Evaluation(shared_site.lake_path, site=None, tracking=False, say=lambda line: None)
    with pytest.raises(PolicyError, match="audiences names nobody"):
        alone.sharing.share("r1", "board", tmp_path / "out")
