"""Links from a page to MLflow's record of the same numbers, where the lake names one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from page_context import PageContext
from page_markup import text

if TYPE_CHECKING:
    from medhelm_spark.tracking.tables import MlflowRun

SUMMARY = "These numbers in MLflow"


def mlflow_links(
    tracked: "Sequence[MlflowRun]", context: PageContext, run_spec_id: str | None
) -> str:
    """Links to the MLflow run of each model that is shown, or of the one run of the page.

    Empty where nothing was tracked.
    """
    rows = _rows(tracked, context, run_spec_id)
    if not rows:
        return ""
    links = "".join(f"<li>{_link(row)}</li>" for row in rows)
    commands = "".join(
        f"<p>This starts it: <code>{text(command)}</code></p>"
        for command in sorted({row.served_by for row in rows if row.served_by})
    )
    return (
        f'<details class="ms-about"><summary>{SUMMARY}</summary><ul>{links}</ul>'
        f"{commands}</details>"
    )


def _rows(
    tracked: "Sequence[MlflowRun]", context: PageContext, run_spec_id: str | None
) -> "Sequence[MlflowRun]":
    """The rows of the run alone, else of all models that are shown."""
    if run_spec_id and (own := [row for row in tracked if row.run_spec_id == run_spec_id]):
        return own
    models = {run.run_spec.model_deployment for run in context.runs}
    return [row for row in tracked if not row.run_spec_id and row.model_deployment in models]


def _link(row: "MlflowRun") -> str:
    """The model's name as a link; without an address the id to look for."""
    if row.address.startswith(("http://", "https://")):
        return f'<a href="{text(row.address)}">{text(row.model_deployment)}</a>'
    return f"{text(row.model_deployment)}: run {text(row.mlflow_run_id)}"
