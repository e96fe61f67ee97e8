"""The board of a share, read from its folder, without a lake: for whoever received one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from medhelm_spark.errors import ConfigError, IntegrityError, UnknownNameError
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.result import Result
from medhelm_spark.sharing.declared import RESULTS
from medhelm_spark.sharing.manifest import STANDING, changed_files, read_manifest
from medhelm_spark.sharing.results_page import board_table

ALL = "all"
"""In place of a metric: all of them."""


@dataclass(frozen=True, slots=True)
class SharedBoard(Result):
    """The board of a share: models and benchmarks, with the share's own numbers."""

    results: tuple[Mapping[str, Any], ...]
    """Rows of the table `results` of the share."""
    lines: tuple[str, ...]
    """The release's status and approval."""

    HEADER = tuple(RESULTS)

    @property
    def notes(self) -> Sequence[str]:
        """The release's status and approval."""
        return self.lines

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """One per run, metric and split."""
        yield from self.results

    def render(self, form: str = "table") -> str:
        """The board as text: `table`, `md`, `csv`, `json` or `html`."""
        report = Report(
            tables=[board_table(self.results)],
            content={"release": self.lines, "results": self.results},
            fields=list(RESULTS),
            records=self.results,
            banner=" ".join(self.lines),
        )
        return formatted(report, form)


def board_of(folder: Path, metric: str = "") -> SharedBoard | None:
    """The board of the share in a folder; None where there is none.

    Args:
        folder: the share's.
        metric: the metric to show; empty for each benchmark's main metric, `all` for all.

    Raises:
        IntegrityError: a file is not as the manifest says, or is no file of a share.
        ConfigError: the files are HELM's.
        UnknownNameError: no run has the metric.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        return None
    if wrong := changed_files(folder):
        raise IntegrityError(f"{folder}: not as it was made: {', '.join(wrong)}.")
    paths = list(folder.glob("*-results.parquet"))
    if not paths:
        raise ConfigError(
            f"{folder} is a share as HELM's folder; `medhelm-spark import-helm {folder} --suite "
            "NAME` with --output-path LAKE, or helm-summarize, makes its board."
        )
    rows = _results(paths[0])
    known = {row["metric"] for row in rows}
    if metric not in {"", ALL, *known}:
        raise UnknownNameError("metric", metric, known)
    metrics = known if metric == ALL else {metric}
    selected = [row for row in rows if row["metric"] in metrics or (row["is_main"] and not metric)]
    return SharedBoard(tuple(selected), tuple(manifest.get(STANDING, [])))


def _results(path: Path) -> list[dict[str, Any]]:
    """The rows of the table `results`; refuses a file of another form."""
    try:
        table = pq.read_table(path)
    except pa.ArrowException as error:
        raise IntegrityError(f"{path}: is no Parquet file ({type(error).__name__}).") from None
    if table.schema != pa.schema(list(RESULTS.items())):
        raise IntegrityError(
            f"{path}: has not the columns of a share's results; expected: {', '.join(RESULTS)}."
        )
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
