"""What must never be in a tracked file: addresses of package registries, paths of one machine."""

import re
from pathlib import Path

from tests.meta.tree import ROOT, checkout_files, shown

# Written in pieces, so that this file passes its own test.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
        ("repo1", "maven", "org"),
        ("repo", "maven", "apache", "org"),
        ("maven-central", "storage"),
        ("deb", "debian", "org"),
        ("conda", "anaconda", "org"),
        ("download", "pytorch", "org"),
    )
]
FORBIDDEN = re.compile(
    "|".join(re.escape(host) for host in REGISTRIES)
    + "".join(rf"|(?<![\w./-])/{name}/\w" for name in ("root", "work", "home", "tmp")),
    re.IGNORECASE,
)
MAX_BYTES = 2_000_000


def forbidden_lines(text: str) -> list[str]:
    return [line.strip()[:120] for line in text.splitlines() if FORBIDDEN.search(line)]


def is_text(path: Path) -> bool:
    return b"\0" not in path.read_bytes()[:4096]


def test_no_registry_address_and_no_path_of_one_machine() -> None:
    offenders = {
        shown(path): lines
        for path in checkout_files()
        if is_text(path)
        and (lines := forbidden_lines(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert not offenders


def test_no_tracked_file_is_large() -> None:
    large = {
        shown(path): path.stat().st_size
        for path in checkout_files()
        if path.stat().st_size > MAX_BYTES
    }
    assert not large


def test_files_were_found() -> None:
    assert {ROOT / "pyproject.toml", ROOT / "medhelm_spark" / "errors.py"} <= set(checkout_files())


def test_the_rule_sees_what_it_forbids_and_lets_the_rest_pass() -> None:
    refused = [
        "see https://" + "pypi" + ".org/simple",
        "path = '" + "/" + "root/data'",
        "cd " + "/" + "home/me/lake",
        "output_path=" + "/" + "tmp/lake",
    ]
    passed = ["the /v1/work/ route", "https://host.example/home/page", "a/work/b"]
    assert forbidden_lines("\n".join([*refused, *passed])) == refused
