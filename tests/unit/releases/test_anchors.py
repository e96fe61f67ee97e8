"""Manifests' hashes in a file outside the lake: what is rewritten in the lake is named."""

from pathlib import Path

import pytest

from medhelm_spark.errors import ConfigError, IntegrityError
from medhelm_spark.releases.anchors import (
    ManifestAnchor,
    add_anchor,
    anchor_file,
    anchored,
    guarantee,
)

FIRST, SECOND = "a" * 64, "b" * 64


def test_a_manifest_that_the_file_names_last_is_anchored_and_another_is_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "anchors.jsonl"
    assert guarantee(path, "lake", "r1", FIRST) == "" == guarantee(None, "lake", "r1", FIRST)
    assert add_anchor(path, "lake", "r1", FIRST)
    assert not add_anchor(path, "lake", "r1", FIRST), "twice is once"
    assert guarantee(path, "lake", "r1", FIRST) == f"anchored in {path}"
    with pytest.raises(IntegrityError, match=f"manifest {SECOND[:12]}, and .* {FIRST[:12]}"):
        guarantee(path, "lake", "r1", SECOND)
    assert add_anchor(path, "lake", "r1", SECOND)
    assert anchored(path, "lake", "r1") == [
        ManifestAnchor(manifest_hash=FIRST),
        ManifestAnchor(manifest_hash=SECOND),
    ]
    with pytest.raises(IntegrityError, match=r"rewritten"):
        guarantee(path, "lake", "r1", FIRST)


def test_releases_and_lakes_are_apart(tmp_path: Path) -> None:
    path = tmp_path / "anchors.jsonl"
    add_anchor(path, "lake", "r1", FIRST)
    assert guarantee(path, "lake", "r2", SECOND) == ""
    assert guarantee(path, "other", "r1", SECOND) == ""


def test_a_changed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "anchors.jsonl"
    add_anchor(path, "lake", "r1", FIRST)
    path.write_text(path.read_text() + "{}\n")
    with pytest.raises(IntegrityError, match="line 2 is no anchor"):
        anchored(path, "lake", "r1")


def test_a_file_in_the_lake_or_in_no_folder_is_refused(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    with pytest.raises(ConfigError, match="lies in the lake"):
        anchor_file(str(lake / "anchors.jsonl"), str(lake))
    with pytest.raises(ConfigError, match="folder is not there"):
        anchor_file(str(tmp_path / "nowhere" / "anchors.jsonl"), str(lake))
    assert anchor_file(None, str(lake)) is None
    assert anchor_file(str(tmp_path / "anchors.jsonl"), str(lake)) == tmp_path / "anchors.jsonl"
