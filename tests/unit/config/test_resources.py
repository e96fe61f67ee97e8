"""Shipped files are found in a checkout, in a wheel's folder and inside a zip."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from medhelm_spark.config import resources
from medhelm_spark.config.resources import conf_path, resource
from medhelm_spark.errors import SetupError

ROOT = Path(__file__).resolve().parents[3]
PROBE = (
    "from medhelm_spark.config.resources import conf_path;"
    "print(conf_path('policy.yaml').read_text(), end='')"
)
MODULES = ("__init__.py", "errors.py", "version.py", "config/__init__.py", "config/resources.py")


def test_a_checkout_has_its_resources_at_the_root() -> None:
    assert conf_path("policy.yaml") == ROOT / "conf" / "policy.yaml"
    assert resource("conf", "settings").is_dir()


def test_a_missing_resource_is_one_sentence() -> None:
    with pytest.raises(SetupError, match=r"conf/nothing\.yaml is missing from this installation"):
        conf_path("nothing.yaml")


def _files() -> dict[str, bytes]:
    package = Path(resources.__file__).parents[1]
    files = {f"medhelm_spark/{name}": (package / name).read_bytes() for name in MODULES}
    return {**files, "medhelm_spark/_resources/conf/policy.yaml": b"allowed: {}\n"}


def _probe(path: Path) -> str:
    command = [sys.executable, "-c", PROBE]
    done = subprocess.run(
        command,
        cwd=path.parent,
        env={"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_an_installed_wheel_has_them_inside_the_package(tmp_path: Path) -> None:
    for name, content in _files().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "policy.yaml").write_text("another project's file")
    assert _probe(tmp_path) == "allowed: {}\n"


def test_a_zipped_wheel_is_unpacked(tmp_path: Path) -> None:
    archive = tmp_path / "medhelm_spark.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for name, content in _files().items():
            target.writestr(name, content)
    assert _probe(archive) == "allowed: {}\n"
