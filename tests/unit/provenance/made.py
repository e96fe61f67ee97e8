"""A release with its chain, made without Spark, and somebody who may write the lake's files."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from deltalake import DeltaTable, write_deltalake

from medhelm_spark import Evaluation
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.purge import Purge
from medhelm_spark.domain.release import ReleaseChange, ReleaseManifest, ReleaseStatus
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.domain.sign_off import SignOff
from medhelm_spark.judge_checks.tables import JudgeCard
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.rows import arrow_of
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.provenance.chain import ChainEntry, follow
from medhelm_spark.provenance.chained import CHANGE, ROW, record
from medhelm_spark.provenance.facts import rows_of
from medhelm_spark.provenance.tables import ProvenanceRecord, RecordKind
from medhelm_spark.ratings.tables import Rating
from medhelm_spark.releases.commands import keep
from medhelm_spark.releases.pinned import read_release
from medhelm_spark.releases.status import change_status
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.releases.value_hash import manifest_hash, row_digest
from medhelm_spark.sharing.tables import ReleaseShare
from tests.rewriting import rewritable

RELEASE, SUITE = "r1", "first"
POLICY = {"audiences": [{"name": "board", "content": "aggregates"}]}
BENCHMARK = {
    "name": "Cases",
    "description": "Made for a test.",
    "access_level": "public",
    "prompt_file": "prompt.txt",
    "dataset_file": "data.csv",
    "metrics": [{"name": "exact_match"}],
}

Rows = list[dict[str, Any]]


def write_key(path: Path) -> Path:
    """A private Ed25519 key, as openssl writes one."""
    made = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(made)
    path.chmod(0o600)
    return path


def public_of(path: Path) -> bytes:
    """The public key of such a file, as PEM."""
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


class Made:
    """A folder with benchmark, site, lake and a share; models are the shipped baselines."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lake, self.site = folder, folder / "lake", folder / "site"

    @classmethod
    def at(cls, folder: Path, **settings: str) -> "Made":
        """Two runs of a suite, released and submitted, approved by bob, and shared."""
        made = cls.planned(folder, **settings)
        here = made.evaluation
        here.releases.publish(RELEASE, SUITE)
        here.releases.submit(RELEASE)
        made.step(ReleaseStatus.APPROVED, "bob")
        here.sharing.share(RELEASE, "board", folder / "share")
        return made

    @classmethod
    def planned(cls, folder: Path, **settings: str) -> "Made":
        """Two runs of a suite."""
        made = cls(folder)
        made.site.mkdir(parents=True)
        rows = "".join(f"Case {index}?,{'yes' if index % 2 else 'no'}\n" for index in range(12))
        (folder / "data.csv").write_text(f"question,correct_answer\n{rows}")
        (folder / "prompt.txt").write_text("{question}\nAnswer yes or no:")
        (folder / "benchmark.yaml").write_text(yaml.safe_dump(BENCHMARK))
        (made.site / "policy.yaml").write_text(yaml.safe_dump(POLICY))
        made.set(**settings)
        names = ("yes", "no")
        models = [
            {
                "name": f"ward/{text}",
                "engine": "canned",
                "locality": "local",
                "client_spec": {"args": {"text": text}},
            }
            for text in names
        ]
        (made.site / "model_deployments.yaml").write_text(
            yaml.safe_dump({"model_deployments": models})
        )
        entry = f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"
        made.evaluation.run([f"{entry},model=ward/{name}" for name in names], suite=SUITE)
        return made

    def set(self, **settings: str) -> None:
        (self.site / "settings.yaml").write_text(yaml.safe_dump(settings or {"spark": {}}))

    def copied(self, folder: Path) -> "Made":
        """The same in another folder."""
        shutil.copytree(self.folder, folder)
        return Made(folder)

    @property
    def evaluation(self) -> Evaluation:
        return Evaluation(self.lake, site=self.site, tracking=False, say=self.messages.append)

    @property
    def messages(self) -> list[str]:
        return self.__dict__.setdefault("_said", [])

    def step(self, to: ReleaseStatus, user: str, note: str = "", **fields: Any) -> None:
        """A status by another user of the operating system, with more of a SignOff's fields."""
        workspace = self.evaluation._workspace
        ctx = replace(workspace.context("", is_in_process=True), user=user)
        keep(workspace, ctx, change_status(ctx, RELEASE, to, SignOff(note=note, **fields)))

    def record(self) -> None:
        """Record the shares and purges that have no record."""
        workspace = self.evaluation._workspace
        record(workspace, workspace.context("", is_in_process=True))

    def purged(self) -> None:
        """A purge on record, begun and finished."""
        begun = Purge(
            purge_id="p1",
            scenario_name="Notes",
            agreement="DUA 7",
            begun_at=datetime.now(UTC),
            purged_by="ada",
        )
        self._append("purges", [begun, replace(begun, finished_at=datetime.now(UTC))])
        self.record()

    def rated(self, *, later: bool = False) -> None:
        """A rating of an answer of each run, and a card of a jury on the scenario."""
        planned = self.rows("run_specs", SuiteRun)
        ratings = [
            Rating(
                run_spec_id=run.run_spec_id,
                instance_id="i1",
                trial_index=0,
                rater="rater-1",
                criterion="accuracy",
                value=4 + later,
                comment="well said",
                access_level=AccessLevel.PUBLIC,
                rated_at=datetime.now(UTC),
                source="queue",
            )
            for run in planned
        ]
        self._append("ratings", ratings)
        if later:
            return
        card = JudgeCard(
            card_id="c1",
            check_id="k1",
            suite=SUITE,
            scenario_name=planned[0].run_spec.scenario_name,
            annotator="jury",
            jury="jury",
            rubric="rubric",
            rubric_version="1",
            judges=("ward/yes",),
            fingerprints=("f",),
            jury_part="jury",
            trusted=(),
            untrusted=("release",),
            checked_at=datetime.now(UTC),
            checked_by="ada",
            ends_at=datetime.now(UTC) + timedelta(days=1),
            policy_version="1",
            content="{}",
        )
        self._append("judge_cards", [card])

    def _append(self, table: str, rows: list[Any]) -> None:
        workspace = self.evaluation._workspace
        ctx = workspace.context("", is_in_process=True)
        ctx.lake.append_rows(table, rows, new_write_id())

    def verified(self) -> str:
        """What `release verify` prints last."""
        here = self.evaluation
        here.releases.verify(RELEASE)
        return self.messages[-1]

    def rows(self, table: str, kind: type) -> list[Any]:
        return open_reader(str(self.lake)).rows(f"SELECT * FROM {{{table}}}", kind)

    def edit(self, table: str, edit: Callable[[Rows], Rows]) -> None:
        """Write the rows of a table again, changed."""
        opened = rewritable(self.lake / table)
        table_rows = pa.table(opened.to_pyarrow_table())
        changed = pa.Table.from_pylist(edit(table_rows.to_pylist()), schema=table_rows.schema)
        write_deltalake(DeltaTable(str(self.lake / table)), changed, mode="overwrite")

    def rewrite(self) -> None:
        """Make all means 1: table, copy, hashes, manifest and the whole chain, without the key."""
        for table in ("stats", "release_stats"):
            self.edit(table, lambda rows: [{**row, "mean": 1.0} for row in rows])
        members = self.rows("releases", ReleaseMember)
        (manifest,) = self.rows("release_manifests", ReleaseManifest)
        release_rows = read_release(open_reader(str(self.lake)), members)
        hashed = [
            replace(each, value_hashes={**(each.value_hashes or {}), **release_rows.hashes(each)})
            for each in members
        ]
        written = manifest_hash(hashed, manifest)
        hashed = [replace(each, manifest_hash=written) for each in hashed]
        self._replace("releases", hashed)
        changes = [
            replace(each, manifest_hash=written)
            for each in sorted(
                self.rows("release_changes", ReleaseChange), key=lambda each: each.changed_at
            )
        ]
        self._replace("release_changes", changes)
        shares = [
            replace(each, release_manifest=written) for each in self.rows("shares", ReleaseShare)
        ]
        self._replace("shares", shares)
        old = sorted(self.rows("provenance", ProvenanceRecord), key=lambda record: record.position)
        facts = {member.name: rows_of(member) for member in hashed}
        statuses = iter(changes)
        digests = {RecordKind.SHARE: (ROW, iter(shares)), RecordKind.STATUS: (CHANGE, statuses)}
        entries = []
        for each in old:
            if each.kind is RecordKind.RUN:
                new_facts = {**each.facts, **facts[each.name]}
            else:
                fact, rows = digests[each.kind]
                new_facts = {fact: row_digest(next(rows))}
            entry = ChainEntry(
                kind=each.kind,
                release=each.release,
                manifest_hash=written,
                name=each.name,
                facts=new_facts,
            )
            entries.append(entry)
        self._replace("provenance", follow([], entries, old[0].made_at, "ada", None))

    def _replace(self, table: str, rows: list[Any]) -> None:
        made = arrow_of(rows, TABLES[table].row)
        opened = rewritable(self.lake / table)
        stored = pa.table(opened.to_pyarrow_table())
        write_ids = pa.array(["forged"] * made.num_rows, pa.string())
        whole = made.append_column("write_id", write_ids).select(stored.schema.names)
        write_deltalake(
            DeltaTable(str(self.lake / table)), whole.cast(stored.schema), mode="overwrite"
        )
