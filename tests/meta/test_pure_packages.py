"""Pure packages import, and their examples pass, where nothing but the light core is installed."""

import subprocess
import sys

import pytest

from tests.meta.tree import PURE, ROOT, dotted, modules

HEAVY = (
    "aiohttp",
    "bert_score",
    "delta",
    "deltalake",
    "mlflow",
    "pandas",
    "pyspark",
    "rouge_score",
    "streamlit",
    "torch",
    "transformers",
    "vllm",
    "xllamacpp",
)
CLIENT = "medhelm_spark.engines.peers"
"""It is an HTTP client: whoever connects imports it, and nobody before."""
CONFIG_ONLY = ("pydantic", "pyhocon", "yaml")

# A finder, and no None in sys.modules: scipy asks there whether torch was imported.
PROGRAM = """
import doctest, importlib, sys
blocked, names = (part.split(",") for part in sys.argv[1:])

class Blocked:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked)
failed = sum(doctest.testmod(importlib.import_module(name)).failed for name in names)
sys.exit(1 if failed else 0)
"""


def import_blocked(blocked: tuple[str, ...], names: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, ",".join(blocked), ",".join(names)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("packages", "blocked"),
    [(PURE, (*HEAVY, *CONFIG_ONLY)), (("config", "medhelm"), HEAVY)],
    ids=["pure", "configuration"],
)
def test_modules_import_and_their_doctests_hold_without_heavy_libraries(
    packages: tuple[str, ...], blocked: tuple[str, ...]
) -> None:
    names = {dotted(module) for module in modules(*packages)} - {CLIENT}
    done = import_blocked(blocked, sorted(names))
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]


def test_the_dashboard_reads_the_lake_without_spark() -> None:
    done = import_blocked(("pyspark", "delta", "mlflow"), ["medhelm_spark.lake.reader"])
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]


def test_the_package_is_imported_without_spark() -> None:
    done = import_blocked((*HEAVY, *CONFIG_ONLY), ["medhelm_spark"])
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]


def test_blocking_works() -> None:
    done = import_blocked(("pyspark",), ["pyspark.sql"])
    assert "ModuleNotFoundError" in done.stderr
