"""Makes a share of a release: projects, writes, scans, and puts it in place whole."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from medhelm_spark.board import BoardRun, BoardSource, Kind, as_of, load_runs
from medhelm_spark.domain.policy import Audience, ShareContent
from medhelm_spark.errors import PolicyError, UnknownNameError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.user import this_user
from medhelm_spark.releases.pinned import StoredRelease
from medhelm_spark.releases.source import release_of
from medhelm_spark.sharing.helm_folder import write_helm_folder
from medhelm_spark.sharing.keys import ShareKeys
from medhelm_spark.sharing.projection import (
    Projection,
    public_texts,
    results_of,
    scores_of_instances,
)
from medhelm_spark.sharing.results_page import report_of
from medhelm_spark.sharing.scan import Leak, LookedFor, Scanned, scan
from medhelm_spark.sharing.tables import MANIFEST, ReleaseShare
from medhelm_spark.sharing.waivers import Waivers, as_data, blocking, write_matches
from medhelm_spark.stages.context import now
from medhelm_spark.version import VERSION
from medhelm_spark.workspace.workspace import Workspace

SHOWN_LEAKS = 8
WHAT_IT_IS = (
    "A scan compared every string of these files with the texts of gated and private rows and with "
    "patterns of identifiers. It is a tripwire and no certificate: a paraphrase passes it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFolder:
    """A share that was made."""

    folder: Path
    share: ReleaseShare
    num_rows: Mapping[str, int]
    """The rows of each table."""
    num_hidden: int
    left_out: Mapping[str, int]

    def __str__(self) -> str:
        rows = ", ".join(f"{name} {count:,}" for name, count in self.num_rows.items())
        hidden = f"; {self.num_hidden:,} small cells hidden" if self.num_hidden else ""
        alone = sum(self.left_out.values())
        out = f"; {alone:,} instances left out, alone with their scores or too few" if alone else ""
        scan = ""
        if self.share.num_waived:
            scan += f", {self.share.num_waived:,} matches of patterns waived"
        if self.share.num_purged:
            scan += f"; {self.share.num_purged:,} texts were purged and could not be compared"
        return (
            f"{self.folder}: {self.share.share} of release {self.share.release} for "
            f"{self.share.audience}: {rows}{hidden}{out}; compared with "
            f"{self.share.num_texts:,} gated and private texts, none in common{scan}"
        )


def share(
    workspace: Workspace,
    release: str,
    audience: str,
    out: Path,
    waivers: Waivers | None = None,
    *,
    helm: bool = False,
) -> SharedFolder:
    """Make a folder that may leave, of one release for one audience of the policy.

    Args:
        workspace: the lake and the policy in force.
        release: its name.
        audience: a name of the policy's `audiences`.
        out: the folder to make, which may not be there.
        waivers: matches of patterns that somebody answers for; of the manifest all are scanned.
        helm: whether the files are HELM's.

    Raises:
        PolicyError: the policy names no such audience, the folder is there, or the scan found what
            may not leave; no folder is left, and a file beside it lists the matches.
    """
    waivers = waivers or Waivers.none()
    rules = _audience(workspace, audience)
    if out.exists():
        raise PolicyError(f"{out} is there already; name a folder that is not.")
    held = release_of(workspace.reader, release)
    reader = as_of(workspace.reader, release)
    runs = load_runs(workspace.reader, BoardSource(kind=Kind.RELEASE, name=release))
    keys = ShareKeys()
    made = _projected(reader, runs, rules, keys, workspace.registry.policy.small_cells.minimum)
    half = out.with_name(f".{out.name}.unfinished")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    try:
        if helm:
            write_helm_folder(half, runs, made.tables, keys.share)
        else:
            _write_tables(half, made.tables, keys)
            report = report_of(made.tables["results"], release, keys.share)
            (half / f"{keys.share}-report.html").write_text(report, encoding="utf-8")
        wanted = LookedFor(
            record_numbers=rules.record_numbers, canaries=rules.canaries, key=waivers.key
        )
        manifest = _manifest(held, rules, made, waivers, keys)
        scanned = scan(half, workspace.reader, wanted, manifest)
        if blocked := blocking(scanned.leaks, waivers.waivers):
            listed = out.with_name(f"{out.name}-matches.yaml")
            raise _refusal(release, blocked, write_matches(listed, blocked, waivers.key))
        manifest["files"] = [
            {"name": name, "sha256": _sha256(half / name), **_content(half / name, made)}
            for name in _file_names(half)
        ]
        manifest["scan"] = result = _result(scanned, waivers)
        (half / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        record = ReleaseShare(
            share=keys.share,
            release=release,
            release_manifest=held.manifest_hash,
            audience=audience,
            content=rules.content.value,
            made_at=now(),
            made_by=this_user(),
            manifest_sha256=_sha256(half / MANIFEST),
            num_texts=scanned.num_texts,
            num_purged=scanned.num_purged,
            num_waived=sum(leak.is_waivable for leak in scanned.leaks),
            scan_sha256=str(result["sha256"]),
            folder=str(out.absolute()),
        )
        workspace.context("").lake.append_rows("shares", [record], keys.share, txn=(keys.share, 1))
        half.rename(out)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return SharedFolder(
        folder=out,
        share=record,
        num_rows={name: table.num_rows for name, table in made.tables.items()},
        num_hidden=made.num_hidden,
        left_out=made.num_unique,
    )


def _audience(workspace: Workspace, name: str) -> Audience:
    policy = workspace.registry.policy
    known = {audience.name: audience for audience in policy.audiences}
    if not known:
        raise PolicyError(
            f"{policy.label}: audiences names nobody to whom results may be handed on; "
            "docs/sharing.md shows how it does."
        )
    if name not in known:
        raise UnknownNameError("audience", name, known, where=policy.label)
    return known[name]


def _projected(
    reader: Reader,
    runs: Sequence[BoardRun],
    rules: Audience,
    keys: ShareKeys,
    minimum: int,
) -> Projection:
    results, hidden = results_of(runs, keys, minimum)
    tables = {"results": results}
    left_out: dict[str, int] = {}
    alone = 0
    if rules.content is not ShareContent.AGGREGATES:
        tables["scores"], left_out, alone = scores_of_instances(
            reader, runs, keys, rules.decimals, minimum
        )
    if rules.content is ShareContent.TEXTS:
        tables["texts"] = public_texts(reader, runs, keys)
    return Projection(
        tables=tables, num_hidden=hidden, num_unique=left_out, num_unique_public=alone
    )


def _write_tables(folder: Path, tables: Mapping[str, pa.Table], keys: ShareKeys) -> None:
    """Aggregates as csv, which anybody opens; rows by instance as Parquet."""
    for name, table in tables.items():
        path = folder / f"{keys.share}-{name}"
        if name == "results":
            pa_csv.write_csv(table, path.with_suffix(".csv"))
        else:
            pq.write_table(table, path.with_suffix(".parquet"))


def _refusal(release: str, leaks: Sequence[Leak], listed: Path) -> PolicyError:
    shown = "; ".join(map(str, leaks[:SHOWN_LEAKS]))
    more = f"; and {len(leaks) - SHOWN_LEAKS:,} more" if len(leaks) > SHOWN_LEAKS else ""
    cures = [f"{listed} lists every match."]
    if any(leak.is_text for leak in leaks):
        cures.append(
            "Text of gated or private rows is never shared; where a public benchmark's prompt has "
            "words in common with a gated or private one, change the prompt of one of them."
        )
    if any(leak.is_waivable for leak in leaks):
        cures.append(
            "Whoever answers for a match of a pattern completes its entry there with approver and "
            "reason, and gives the file as --waivers."
        )
    return PolicyError(
        f"release {release!r} is not shared, the scan found: {shown}{more}. {' '.join(cures)}"
    )


def _manifest(
    release: StoredRelease, rules: Audience, made: Projection, waivers: Waivers, keys: ShareKeys
) -> dict[str, object]:
    """What a manifest says beside hashes and counts of the scan: its strings are scanned too."""
    return {
        "share": keys.share,
        "release": release.name,
        "audience": rules.name,
        "content": rules.content.value,
        "made_by": f"medhelm-spark {VERSION}",
        "files": [],
        "scores_rounded_to_decimals": rules.decimals,
        "hidden_small_cells": made.num_hidden,
        "instances_left_out": dict(made.num_unique),
        "gated_and_private_instances_alone_with_their_scores": 0,
        "public_instances_alone_with_their_scores": made.num_unique_public,
        "scan": {"waived": [asdict(waiver) for waiver in waivers.waivers]},
    }


def _result(scanned: Scanned, waivers: Waivers) -> dict[str, object]:
    """What a scan that stopped nothing found, with the hash of the same as JSON by sorted keys."""
    result = {
        "what_it_is": WHAT_IT_IS,
        "strings": scanned.num_strings,
        "gated_and_private_texts": scanned.num_texts,
        "texts_purged_before": scanned.num_purged,
        "matches_of_texts": sum(leak.is_text for leak in scanned.leaks),
        "matches_of_patterns": sum(leak.is_waivable for leak in scanned.leaks),
        "waived": as_data(scanned.leaks, waivers.waivers),
    }
    said = json.dumps(result, sort_keys=True).encode()
    return {**result, "sha256": hashlib.sha256(said).hexdigest()}


def _content(path: Path, made: Projection) -> dict[str, object]:
    """Rows and columns of the table in a file; nothing of a page."""
    table = made.tables.get(path.stem.rpartition("-")[2])
    return {"rows": table.num_rows, "columns": table.column_names} if table else {}


def _file_names(folder: Path) -> list[str]:
    """The files at any depth, by their paths below the folder."""
    files = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return sorted(path.relative_to(folder).as_posix() for path in files)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def changed_files(folder: Path) -> list[str]:
    """The files of a share that are not what its manifest says, or are missing or too many.

    Raises:
        PolicyError: the folder has no manifest.
    """
    place = folder / MANIFEST
    if not place.is_file():
        raise PolicyError(f"{folder} has no {MANIFEST}: it is no share.")
    files = json.loads(place.read_text(encoding="utf-8"))["files"]
    listed = {each["name"]: each["sha256"] for each in files}
    there = {*_file_names(folder)} - {MANIFEST}
    wrong = [n for n, digest in listed.items() if n in there and _sha256(folder / n) != digest]
    return sorted([*wrong, *(there ^ set(listed))])
