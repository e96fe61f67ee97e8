"""The script where MedHELM is not: what it refuses is one sentence. Where it is: tests/parity."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from medhelm_spark.errors import ConfigError, SetupError, UnknownNameError
from medhelm_spark.medhelm_results.export_scenario import (
    SCRIPT,
    ExportRequest,
    _refusal,
    export_scenario,
)


def request(python: str) -> ExportRequest:
    return ExportRequest(
        name="pubmed_qa",
        python=python,
        methods=("generation",),
        medhelm_output="benchmark_output",
        args={"subject": "a"},
    )


def refused(python: str, folder: Path) -> str:
    with pytest.raises(SetupError) as caught:
        export_scenario(request(python), folder / "export.jsonl")
    return str(caught.value)


@pytest.fixture(scope="module")
def other_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has nothing."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    return folder / "bin" / "python"


def test_a_python_that_does_not_run(tmp_path: Path) -> None:
    message = refused(str(tmp_path / "absent"), tmp_path)
    assert "absent: cannot be run (FileNotFoundError); give the python of an environment" in message


def test_a_python_without_medhelm(other_python: Path, tmp_path: Path) -> None:
    message = refused(str(other_python), tmp_path)
    assert "has no package medhelm; run `pip install medhelm==0.8.0`" in message


def test_a_python_with_another_medhelm(other_python: Path, tmp_path: Path) -> None:
    (packages,) = other_python.parent.parent.glob("lib/python*/site-packages")
    dist_info = packages / "medhelm-0.7.2.dist-info"
    dist_info.mkdir()
    (dist_info / "METADATA").write_text("Metadata-Version: 2.1\nName: medhelm\nVersion: 0.7.2\n")
    try:
        assert "has medhelm 0.7.2; allowed: 0.8.0" in refused(str(other_python), tmp_path)
    finally:
        (dist_info / "METADATA").unlink()
        dist_info.rmdir()


def test_a_program_that_is_no_python(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    assert "ended with exit code 7" in refused(str(program), tmp_path)


def test_our_own_packages_do_not_reach_medhelms_python(
    other_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, sys.path)))
    assert "has no package medhelm" in refused(str(other_python), tmp_path)


def test_the_script_needs_nothing_but_python(other_python: Path) -> None:
    done = subprocess.run(
        [str(other_python), "-I", str(SCRIPT), "--help"], capture_output=True, text=True, check=True
    )
    assert "--medhelm-output" in done.stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"reason": "multimedia"}, "has images or audio, which are not evaluated here"),
        ({"reason": "empty"}, "MedHELM found no instance"),
        ({"reason": "perturbations"}, "give data_augmentation in the run entry"),
        ({"reason": "method", "method": "health_admin_bench"}, "allowed: generation. Images"),
        (
            {"reason": "arguments", "message": "missing a required argument: 'x'", "known": ["x"]},
            "--args: missing a required argument: 'x'; allowed: x.",
        ),
        (
            {"reason": "failed", "step": "the instances", "error": "KeyError", "place": "a.py:3",
             "message": ""},
            "MedHELM failed at the instances with KeyError (a.py:3).",
        ),
    ],
)  # fmt: skip
def test_every_reason_is_a_sentence(line: dict[str, object], message: str) -> None:
    error = _refusal(request("python"), line)
    assert isinstance(error, ConfigError)
    assert message in str(error)


def test_an_unknown_scenario_is_told_with_those_that_there_are() -> None:
    error = _refusal(request("python"), {"reason": "unknown", "known": ["pubmed_qa2", "aci_bench"]})
    assert isinstance(error, UnknownNameError)
    assert "Did you mean 'pubmed_qa2'?" in str(error)
