"""Results of the methods that run, plan and fetch."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from medhelm_spark.board.results import Board
from medhelm_spark.domain.listed_model import ListedModel
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.policy import Policy, PolicyDecision
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.domain.stages import Stage
from medhelm_spark.pipeline.availability import Needed
from medhelm_spark.pipeline.coverage import Missing
from medhelm_spark.pipeline.fetch import FetchedScenario, Outcome
from medhelm_spark.pipeline.render_models import render_models
from medhelm_spark.pipeline.render_skipped import render_skipped, skipped_html
from medhelm_spark.pipeline.suite_models import StaleModel
from medhelm_spark.render.result import Result
from medhelm_spark.stages.decide import decisions_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Models(Result):
    """The configured models, what each lacks, and whether those that were asked answer."""

    models: tuple[ListedModel, ...]

    HEADER = tuple(ListedModel.__dataclass_fields__)

    @property
    def silent(self) -> tuple[ListedModel, ...]:
        """The models that gave no answer to the question."""
        return tuple(each for each in self.models if each.answers is False)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per deployment."""
        yield from map(asdict, self.models)

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_models(self.models, form)


@dataclass(frozen=True, slots=True)
class Fetched(Result):
    """The outcome of fetching data to this machine, by scenario."""

    scenarios: tuple[FetchedScenario, ...]

    HEADER = ("scenario_name", "outcome", "files", "size_in_bytes", "reason")

    @property
    def absent(self) -> tuple[FetchedScenario, ...]:
        """The scenarios whose data is not available."""
        return tuple(each for each in self.scenarios if each.outcome is Outcome.ABSENT)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per scenario, and per choice of data if a scenario has several."""
        for each in self.scenarios:
            yield {name: getattr(each, name) for name in self.HEADER}

    @property
    def notes(self) -> list[str]:
        """How many scenarios there are, and how many are not available."""
        return [f"{counted(len(self.scenarios), 'scenario')}, {len(self.absent)} cannot be had"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs(Result):
    """What would run, the policy's decisions, and what is missing; nothing was written or sent.

    `needed` is what is missing, will be fetched or was not checked.
    """

    suite: str
    runs: tuple[ResolvedRun, ...]
    policy: Policy = field(repr=False)
    needed: tuple[Needed, ...] = ()

    HEADER = ("run_name", "role", "model_deployment", "locality", "access_level", "allowed", "rule")

    @property
    def decisions(self) -> tuple[PolicyDecision, ...]:
        """The policy's decision on every model and judge."""
        return tuple(decisions_of(self.suite, self.runs, self.policy))

    @property
    def missing(self) -> tuple[Needed, ...]:
        """The missing data, keys, packages and weights."""
        return tuple(needed for needed in self.needed if needed.is_missing)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per model and judge of each run."""
        for decision in self.decisions:
            yield {name: getattr(decision, name) for name in self.HEADER}

    @property
    def notes(self) -> list[str]:
        """What is needed, and that nothing was written or sent."""
        needed = [str(each) for each in self.needed]
        return [*needed, f"suite {self.suite}; nothing was written or sent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(Result):
    """The result of an evaluation."""

    suite: str
    upto: Stage
    specs: tuple[RunSpec, ...]
    model_calls: int
    missing: Missing | None
    """What is below the policy's floor; None if nothing is."""
    others: tuple[StaleModel, ...] = ()
    """The suite's other models that keep an earlier definition of a scenario."""
    board: Board | None = field(default=None, repr=False)
    """The board, once all runs are summarised."""
    left_out: tuple[LeftOut, ...] = ()
    """The requested runs whose data was not available; the report lists them first."""

    HEADER = ("name", "model_deployment", "scenario_name", "main_metric", "run_spec_id")

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per run."""
        for spec in self.specs:
            yield {name: getattr(spec, name) for name in self.HEADER}

    @property
    def notes(self) -> list[str]:
        """The last finished stage of the suite, and the number of model calls."""
        calls = counted(self.model_calls, "model call")
        return [f"suite {self.suite}, done up to {self.upto.name}, {calls}"]

    def to_pandas(self) -> "pd.DataFrame":
        """The board's rows, or the runs if there is no board yet."""
        return self.board.to_pandas() if self.board else Result.to_pandas(self)

    def __str__(self) -> str:
        body = str(self.board) if self.board else self.render()
        return "\n\n".join(part for part in (render_skipped(self.left_out), body) if part)

    def _repr_html_(self) -> str:
        done = self.board._repr_html_() if self.board else self.render("html")
        return skipped_html(self.left_out) + done
