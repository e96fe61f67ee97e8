"""What a process finds out about its machine, with a made-up driver of GPUs."""

import os
from pathlib import Path

import pytest

from medhelm_spark.engines.machine import look
from medhelm_spark.operating_system import memory_size
from medhelm_spark.version import VERSION


def driver(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_gpus_paths_and_versions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver(
        tmp_path,
        "echo 'NVIDIA L40S, 46068, 580.95.05'; echo 'NVIDIA L40S, 46068, 580.95.05'",
        monkeypatch,
    )
    paths = (str(tmp_path), str(tmp_path / "weights"))
    found = look(paths)
    assert found.gpus == ("NVIDIA L40S", "NVIDIA L40S")
    assert found.gpu_bytes == (46068 << 20, 46068 << 20)
    assert found.gpu_driver == "580.95.05"
    assert found.missing == (str(tmp_path / "weights"),)
    assert found.packages["medhelm-spark"] == VERSION
    assert found.free_bytes > 0


def test_a_device_that_shares_the_machines_memory_prints_no_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(tmp_path, "echo 'NVIDIA GB10, [N/A], 580.95.05'", monkeypatch)
    found = look()
    assert (found.gpus, found.gpu_bytes) == (("NVIDIA GB10",), (0,))


def test_a_containers_limit_is_the_memory(tmp_path: Path) -> None:
    whole = memory_size(tmp_path)
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_size(tmp_path) == whole > 1 << 30
    (tmp_path / "memory.max").write_text(f"{1 << 30}\n")
    assert memory_size(tmp_path) == 1 << 30


def test_a_driver_that_fails_is_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver(tmp_path, "echo 'NVIDIA-SMI has failed, sorry'; exit 9", monkeypatch)
    found = look()
    assert (found.gpus, found.gpu_driver) == ((), None)
