"""Makes the folder of a release's evidence: all files, then the folder is put in place."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from medhelm_spark.board.render.report_file import standing_of
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.errors import ConfigError
from medhelm_spark.evidence.fills import FILLS, FLOW, OF_RELEASE, RESULTS, SUBGROUPS
from medhelm_spark.evidence.material import ReleaseMaterial, material_of
from medhelm_spark.evidence.page import FILLED, WHAT_IT_IS, FilledScheme, page
from medhelm_spark.evidence.scheme import StoredScheme, load_scheme
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.version import VERSION
from medhelm_spark.whole_files import whole_folder
from medhelm_spark.workspace.workspace import Workspace

INDEX, DATA, MANIFEST = "index.html", "evidence.json", "manifest.json"
SHEETS = (FLOW, RESULTS, SUBGROUPS)
"""The fills that have a CSV file each."""
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFolder:
    """A folder that was made."""

    folder: Path
    release: str
    scheme: str
    num_items: int
    num_filled: int
    """The items that stored results fill."""
    num_human: int
    """The items that have something to be written by the site."""
    files: tuple[str, ...]
    """All but the manifest, which has the hash of each."""
    banner: str = ""
    """That the release is withdrawn; empty otherwise."""

    def __str__(self) -> str:
        banner = f"{self.banner}\n" if self.banner else ""
        return (
            f"{banner}{self.folder}: release {self.release} by scheme {self.scheme}: "
            f"{self.num_filled} of {counted(self.num_items, 'item')} filled from stored results, "
            f"{self.num_human} with something to be written by the site; "
            f"{counted(len(self.files), 'file')} and {MANIFEST}. {WHAT_IT_IS}"
        )


def make_evidence(
    workspace: Workspace, release: str, scheme: str | Path, out: Path
) -> EvidenceFolder:
    """Make the folder; the same release and scheme give the same bytes.

    Args:
        workspace: the lake, the policy in force, and the site's files.
        release: its name.
        scheme: a shipped scheme's name, or the path of a site's own.
        out: the folder to make, which may not be there.

    Raises:
        ConfigError: the scheme is wrong, or the folder exists or is made by another command now;
            nothing was written.
        LakeError: the lake does not have the release.
        IntegrityError: a value behind its board was changed; no number of it is shown.
    """
    stored = load_scheme(scheme, FILLS)
    if out.exists() or out.is_symlink():
        raise ConfigError(f"{out} is there already; name a folder that is not.")
    material = material_of(workspace, release)
    files, whole = _files(material, stored)
    manifest = {
        "what_it_is": WHAT_IT_IS,
        "release": release,
        "status": material.release.state.status.value,
        "release_manifest": material.release.manifest_hash,
        "scheme": {"name": stored.name, "sha256": stored.sha256},
        "made_by": f"medhelm-spark {VERSION}",
        "files": [
            {"name": name, "sha256": hashlib.sha256(text.encode()).hexdigest()}
            for name, text in sorted(files.items())
        ],
    }
    _write(out, {**files, MANIFEST: _json(manifest)})
    items = stored.scheme.items
    return EvidenceFolder(
        folder=out,
        release=release,
        scheme=stored.name,
        num_items=len(items),
        num_filled=sum(whole.state(item) == FILLED for item in items),
        num_human=sum(item.human for item in items),
        files=tuple(sorted(files)),
        banner=material.source.banner,
    )


def _files(material: ReleaseMaterial, stored: StoredScheme) -> tuple[dict[str, str], FilledScheme]:
    """The text of each file but the manifest, by name; and the filled scheme of the index."""
    cards = _card_names(material.model_names) if stored.scheme.model_cards else {}
    links = {
        "all of it as data": DATA,
        **{f"{name} as CSV": f"{name}.csv" for name in SHEETS},
        **{f"model card of {model}": f"{name}.html" for model, name in cards.items()},
    }
    whole = _filled(material, stored, f"Evidence of release {material.release.name}", links, {})
    of_release = {name: report for name, report in whole.reports.items() if name in OF_RELEASE}
    files = {INDEX: page(whole), DATA: _json(whole.as_data)}
    for name in SHEETS:
        report = replace(whole.reports[name], banner=material.source.banner, if_empty="")
        files[f"{name}.csv"] = formatted(report, "csv")
    for model, name in cards.items():
        card = _filled(
            material.of_model(model),
            stored,
            f"Model card: {model}",
            {"all models": INDEX},
            of_release,
        )
        files[f"{name}.html"] = page(card)
        files[f"{name}.json"] = _json(card.as_data)
    return files, whole


def _filled(
    material: ReleaseMaterial,
    stored: StoredScheme,
    title: str,
    links: Mapping[str, str],
    known: Mapping[str, Report],
) -> FilledScheme:
    """The scheme filled from this material; `known` are Reports that were made before."""
    release = material.release
    named = [name for item in stored.scheme.items for name in item.fill]
    reports: dict[str, Report] = {
        name: known.get(name) or FILLS[name](material) for name in dict.fromkeys([*named, *SHEETS])
    }
    return FilledScheme(
        title=title,
        stored=stored,
        release={
            "Release": release.name,
            "Status": release.state.status.value,
            "Manifest": release.manifest_hash,
        },
        standing=material.source.banner or standing_of(material.source),
        banner=material.source.banner,
        reports=reports,
        links=links,
    )


def _card_names(models: list[str]) -> dict[str, str]:
    """By deployment a file's name without ending; two that would be one file are numbered."""
    names: dict[str, str] = {}
    for model in models:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")[:_LONGEST_NAME] or "model"
        name, number = f"model-card-{plain}", 2
        while name.lower() in {other.lower() for other in names.values()}:
            name, number = f"model-card-{plain}-{number}", number + 1
        names[model] = name
    return names


def _json(content: Mapping[str, object]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _write(out: Path, files: Mapping[str, str]) -> None:
    """All files, or no folder."""
    with whole_folder(out) as half:
        for name, text in files.items():
            (half / name).write_bytes(text.encode())
