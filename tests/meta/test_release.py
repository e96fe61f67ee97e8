"""The version, the changelog and the public names agree."""

import re
import tomllib

import medhelm_spark
from medhelm_spark import errors
from tests.meta.tree import ROOT, checkout_files, shown

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
MOST_WORDS = 25


def test_the_newest_version_of_the_changelog_is_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.findall(r"^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$", CHANGELOG, re.MULTILINE)
    assert versions[0] == medhelm_spark.__version__ == project["version"]


def test_a_change_is_one_short_line() -> None:
    lines = CHANGELOG.splitlines()
    assert not [line for line in lines if line.startswith("  ")]
    assert not [line for line in lines if len(line.removeprefix("- ").split()) > MOST_WORDS]


def test_every_page_names_the_wheel_of_this_version() -> None:
    wheel = re.compile(r"medhelm_spark-(\d+\.\d+\.\d+)-py3")
    named = {
        f"{shown(path)}: {version}"
        for path in checkout_files()
        if path.suffix in {".md", ".txt", ".sh", ".yml"} or path.name == "Dockerfile"
        for version in wheel.findall(path.read_text(encoding="utf-8"))
        if version != medhelm_spark.__version__
    }
    assert not named


def test_the_package_names_what_is_public_and_every_error() -> None:
    raised = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, BaseException)
    }
    homes = medhelm_spark._homes()
    assert {name for name, module in homes.items() if module == errors.__name__} == raised
    assert all(getattr(medhelm_spark, name).__doc__ for name in medhelm_spark.__all__)
