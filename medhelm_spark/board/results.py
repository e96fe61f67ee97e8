"""What the methods that read a board return."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from medhelm_spark.board.instances import (
    InstanceDetail,
    InstanceKey,
    InstancePage,
    instance_detail,
    instance_details,
    own_columns_of,
)
from medhelm_spark.board.practical import PracticalDifference
from medhelm_spark.board.render import comparison
from medhelm_spark.board.render.answers import answer_text, answers_text, end_of, start_of
from medhelm_spark.board.render.answers_page import answers_page
from medhelm_spark.board.render.board import render
from medhelm_spark.board.render.robustness import render_robustness
from medhelm_spark.board.render.stats import FIELDS, render_stats
from medhelm_spark.board.stat_rows import StatRow
from medhelm_spark.board.viewers import Viewer
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.lake.reader import Reader
from medhelm_spark.render.result import Result, columns_of, frame, texts_of
from medhelm_spark.render.table import html_table
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.statistics.robustness import RobustnessRow

if TYPE_CHECKING:
    import pandas as pd

GONE = "no longer in the lake"
"""In place of a text that was removed, of an answer whose scores a release keeps."""


@dataclass(frozen=True, slots=True)
class Board(Result):
    """A leaderboard: columns, rows best first, paired differences and notes."""

    leaderboard: Leaderboard
    banner: str = ""
    """A line above it: that its release is withdrawn. Empty for every other board."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per model, scenario and configuration."""
        yield from json.loads(self.render("json"))["cells"]

    def render(self, form: str = "table") -> str:
        """The board as text: `table`, `md`, `csv`, `json` or `html`."""
        return render(self.leaderboard, form, banner=self.banner)


@dataclass(frozen=True, slots=True)
class Stats(Result):
    """Every stat of every run: each metric, split and perturbation, with what it rests on."""

    stats: tuple[StatRow, ...]
    banner: str = ""
    """As of a Board."""

    HEADER = FIELDS

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per run, stat, split, perturbation and what is computed on it."""
        yield from map(asdict, self.stats)

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_stats(self.stats, form, banner=self.banner)


@dataclass(frozen=True, slots=True)
class Robustness(Result):
    """What perturbed copies, other prompts and repeats do to each model's main metrics."""

    changes: tuple[RobustnessRow, ...]
    banner: str = ""
    """As of a Board."""

    HEADER = tuple(RobustnessRow.__dataclass_fields__)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per model, scenario and change."""
        yield from map(asdict, self.changes)

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_robustness(self.changes, form, banner=self.banner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Result):
    """Paired differences of models on the same instances, by scenario, regressions first.

    Of each pair the difference is `first` less `second`, in the order in which `models` were named.
    """

    models: tuple[str, ...]
    pairs: tuple[BoardPair, ...]
    practical: tuple[PracticalDifference, ...] = ()
    """Of two models, by benchmark: missed cases, false alarms, cost, tokens, seconds, money."""
    prices: Mapping[str, Prices] = field(default_factory=dict, repr=False)

    HEADER = comparison.FIELDS

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per scenario and two models: decision, difference, interval, what it rests on."""
        yield from map(comparison.record, self.pairs)

    def render(self, form: str = "table") -> str:
        """The comparison as text: `table`, `json`, `csv`, `md` or `html`."""
        return comparison.render(self.pairs, form, practical=self.practical, prices=self.prices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instances(Result):
    """A page of the answers behind a number.

    The page itself has no clinical text; `details` reads all that is stored, answer by answer.
    """

    run_spec: RunSpec
    page: InstancePage
    reader: Reader = field(repr=False)

    HEADER = ("number", "instance_id", "value", "status", "train_trial_index", "trial_index")

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per answer, without any text."""
        for score in self.page.scores:
            values = (
                score.number,
                score.key.instance_id,
                score.value,
                score.status.value,
                score.key.train_trial_index,
                score.key.trial_index,
            )
            yield dict(zip(self.HEADER, values, strict=True))

    def detail(self, key: InstanceKey) -> InstanceDetail | None:
        """Prompt, answer, references, scores and verdicts of one answer; None if there is none."""
        # Whoever runs Python here reads the lake itself, not through a page.
        return instance_detail(self.reader, self.run_spec, key, viewer=Viewer.THIS_MACHINE)

    def details(self) -> Iterator[InstanceDetail]:
        """The same for every answer of the page."""
        keys = [score.key for score in self.page.scores]
        here = Viewer.THIS_MACHINE
        yield from instance_details(self.reader, self.run_spec, keys, viewer=here).values()

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a DataFrame, with the data's own ids and columns, which are clinical text."""
        spec, ids = self.run_spec, [score.key.instance_id for score in self.page.scores]
        own = own_columns_of(self.reader, spec, ids, viewer=Viewer.THIS_MACHINE)
        rows = []
        for row in self.rows():
            of_row = own.get(row["instance_id"])
            source_id = of_row.source_id if of_row else None
            columns = of_row.columns if of_row else {}
            rows.append(_with_columns({**row, "source_id": source_id}, columns))
        return frame(rows, columns_of([*self.HEADER, "source_id"], rows))

    @property
    def notes(self) -> list[str]:
        """The run, and which part of its answers the page has."""
        first, count = self.page.offset + 1, len(self.page.scores)
        part = f"{first} to {first + count - 1}" if count else f"none from {first} on"
        return [f"{self.run_spec.name}: {part}, of {counted(self.page.total, 'answer')}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMark:
    """What people left on an answer."""

    flags: tuple[str, ...]
    """In words."""
    note: str | None
    access_level: AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer as a person reads it; it contains clinical text."""

    scenario_name: str
    model_deployment: str
    number: int
    instance_id: str
    prompt: str
    """What was asked; of a conversation its last turn."""
    answer: str | None
    """The answer without thinking; None where there is none, and `status` says why."""
    read: str | None
    """What the run's extraction found; None for nothing, or where the answer is compared whole."""
    option: str | None
    """The text of the option that the answer names, of a prompt that shows options."""
    references: tuple[str, ...]
    """The correct ones."""
    metric: str
    """The main metric; `right` where that is of the whole run and says which answers are right."""
    value: float | None
    status: str
    levels: frozenset[AccessLevel]
    """Who may see the texts."""
    source_id: str | None = None
    """What the data calls the instance."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What its card keeps of the data."""
    gone: tuple[str, ...] = ()
    """The texts that the lake no longer has, of an answer of a release."""
    flags: tuple[str, ...] = ()
    """What people marked the answer with."""
    note: str | None = None
    """What a person wrote of it."""

    @property
    def score(self) -> str:
        """The main score in words: its value, or why there is none."""
        return f"{self.metric} {self.status if self.value is None else texts_of([self.value])[0]}"

    @property
    def title(self) -> str:
        """Which answer it is, and its score."""
        own = f"  {start_of(self.source_id)}" if self.source_id else ""
        flags = "".join(f"  [{flag}]" for flag in self.flags)
        named = f"{self.scenario_name}  {self.model_deployment}"
        return f"#{self.number}{own}  {named}  {self.score}{flags}"

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Labels with the whole texts that there are, in the order in which they are read."""
        parts = [("text", f"{GONE}: {', '.join(self.gone)}")] if self.gone else []
        parts += self.columns.items()
        parts += [("prompt", self.prompt)] if "prompt" not in self.gone else []
        named = {"answer": self.answer, "read as": self.read, "option": self.option}
        parts += [(label, text) for label, text in named.items() if text is not None]
        parts += [("reference", text) for text in self.references]
        return parts + ([("note", self.note)] if self.note else [])

    def __str__(self) -> str:
        shorten = {"prompt": end_of}
        parts = [(label, shorten.get(label, start_of)(text)) for label, text in self.parts]
        return answer_text(self.title, parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Result):
    """Answers of one or more runs, and a note on each run; they contain clinical text."""

    answers: tuple[Answer, ...]
    of_runs: tuple[str, ...]
    """A line on each run: its wrong, unread and failed answers, and how many of them another method
    of reading would score as right."""

    HEADER = (
        "scenario_name",
        "model_deployment",
        "number",
        "instance_id",
        "source_id",
        "prompt",
        "answer",
        "read",
        "option",
        "references",
        "metric",
        "value",
        "status",
        "flags",
        "note",
    )

    @property
    def levels(self) -> frozenset[AccessLevel]:
        """Who may see the texts."""
        return frozenset(level for answer in self.answers for level in answer.levels)

    @property
    def notes(self) -> tuple[str, ...]:
        """The line on each run."""
        return self.of_runs

    @property
    def html(self) -> str:
        """A page of its own with every text as a whole; it runs no script and fetches nothing."""
        entries = [(answer.title, answer.parts) for answer in self.answers]
        levels = ", ".join(sorted(level.value for level in self.levels)) or "none"
        return answers_page("Answers", entries, self.notes, {"Levels of the texts": levels})

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per answer, every text as a whole."""
        for answer in self.answers:
            yield {name: getattr(answer, name) for name in self.HEADER}

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a DataFrame, with the columns of the data that its card keeps."""
        rows = [
            _with_columns(row, answer.columns)
            for row, answer in zip(self.rows(), self.answers, strict=True)
        ]
        return frame(rows, columns_of(self.HEADER, rows))

    def __str__(self) -> str:
        return answers_text(list(map(str, self.answers)), self.notes)

    def _repr_html_(self) -> str:
        header = ("#", "id", "benchmark", "model", "end of prompt", "answer", "reference", "score")
        rows = [
            (
                str(answer.number),
                start_of(answer.source_id or ""),
                answer.scenario_name,
                answer.model_deployment,
                GONE if "prompt" in answer.gone else end_of(answer.prompt),
                GONE * ("answer" in answer.gone)
                if answer.answer is None
                else start_of(answer.answer),
                " | ".join(map(start_of, answer.references)),
                answer.score,
            )
            for answer in self.answers
        ]
        return html_table(header, rows, self.notes)


def _with_columns(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """The row with the data's own columns; one that is called as ours is `data.NAME`."""
    return {**row, **{f"data.{name}" if name in row else name: columns[name] for name in columns}}
