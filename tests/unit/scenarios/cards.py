"""Small cards and files that several tests build on."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.binding import bind
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.run import AdapterSpec, MetricSpec
from medhelm_spark.domain.scenario import Instance, Quarantined, ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.scenarios import parse_records, read_card

CONF = Path(__file__).resolve().parents[3] / "conf"


def card(shape: str = "tabular", *, metric: str = "exact_match", **changes: Any) -> ScenarioCard:
    """A private card with one metric; `changes` are further fields of ScenarioCard."""
    fields: dict[str, Any] = {
        "name": "own",
        "display_name": "Own",
        "description": "",
        "access_level": AccessLevel.PRIVATE,
        "source": DataSource(files=(SourceFile(path="data.csv"),)),
        "shape": shape,
        "adapter_spec": AdapterSpec(),
        "metrics": (MetricSpec(name=metric),),
        "main_metric": metric,
    }
    return ScenarioCard(**{**fields, **changes})


def source(
    path: Path, format_: str = "csv", split: Split | None = Split.TEST, **more: Any
) -> DataSource:
    """A source of one file."""
    return DataSource(format=format_, files=(SourceFile(path=str(path), split=split),), **more)


def write_csv(path: Path, rows: Iterable[Sequence[str]]) -> Path:
    """Write rows as a csv file in the usual quoting."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(rows)
    return path


def parsed(scenario: ScenarioCard) -> list[Instance | Quarantined]:
    """All that comes of a card's files."""
    bound = bind(scenario)
    return list(parse_records(read_card(bound), bound, "v1"))


def instances(scenario: ScenarioCard) -> list[Instance]:
    """The instances of a card's files, which must have no bad row."""
    found = parsed(scenario)
    assert all(isinstance(each, Instance) for each in found)
    return [each for each in found if isinstance(each, Instance)]
