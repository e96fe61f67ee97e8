"""Makes a share of a release: projects, writes, scans, and puts it in place whole."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from medhelm_spark.board import BoardSource, Kind, as_of, load_runs
from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.domain.policy import Audience
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.errors import PolicyError, UnknownNameError
from medhelm_spark.lake.user import this_user
from medhelm_spark.releases.pinned import StoredRelease
from medhelm_spark.releases.source import expired_at, release_of
from medhelm_spark.render.report import unformulated
from medhelm_spark.sharing.helm_folder import write_helm_folder
from medhelm_spark.sharing.keys import ShareKeys
from medhelm_spark.sharing.manifest import STANDING, file_names, sha256_of
from medhelm_spark.sharing.projection import Projection, project
from medhelm_spark.sharing.results_page import report_of
from medhelm_spark.sharing.scan import CONDITIONS, Leak, LookedFor, Scanned, scan
from medhelm_spark.sharing.tables import MANIFEST, ReleaseShare
from medhelm_spark.sharing.waivers import Waivers, as_data, blocking, write_matches
from medhelm_spark.stages.context import now
from medhelm_spark.version import VERSION
from medhelm_spark.whole_files import whole_folder
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
        hidden = f"; {self.num_hidden:,} numbers hidden" if self.num_hidden else ""
        gone = sum(self.left_out.values())
        out = f"; {gone:,} instances left out" if gone else ""
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
        PolicyError: the policy names no such audience, the folder is there or is in the lake, the
            release is withdrawn, or the scan found what may not leave; no folder is left, and a
            file beside it lists the matches.
        ConfigError: another command makes the folder now.
    """
    waivers = waivers or Waivers.none()
    rules = _audience(workspace, audience)
    _check_out(out, workspace.reader.location)
    stored = release_of(workspace.reader, release)
    if stored.state.status is ReleaseStatus.WITHDRAWN:
        raise PolicyError(
            f"release {release!r} is withdrawn and is not shared; share a release that is not."
        )
    reader = as_of(workspace.reader, release)
    runs = load_runs(workspace.reader, BoardSource(kind=Kind.RELEASE, name=release))
    keys = ShareKeys()
    made = project(reader, runs, keys, rules, workspace.registry.policy)
    with whole_folder(out) as half:
        if helm:
            write_helm_folder(half, runs, made.tables, keys.share)
        else:
            _write_tables(half, made.tables, keys)
        report = report_of(made.tables["results"], release, keys.share, lines_of(stored))
        (half / f"{keys.share}-report.html").write_text(report, encoding="utf-8")
        # Before the scan: what is changed later is no file of the share.
        files = [
            {"name": name, "sha256": sha256_of(half / name), **_content(half / name, made)}
            for name in file_names(half)
        ]
        looked_for = LookedFor(
            record_numbers=rules.record_numbers, canaries=rules.canaries, key=waivers.key
        )
        manifest = _manifest(stored, rules, made, waivers, keys)
        approval = stored.state.approval
        typed = list(approval.conditions or ()) if approval else []
        scanned = scan(half, workspace.reader, looked_for, {**manifest, CONDITIONS: typed})
        if blocked := blocking(scanned.leaks, waivers.waivers):
            listed = out.with_name(f"{out.name}-matches.yaml")
            raise _refusal(release, blocked, write_matches(listed, blocked, waivers.key))
        manifest["files"] = files
        manifest["scan"] = result = _result(scanned, waivers)
        (half / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        record = ReleaseShare(
            share=keys.share,
            release=release,
            release_manifest=stored.manifest_hash,
            audience=audience,
            content=rules.content.value,
            made_at=now(),
            made_by=this_user(),
            manifest_sha256=sha256_of(half / MANIFEST),
            num_texts=scanned.num_texts,
            num_purged=scanned.num_purged,
            num_waived=sum(leak.is_waivable for leak in scanned.leaks),
            scan_sha256=str(result["sha256"]),
            folder=str(out.absolute()),
        )
        workspace.context("").lake.append_rows("shares", [record], keys.share, txn=(keys.share, 1))
    return SharedFolder(
        folder=out,
        share=record,
        num_rows={name: table.num_rows for name, table in made.tables.items()},
        num_hidden=made.num_hidden,
        left_out=made.left_out,
    )


def _check_out(out: Path, lake: str) -> None:
    """Refuse an address, what is there, and what is below the lake."""
    if is_uri(str(out)):  # Arrow would write there, before the scan
        raise PolicyError(f"{out} is an address; name a folder of this machine.")
    if out.name == ".." or os.path.lexists(out):
        raise PolicyError(f"{out} is there already; name a folder that is not.")
    if Path(lake).resolve() in (out.resolve(), *out.resolve().parents):
        raise PolicyError(f"{out} is in the lake {lake}; name a folder outside it.")


def lines_of(release: StoredRelease) -> list[str]:
    """The lines on a release: its status, its approval with conditions, and when that ends."""
    state = release.state
    lines = [f"Status: {state.status}."]
    if state.approval is None:
        return [*lines, "Nobody has approved these numbers."]
    lines.append(f"Approved by {state.approval.who} at {state.approval.changed_at:%Y-%m-%d}.")
    lines += [f"Condition: {each}" for each in state.approval.conditions or ()]
    if state.approval.end:
        has_ended = bool(expired_at(release))
        lines.append(f"The approval {'ended' if has_ended else 'ends'} at {state.approval.end}.")
    return lines


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


def _write_tables(folder: Path, tables: Mapping[str, pa.Table], keys: ShareKeys) -> None:
    """As Parquet and, where no column has lists, as csv, which anybody opens."""
    for name, table in tables.items():
        path = folder / f"{keys.share}-{name}"
        pq.write_table(table, path.with_suffix(".parquet"))
        if not any(pa.types.is_list(column.type) for column in table.schema):
            pa_csv.write_csv(_for_spreadsheets(table), path.with_suffix(".csv"))


def _for_spreadsheets(table: pa.Table) -> pa.Table:
    """The table with texts that a spreadsheet shows and does not compute."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            encoded = table.column(index).combine_chunks().dictionary_encode()
            texts = pa.array(map(unformulated, encoded.dictionary.to_pylist()), pa.string())
            table = table.set_column(index, field, texts.take(encoded.indices))
    return table


def _refusal(release: str, leaks: Sequence[Leak], listed: Path) -> PolicyError:
    first = "; ".join(map(str, leaks[:SHOWN_LEAKS]))
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
        f"release {release!r} is not shared, the scan found: {first}{more}. {' '.join(cures)}"
    )


def _manifest(
    release: StoredRelease, rules: Audience, made: Projection, waivers: Waivers, keys: ShareKeys
) -> dict[str, object]:
    """What a manifest says beside hashes and counts of the scan: its strings are scanned too."""
    return {
        "share": keys.share,
        "release": release.name,
        STANDING: lines_of(release),
        "audience": rules.name,
        "content": rules.content.value,
        "made_by": f"medhelm-spark {VERSION}",
        "files": [],
        "scores_rounded_to_decimals": rules.decimals,
        "hidden_numbers": made.num_hidden,
        "instances_left_out": dict(made.left_out),
        "gated_and_private_instances_alone_with_their_scores": made.num_alone,
        "public_instances_alone_with_their_scores": made.num_alone_public,
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
    text = json.dumps(result, sort_keys=True).encode()
    return {**result, "sha256": hashlib.sha256(text).hexdigest()}


def _content(path: Path, made: Projection) -> dict[str, object]:
    """Rows and columns of the table in a file; nothing of a page."""
    table = made.tables.get(path.stem.rpartition("-")[2])
    return {"rows": table.num_rows, "columns": table.column_names} if table else {}
