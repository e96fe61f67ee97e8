"""`init`: a benchmark folder on one's own table or file, checked by what a run checks."""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePosixPath

from medhelm_spark.config.benchmark_data import check_reading, format_of
from medhelm_spark.config.benchmark_file import ID_COLUMN
from medhelm_spark.config.dataset import INCORRECT_COLUMN
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_source import DataSource, SourceFile, numbered
from medhelm_spark.domain.data_uri import TABLE, is_delta_path, is_uri, table_of
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.scenario import Instance, ScenarioCard
from medhelm_spark.errors import ConfigError, DataError, MedhelmSparkError, MissingColumnError
from medhelm_spark.local_files import local_table, part_files
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.medhelm.scenario_args import BENCHMARK_FILE, CONFIG_PATH, CONFIGURABLE
from medhelm_spark.render.table import html_table
from medhelm_spark.scenarios import (
    BadRecord,
    Record,
    as_text,
    check_card,
    parse_records,
    read_records,
    required_columns,
)
from medhelm_spark.stages.ingest.source_tables import Columns, columns_of_table
from medhelm_spark.user_data.new_benchmark import BenchmarkWords, NewBenchmark
from medhelm_spark.user_data.own_columns import check_named_columns, check_own_columns
from medhelm_spark.user_data.own_rows import check_own_rows
from medhelm_spark.user_data.schemas import BENCHMARK, names_schema, shipped_schema
from medhelm_spark.whole_files import whole_folder
from medhelm_spark.workspace.workspace import Workspace

MOST_LABELS = 20
MOST_CHARACTERS = 40
TRIED_ROWS = 100
CONFIGURATION, PROMPT = BENCHMARK_FILE, "prompt.txt"

EMBEDDED_MODEL = "huggingface/smollm2-135m-instruct"
"""What `next_command` asks: the model that runs anywhere."""


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


def init_benchmark(
    workspace: Workspace,
    folder: str | Path | None,
    location: str,
    *,
    text: str,
    label: str,
    id_column: str | None,
    sheet: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    question: str | None = None,
    positive: str | None = None,
    cluster: str | None = None,
    metric: str | None = None,
) -> InitializedBenchmark:
    """Write `benchmark.yaml` and `prompt.txt` into a new folder: both, or there is no folder.

    Nothing of the data's rows gets into it but the right answers, where there are few.

    Args:
        workspace: whose session reads a table.
        folder: the new folder (None: named after the table or file).
        location: a file, or `table:NAME`.
        text: the column that a prompt shows.
        label: the column of right answers.
        id_column: the column of ids (None: `id` where there is one, else the row's number).
        sheet: the sheet of a workbook (None: the first).
        separator: the sign between the columns of a csv (None: what the file shows).
        encoding: of a text (None: what the file shows).
        question: what the prompt asks (None: a draft).
        positive: the right answer that counts as positive (None: none does).
        cluster: the column that says which rows belong together (None: none does).
        metric: the main metric (None: by the right answers).

    Raises:
        ConfigError: the folder is there already, or its name has a comma; a column is empty, or
            has a meaning that its name rules out; `positive` is none of 2 to 20 right answers.
        DataError: the data cannot be read, lacks a column, repeats an id, or has no usable row.
    """
    folder = Path(folder) if folder else Path(_name_of(location))
    columns_by_flag = {"text": text, "label": label, "id": id_column, "cluster": cluster}
    location = _here(location)
    _check(folder, columns_by_flag)
    check_reading(separator, encoding, "init")
    new = NewBenchmark(
        name=re.sub(r"[^\w. -]", "-", folder.name).upper(),
        location=_from(folder, location),
        text=text,
        label=label,
        id=id_column,
        sheet=sheet,
        separator=separator,
        encoding=encoding,
        question=question.strip() if question else None,
        positive=positive,
        cluster=cluster,
        metric=metric,
    )
    source = _source(location, new)
    if source:
        check_named_columns(source, columns_by_flag)
    elif table_of(location) is None and not is_uri(location):
        raise ConfigError(
            f"file (--file) is {location!r}; there is no such file, or folder of files."
        )
    with whole_folder(folder) as half, _named_in_errors(half, folder, columns_by_flag):
        # A metric of classes needs the labels, which the data is read for.
        card = _written(half, replace(new, metric=None), workspace)
        check_own_columns(card, workspace.say)
        check_own_rows(card, workspace.say)
        columns = _columns(workspace, card, label)
        new = replace(new, labels=_few(columns), words=_words(columns))
        _check_positive(new)
        card = _written(half, new, workspace)
        prompt = _filled(card, columns.head)
    return InitializedBenchmark(
        folder=folder,
        entry=f"{CONFIGURABLE}:{CONFIG_PATH}={folder / CONFIGURATION}",
        rows=columns.rows,
        labels=new.labels,
        prompt=prompt,
        alike=_alike(columns.values),
    )


def _check_positive(new: NewBenchmark) -> None:
    """Refuse a positive label that the data does not have; its own are not named."""
    if new.positive is None or new.positive in new.labels:
        return
    if not new.labels:
        raise ConfigError(
            f"positive (--positive) is {new.positive!r}, and the right answers are no 2 to "
            f"{MOST_LABELS} short ones that repeat; leave it out."
        )
    raise ConfigError(
        f"positive (--positive) is {new.positive!r}, which is none of the data's "
        f"{len(new.labels)} right answers; allowed: one of them, as it is written there."
    )


@contextmanager
def _named_in_errors(half: Path, folder: Path, columns: dict[str, str | None]) -> Iterator[None]:
    """Name the folder in errors as it will be named, and the flags where a column is absent."""
    try:
        yield
    except MedhelmSparkError as error:
        error.args = (str(error).replace(str(half), str(folder)),)
        if not isinstance(error, MissingColumnError):
            raise
        flags = ", ".join(f"--{flag} {name!r}" for flag, name in columns.items() if name)
        raise MissingColumnError(f"{error} Given: {flags}.") from None


def _here(location: str) -> str:
    """The location; a table by its folder, where a Delta table's folder here has that bare name."""
    table = table_of(location)
    return location if table is None else TABLE + local_table(table)


def _source(location: str, new: NewBenchmark) -> DataSource | None:
    """What is at a path of this machine: a file, or the files of a folder; None of another."""
    path = Path(location).expanduser()
    if path.is_dir():
        files = numbered([SourceFile(path=str(part)) for part in part_files(path)], f"in {path}")
    else:
        files = (SourceFile(path=str(path)),) if path.is_file() else ()
    if not files:
        return None
    return DataSource(
        format=format_of(files[0].path),
        files=files,
        sheet=new.sheet,
        separator=new.separator,
        encoding=new.encoding,
    )


def _check(folder: Path, columns: dict[str, str | None]) -> None:
    for name, column in columns.items():
        if column is not None and not column.strip():
            raise ConfigError(f"{name} (--{name}) is empty; allowed: a column of the data.")
        if column == INCORRECT_COLUMN:
            raise ConfigError(
                f"{name} (--{name}) is {column!r}, which has the wrong answers of a benchmark; "
                "give the column another name."
            )
    for name in ("text", "label"):
        if columns[name] == ID_COLUMN and columns["id"] is None:
            raise ConfigError(
                f"{name} (--{name}) is {ID_COLUMN!r}, which has the ids of a benchmark; name the "
                "column of ids by --id."
            )
    if columns["text"] == columns["label"]:
        raise ConfigError(
            f"text (--text) and label (--label) are both {columns['text']!r}; the prompt would "
            "contain the right answer."
        )
    if "," in str(folder) or "=" in str(folder):
        raise ConfigError(f"folder is {str(folder)!r}; allowed: a path without , and =.")
    if folder.exists():
        raise ConfigError(f"{folder}: is there already; name a folder that is not.")


def _name_of(location: str) -> str:
    """The folder's name: the last part of a table's, or the file's without its ending.

    >>> _name_of("table:clinic.letters"), _name_of("data/letters.csv"), _name_of("table:s3://b/x/")
    ('letters', 'letters', 'x')
    """
    table = table_of(location)
    if table is None:
        return PurePosixPath(location).name.partition(".")[0]
    return table.rstrip("/").replace("`", "").rpartition("/" if is_delta_path(table) else ".")[2]


def _from(folder: Path, location: str) -> str:
    """The location as it is named in the folder's file: one of this machine by its whole path."""
    table = table_of(location)
    path = location if table is None else table
    is_local = not is_uri(path) and (table is None or is_delta_path(table))
    absolute = str(Path(path).expanduser().absolute()) if is_local else path
    return absolute if table is None else TABLE + absolute


def _written(folder: Path, new: NewBenchmark, workspace: Workspace) -> ScenarioCard:
    """The card of the files, written and read again as a run reads them."""
    (folder / PROMPT).write_text(new.prompt, encoding="utf-8")
    schema = shipped_schema(BENCHMARK)
    (folder / schema.name).write_bytes(schema.read_bytes())
    configuration = names_schema(new.configuration, BENCHMARK)
    (folder / CONFIGURATION).write_text(configuration, encoding="utf-8")
    card = load_benchmark(folder / CONFIGURATION).card
    if card.name in workspace.registry.cards:
        raise ConfigError(f"folder is {str(folder)!r}: {card.name!r} is a shipped scenario's name.")
    check_card(card)
    return card


def _columns(workspace: Workspace, card: ScenarioCard, label: str) -> Columns:
    """The right answers and the first rows, from a file here or from a table through Spark."""
    if card.source.table:
        workspace.expect([AccessLevel.PRIVATE])
        columns = columns_of_table(
            workspace.context(""), card, label, most=MOST_LABELS + 1, head=TRIED_ROWS
        )
        _check_table(columns, f"table {card.source.table}", label, workspace.say)
        return columns
    values: dict[str, None] = {}
    head: list[Record] = []
    rows = filled = worded = 0
    for rows, record in enumerate(_records(card), 1):
        head += [record] if rows <= TRIED_ROWS else []
        value = _plain(record.fields.get(label))
        filled += bool(value.strip())
        worded += len(value.split()) > 1
        if value.strip() and len(values) <= MOST_LABELS:
            values[value] = None
    return Columns(rows=rows, filled=filled, worded=worded, values=tuple(values), head=tuple(head))


def _records(card: ScenarioCard) -> Iterator[Record]:
    for file in card.source.files:
        yield from read_records(file, card.source, required=required_columns(card))


def _check_table(columns: Columns, name: str, label: str, report: Callable[[str], None]) -> None:
    """As `check_own_rows`; the rows of a table have no numbers."""
    if empty := columns.rows - columns.filled:
        report(
            f"{name}: {empty:,} of {counted(columns.rows, 'row')} have no {label} and "
            "would be left out"
        )
    if columns.repeated:
        raise DataError(
            f"{name}: {counted(columns.repeated, 'id')} in more than one of {columns.rows:,} rows; "
            "each row needs an id of its own: mend them, or name another column of ids."
        )


def _plain(value: object) -> str:
    try:
        return as_text(value) or ""
    except BadRecord:
        return ""


def _few(columns: Columns) -> tuple[str, ...]:
    """The right answers, sorted, where they are few and repeat; else they may be of one patient."""
    values = {value.strip() for value in columns.values}
    are_few = 1 < len(values) <= MOST_LABELS and len(values) < columns.filled
    are_plain = all(len(value) <= MOST_CHARACTERS and value.isprintable() for value in values)
    return tuple(sorted(values)) if are_few and are_plain else ()


def _alike(values: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The right answers that differ by case or blanks alone.

    >>> _alike(["Yes", "no", "yes ", "no"])
    (('Yes', 'yes '),)
    """
    groups: dict[str, dict[str, None]] = {}
    for value in values:
        groups.setdefault(" ".join(value.split()).casefold(), {})[value] = None
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _words(columns: Columns) -> BenchmarkWords:
    if not columns.worded:
        return BenchmarkWords.ALL
    return BenchmarkWords.FEW if 2 * columns.worded > columns.filled else BenchmarkWords.MOST


def _filled(card: ScenarioCard, head: tuple[Record, ...]) -> str:
    """The prompt of the first row that gives one."""
    refused = []
    for row in parse_records(islice(head, TRIED_ROWS), card, ""):
        if isinstance(row, Instance):
            return row.input
        refused.append(row.reason)
    why = f" ({', '.join(sorted(set(refused)))})" if refused else ""
    source = (
        card.source.files[0].shown_path if card.source.files else f"table {card.source.table!r}"
    )
    raise DataError(f"{source}: none of the first {len(head)} rows can be used{why}.")
