"""Weights in a bundle: whole, and each model by itself. No JVM is started."""

import json
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.air_gap import bundle
from medhelm_spark.errors import ConfigError


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What makes a bundle of weights alone."""
    model, nothing = tmp_path / "small.gguf", tmp_path / "requirements.txt"
    model.touch()
    nothing.touch()
    monkeypatch.setattr(bundle, "_jars", list)
    monkeypatch.setattr(bundle, "fetch_model", lambda: model)
    return {"requirements": nothing}


def bundled(out: Path, weights: list[Path], **options: Any) -> None:
    Evaluation(out.parent / "lake", site=None, tracking=False).air_gap.bundle(
        out, weights=weights, **options
    )


def test_a_snapshot_of_the_hubs_cache_is_copied_with_what_its_links_lead_to(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    blobs, snapshot = tmp_path / "hub" / "blobs", tmp_path / "hub" / "snapshots" / "abc"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for name in ("model.safetensors", "tokenizer.json"):
        (blobs / name).write_text(name)
        (snapshot / name).symlink_to(f"../../blobs/{name}")
    (snapshot / "same.safetensors").symlink_to("model.safetensors")
    bundled(tmp_path / "bundle", [snapshot], **options)
    copied = tmp_path / "bundle" / "weights" / "abc"
    assert (copied / "tokenizer.json").read_text() == "tokenizer.json"
    assert not (copied / "model.safetensors").is_symlink()
    manifest = json.loads((tmp_path / "bundle" / "bundle.json").read_text())
    names = {each["name"] for each in manifest["files"]}
    assert names >= {"weights/abc/model.safetensors", "weights/abc/tokenizer.json"}


def test_weights_of_one_name_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    """The files of one model would replace those of the other."""
    for name in ("first", "second"):
        (tmp_path / name / "final").mkdir(parents=True)
        (tmp_path / name / "final" / "tokenizer.json").write_text(name)
    weights = [tmp_path / name / "final" for name in ("first", "second")]
    with pytest.raises(ConfigError, match="'final' twice"):
        bundled(tmp_path / "bundle", weights, **options)
    assert not (tmp_path / "bundle").exists()
