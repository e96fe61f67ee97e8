"""The scenario `notes`, its data, and `ingest` of it: what the tests of sources share."""

from typing import Any

import pytest
import yaml

from medhelm_spark.cli import main
from tests.cards import NOTES
from tests.spark.conftest import PUBLIC, Site


def card(site: Site, **changes: Any) -> None:
    """Put the card of the scenario `notes` into the site's folder."""
    path = site.folder / "prod_env" / "scenarios" / "notes.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({**NOTES, **changes}))


def ingest(site: Site, *source: str, lake: str = "lake") -> int:
    flags = ["-o", str(site.folder / lake), "--local-path", str(site.folder / "prod_env")]
    source_arguments = ["--source", *source, *PUBLIC] if source else []
    return main(["ingest", "--scenario", "notes", *source_arguments, *flags])


def read(site: Site, table: str = "instances", lake: str = "lake") -> list[dict[str, Any]]:
    rows = (
        Site(site.folder, site.spark)
        .spark.read.format("delta")
        .load(str(site.folder / lake / table))
    )
    return rows.toArrow().to_pylist()  # type: ignore[no-any-return]


def notes(count: int) -> list[dict[str, str]]:
    return [
        {"case": f"c{i}", "note": f"Note {i}.", "question": f"Is it {i}?", "answer": str(i)}
        for i in range(count)
    ]


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line]
    assert line.startswith("medhelm-spark: ")
    return line
