"""What an evaluation returns: rows that show themselves in a notebook and turn into pandas."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medhelm_spark.api.at_hand import Needed
from medhelm_spark.api.coverage import Missing
from medhelm_spark.api.fetch import FetchedScenario, Outcome
from medhelm_spark.api.suite_models import Other
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.left_out import LeftOut
from medhelm_spark.domain.level_change import LevelChange
from medhelm_spark.domain.listed_model import ListedModel
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.policy import Policy, PolicyDecision
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import Stage
from medhelm_spark.lake.reader import Reader
from medhelm_spark.leaderboard import (
    InstanceDetail,
    InstanceKey,
    InstancePage,
    StatRow,
    Viewer,
    instance_detail,
    instance_details,
    own_columns_of,
)
from medhelm_spark.leaderboard.disclosures import Disclosure
from medhelm_spark.render import comparison
from medhelm_spark.render.answers import answer_text, answers_text, end_of, start_of
from medhelm_spark.render.board import render
from medhelm_spark.render.disclosures import render_disclosures
from medhelm_spark.render.left_out import left_out_html, render_left_out
from medhelm_spark.render.level_changes import render_level_changes
from medhelm_spark.render.models import render_models
from medhelm_spark.render.robustness import render_robustness
from medhelm_spark.render.stats import FIELDS as STAT_FIELDS
from medhelm_spark.render.stats import render_stats
from medhelm_spark.render.table import Table, html_table, text_table
from medhelm_spark.stages.decide import decisions_of
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.statistics.robustness import RobustnessRow

if TYPE_CHECKING:
    import pandas as pd

GONE = "no longer in the lake"
"""In place of a text that was removed, of an answer whose scores a release keeps."""

EMBEDDED_MODEL = "huggingface/smollm2-135m-instruct"
"""What `next_command` asks: the model that runs anywhere."""


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd  # only who asks for a DataFrame needs it

    return pd.DataFrame(list(rows), columns=list(columns))


def _with_columns(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """The row with the data's own columns; one that is called as ours is `data.NAME`."""
    return {**row, **{f"data.{name}" if name in row else name: columns[name] for name in columns}}


def _names(header: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The header, and the columns that rows have beyond it."""
    return list(dict.fromkeys([*header, *(name for row in rows for name in row)]))


@dataclass(frozen=True, slots=True)
class Board:
    """A leaderboard: columns, rows best first, paired differences and notes.

    `banner` stands above it: that its release is withdrawn. It is empty for every other board.
    """

    leaderboard: Leaderboard
    banner: str = ""

    def render(self, form: str = "table") -> str:
        """The board as text: `table`, `md`, `csv`, `json` or `html`."""
        return render(self.leaderboard, form, banner=self.banner)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per model, scenario and configuration."""
        cells = json.loads(self.render("json"))["cells"]
        return _frame(cells, list(cells[0]) if cells else [])

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True)
class Stats:
    """Every stat of every run: each metric, split and perturbation, with what it rests on.

    `banner` stands above it, as above a Board.
    """

    stats: tuple[StatRow, ...]
    banner: str = ""

    HEADER = STAT_FIELDS

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per run, stat, split, perturbation and what is computed on it."""
        yield from map(asdict, self.stats)

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_stats(self.stats, form, banner=self.banner)

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a DataFrame."""
        return _frame(list(self.rows()), self.HEADER)

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True)
class Robustness:
    """What perturbed copies, other prompts and repeats do to each model's main metrics.

    `banner` stands above it, as above a Board.
    """

    rows: tuple[RobustnessRow, ...]
    banner: str = ""

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_robustness(self.rows, form, banner=self.banner)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per model, scenario and change."""
        return _frame(list(map(asdict, self.rows)), list(RobustnessRow.__dataclass_fields__))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True)
class Disclosures:
    """What text was sent where: by level, deployment, destination, locality and day."""

    disclosed: tuple[Disclosure, ...]

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_disclosures(self.disclosed, form)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per level, deployment, destination, locality and day."""
        return _frame(list(map(asdict, self.disclosed)), list(Disclosure.__dataclass_fields__))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True)
class LevelChanges:
    """The lowerings of levels that a lake has on record, reviewed as of now; oldest first."""

    changes: tuple[LevelChange, ...]

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_level_changes(self.changes, form)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per recorded lowering."""
        return _frame(list(map(asdict, self.changes)), list(LevelChange.__dataclass_fields__))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True)
class Models:
    """The models that are known here, what each lacks, and whether those that were asked answer."""

    rows: tuple[ListedModel, ...]

    @property
    def silent(self) -> tuple[ListedModel, ...]:
        """Those that were to be asked and gave no answer."""
        return tuple(row for row in self.rows if row.answers is False)

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_models(self.rows, form)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per deployment."""
        return _frame(list(map(asdict, self.rows)), list(ListedModel.__dataclass_fields__))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of the wish to have the data of scenarios on this machine, by scenario."""

    scenarios: tuple[FetchedScenario, ...]

    HEADER = ("scenario_name", "outcome", "files", "size_in_bytes", "reason")

    @property
    def absent(self) -> tuple[FetchedScenario, ...]:
        """Those whose data cannot be had."""
        return tuple(each for each in self.scenarios if each.outcome is Outcome.ABSENT)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per scenario, and per choice of data of one that has several."""
        for each in self.scenarios:
            yield {name: getattr(each, name) for name in self.HEADER}

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a DataFrame."""
        return _frame(list(self.rows()), self.HEADER)

    def __str__(self) -> str:
        return _shown(self.HEADER, self.rows(), self._note)

    def _repr_html_(self) -> str:
        return html_table(self.HEADER, [_texts(row.values()) for row in self.rows()], [self._note])

    @property
    def _note(self) -> str:
        return f"{counted(len(self.scenarios), 'scenario')}, {len(self.absent)} cannot be had"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Paired differences of models on the same instances, by scenario, regressions first.

    Of each pair the difference is `first` less `second`, in the order in which `models` were named.
    """

    models: tuple[str, ...]
    pairs: tuple[BoardPair, ...]

    HEADER = comparison.FIELDS

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per scenario and two models: decision, difference, interval, what it rests on."""
        yield from map(comparison.record, self.pairs)

    def render(self, output_format: str = "table") -> str:
        """The comparison as text: `table`, `json`, `csv`, `md` or `html`."""
        return comparison.render(self.pairs, output_format)

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a DataFrame."""
        return _frame(list(self.rows()), self.HEADER)

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instances:
    """A page of the answers behind a number.

    The page itself holds no clinical text; `details` reads all that is stored, answer by answer.
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
        # Who runs Python here reads the lake itself: no page stands between.
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
        return _frame(rows, _names([*self.HEADER, "source_id"], rows))

    def __str__(self) -> str:
        return _shown(self.HEADER, self.rows(), self._note)

    def _repr_html_(self) -> str:
        return html_table(self.HEADER, [_texts(row.values()) for row in self.rows()], [self._note])

    @property
    def _note(self) -> str:
        first, shown = self.page.offset + 1, len(self.page.scores)
        part = f"{first} to {first + shown - 1}" if shown else f"none from {first} on"
        return f"{self.run_spec.name}: {part}, of {counted(self.page.total, 'answer')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer as a person reads it; it holds clinical text.

    `prompt` is what was asked, of a conversation its last turn. `answer` is without thinking, and
    None where there is none: `status` says why. `read` is what the run's extraction found in it,
    None where that is nothing or the answer is compared as it stands. `references` are the correct
    ones, `value` is the main score, `levels` who may see the texts. Where the main metric is of the
    whole run, `metric` is `right` and `value` 1 or 0, if that metric says which answers are right.
    `source_id` is what the data calls the instance, `columns` what its card keeps of the data.
    `gone` names texts that the lake holds no more, of an answer of a release.
    """

    scenario_name: str
    model_deployment: str
    number: int
    instance_id: str
    prompt: str
    answer: str | None
    read: str | None
    references: tuple[str, ...]
    metric: str
    value: float | None
    status: str
    levels: frozenset[AccessLevel]
    source_id: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()

    @property
    def score(self) -> str:
        """The main score in words: its value, or why there is none."""
        return f"{self.metric} {self.status if self.value is None else _text(self.value)}"

    def __str__(self) -> str:
        own = f"  {start_of(self.source_id)}" if self.source_id else ""
        title = f"#{self.number}{own}  {self.scenario_name}  {self.model_deployment}  {self.score}"
        parts = [("text", f"{GONE}: {', '.join(self.gone)}")] if self.gone else []
        parts += [(name, start_of(value)) for name, value in self.columns.items()]
        parts += [("prompt", end_of(self.prompt))] if "prompt" not in self.gone else []
        parts += [("answer", start_of(self.answer))] if self.answer is not None else []
        parts += [("read as", start_of(self.read))] if self.read is not None else []
        parts += [("reference", start_of(text)) for text in self.references]
        return answer_text(title, parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers of one or more runs, and a note on each run; they hold clinical text.

    A note counts the run's wrong, unread and failed answers, and says which other method of reading
    would score how many of them as right.
    """

    answers: tuple[Answer, ...]
    notes: tuple[str, ...]

    HEADER = (
        "scenario_name",
        "model_deployment",
        "number",
        "instance_id",
        "source_id",
        "prompt",
        "answer",
        "read",
        "references",
        "metric",
        "value",
        "status",
    )

    @property
    def levels(self) -> frozenset[AccessLevel]:
        """Who may see the texts."""
        return frozenset(level for answer in self.answers for level in answer.levels)

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
        return _frame(rows, _names(self.HEADER, rows))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """What would run, what the policy says of it, and what is missing; nothing was written or sent.

    `needed` is what is missing, will be fetched or was not checked.
    """

    suite: str
    runs: tuple[ResolvedRun, ...]
    policy: Policy = field(repr=False)
    needed: tuple[Needed, ...] = ()

    HEADER = ("run_name", "role", "model_deployment", "locality", "access_level", "allowed", "rule")

    @property
    def decisions(self) -> tuple[PolicyDecision, ...]:
        """What the policy says of every model and judge."""
        return tuple(decisions_of(self.suite, self.runs, self.policy))

    @property
    def missing(self) -> tuple[Needed, ...]:
        """What a run would do without, or end for want of: data, keys, packages, weights."""
        return tuple(needed for needed in self.needed if needed.is_missing)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per model and judge of each run."""
        for decision in self.decisions:
            yield {name: getattr(decision, name) for name in self.HEADER}

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a DataFrame."""
        return _frame(list(self.rows()), self.HEADER)

    def __str__(self) -> str:
        return _shown(self.HEADER, self.rows(), "\n".join(self._notes))

    def _repr_html_(self) -> str:
        rows = [_texts(row.values()) for row in self.rows()]
        return html_table(self.HEADER, rows, self._notes)

    @property
    def _notes(self) -> list[str]:
        told = [str(needed) for needed in self.needed]
        return [*told, f"suite {self.suite}; nothing was written or sent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release and what is pinned in it."""

    name: str
    suites: tuple[str, ...]
    manifest_hash: str
    board: Board = field(repr=False)
    status: ReleaseStatus = ReleaseStatus.DRAFT

    def to_pandas(self) -> "pd.DataFrame":
        """The board's rows."""
        return self.board.to_pandas()

    def __str__(self) -> str:
        suites = ", ".join(self.suites)
        manifest = f"{self.status}, manifest {self.manifest_hash}"
        return f"release {self.name} of {suites}, {manifest}\n\n{self.board}"

    def _repr_html_(self) -> str:
        return self.board._repr_html_()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """What an evaluation came to.

    `missing` is what stays below the policy's floor, None where nothing does. `others` are the
    suite's other models that keep an earlier definition of a scenario. `board` is there once
    everything was summarised. `left_out` are the runs that were asked for and whose data could not
    be had: what is shown says so first.
    """

    suite: str
    upto: Stage
    specs: tuple[RunSpec, ...]
    model_calls: int
    missing: Missing | None
    others: tuple[Other, ...] = ()
    board: Board | None = field(default=None, repr=False)
    left_out: tuple[LeftOut, ...] = ()

    HEADER = ("name", "model_deployment", "scenario_name", "main_metric", "run_spec_id")

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per run."""
        for spec in self.specs:
            yield {name: getattr(spec, name) for name in self.HEADER}

    def to_pandas(self) -> "pd.DataFrame":
        """The board's rows; before there is a board, the runs."""
        return self.board.to_pandas() if self.board else _frame(list(self.rows()), self.HEADER)

    def __str__(self) -> str:
        shown = str(self.board) if self.board else _shown(self.HEADER, self.rows(), self._note)
        return "\n\n".join(part for part in (render_left_out(self.left_out), shown) if part)

    def _repr_html_(self) -> str:
        return left_out_html(self.left_out) + self._done_html()

    def _done_html(self) -> str:
        if self.board:
            return self.board._repr_html_()
        rows = [_texts(row.values()) for row in self.rows()]
        return html_table(self.HEADER, rows, [self._note])

    @property
    def _note(self) -> str:
        calls = counted(self.model_calls, "model call")
        return f"suite {self.suite}, done up to {self.upto.name}, {calls}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InitializedBenchmark:
    """A benchmark folder that was written, and what to type next.

    `entry` is its run entry without a model, `rows` how many the data has, `labels` the right
    answers that its prompt lists. `prompt` is filled with the text of one row: it is shown to the
    person whose data it is, and stored nowhere. `alike` are right answers that differ by case or
    blanks alone: each counts as an answer of its own.
    """

    folder: Path
    entry: str
    rows: int
    labels: tuple[str, ...]
    prompt: str = field(repr=False)
    alike: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    @property
    def next_command(self) -> str:
        """A run of ten rows by the embedded model, up to a board."""
        entry = shlex.quote(f"{self.entry},model={EMBEDDED_MODEL}")
        return f"medhelm-spark run --suite {shlex.quote(self.folder.name)} -m 10 -r {entry}"

    def __str__(self) -> str:
        return f"{self._note}\n\n{self.prompt}"

    def _repr_html_(self) -> str:
        return html_table(["prompt, filled with one row"], [[self.prompt]], [self._note])

    @property
    def _note(self) -> str:
        answers = f", answers {', '.join(self.labels)}" if self.labels else ""
        return f"{self.folder}: {counted(self.rows, 'row')}{answers}; {self.next_command}"


def _shown(header: Sequence[str], rows: Iterable[Mapping[str, Any]], note: str) -> str:
    """Rows as aligned text with a note below."""
    texts = [_texts(row.values()) for row in rows]
    return text_table(Table(header=header, rows=texts, notes=[note]))


def _texts(values: Any) -> list[str]:
    """Values as a table shows them: numbers with three decimals, nothing for None."""
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
