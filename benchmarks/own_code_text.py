"""Text tables beside rich; the pattern that read keys beside the parser that took its place."""

import io
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.box import Box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.own_code_timing import Comparison, timed
from medhelm_spark.engines.secrets import resolve
from medhelm_spark.errors import SetupError
from medhelm_spark.render.table import aligned

Columns = Sequence[Sequence[str]]
HEADERS = 2
UNBOUNDED = 10_000
RULE = Box("    \n    \n -  \n    \n    \n    \n    \n    \n", ascii=True)
MODELS, BENCHMARKS = 20, 12
KEY = "openaiApiKey"
FORMS = {  # how a key may be written in credentials.conf -> what MedHELM reads
    f'{KEY}: "sk-a"': "sk-a",
    f"{KEY} = sk-a # old": "sk-a",
    f'{{ x: 1, {KEY}: "sk-a" }}': "sk-a",
    f'{KEY}: "two words"': "two words",
    f'{KEY}: "a,b}}c"': "a,b}c",
    f"{KEY}: ${{SITE_KEY}}": "sk-env",
    f"{KEY}: ${{?NOT_SET_ANYWHERE}}": None,
    f"shared: sk-s\n{KEY}: ${{shared}}": "sk-s",
    f"{KEY}: old\n{KEY}: new": "new",
    f'{KEY}:\n  "sk-a"': "sk-a",
    f'{KEY}: """sk-a"""': "sk-a",
    f"old {{ {KEY}: no }}\n{KEY}: new": "new",
    f"{KEY}: null": None,
    'include "more.conf"': "sk-included",
}


def rich_aligned(columns: Columns, num_header_lines: int, *, width: int = UNBOUNDED) -> list[str]:
    """What `aligned` does, by rich: nothing read as markup, nothing wrapped, no colour."""
    table = Table(box=RULE, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="")
    for column in columns:
        table.add_column(Text("\n".join(column[:num_header_lines])), no_wrap=True)
    for row in zip(*(column[num_header_lines:] for column in columns), strict=True):
        table.add_row(*map(Text, row))
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(table)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def _board() -> list[list[str]]:
    models = [f"organisation-{n}/model-{n * 7}b" for n in range(MODELS)]
    cells = [f"0.{n}12* [0.38, 0.45] n=990/1000" for n in range(MODELS)]
    scores = [[f"Benchmark {n}", "exact_match", *cells] for n in range(BENCHMARKS)]
    return [["Model", "", *models], *scores]


def table_comparison() -> Comparison:
    """A board of text."""
    board = _board()
    (own, own_seconds), (theirs, their_seconds) = timed(
        lambda: aligned(board, HEADERS), lambda: rich_aligned(board, HEADERS)
    )
    equal = sum(left == right for left, right in zip(own, theirs, strict=True))
    return Comparison(
        what="Text table beside rich",
        items=f"board of {MODELS} models and {BENCHMARKS} benchmarks",
        equal=f"{equal} of {len(own)} lines",
        own=1 / own_seconds,
        theirs=1 / their_seconds,
    )


def table_facts() -> Iterator[str]:
    """What rich does by itself where no terminal is, and with characters of two columns."""
    board, own = _board(), aligned(_board(), HEADERS)
    piped = rich_aligned(board, HEADERS, width=Console(file=io.StringIO()).width)
    num_whole = len(set(own) & set(piped))
    yield f"- rich at its own width in a pipe keeps {num_whole} of {len(own)} lines whole."
    wide = [["Benchmark", "臨床", "notes"], ["n", "1", "2"]]
    alignment = {
        name: len({Text(line).cell_len for line in make(wide, 1)[2:]}) == 1
        for name, make in (("ours", aligned), ("rich", rich_aligned))
    }
    sentence = ", ".join(
        f"{name} {'does' if does else 'does not'}" for name, does in alignment.items()
    )
    yield f"- Aligns names of wide (Chinese, Japanese, Korean) characters: {sentence}."


def _by_pattern(file: Path) -> str | None:
    """The pattern that was in `engines.secrets` until the parser took its place."""
    entry = re.compile(rf"""(?:^|[{{,\s])["']?{KEY}["']?\s*[:=]\s*["']?([^"'\s,}}]+)""")
    lines = file.read_text(encoding="utf-8").splitlines()
    matches = [entry.search(line) for line in lines if not line.lstrip().startswith(("#", "//"))]
    return next((match[1] for match in matches if match), None)


def _by_parser(file: Path) -> str | None:
    try:
        return resolve(f"credentials:{file}#{KEY}", where="benchmark")
    except SetupError:
        return None


def credentials_comparison() -> tuple[Comparison, str]:
    """Reading a key in every form, and how many forms either reads right."""
    os.environ["SITE_KEY"] = "sk-env"
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "more.conf").write_text(f"{KEY}: sk-included")
        files = {Path(name) / f"{n}.conf": text for n, text in enumerate(FORMS)}
        for file, text in files.items():
            file.write_text(text)
        (own, own_seconds), (theirs, their_seconds) = timed(
            lambda: [_by_pattern(file) for file in files],
            lambda: [_by_parser(file) for file in files],
        )
    expected = list(FORMS.values())
    comparison = Comparison(
        what="Pattern for credentials.conf beside pyhocon",
        items="file read",
        equal=f"{_same(own, theirs)} of {len(FORMS)}",
        own=len(FORMS) / own_seconds,
        theirs=len(FORMS) / their_seconds,
    )
    sentence = (
        f"- Of {len(FORMS)} forms of a key the pattern read {_same(own, expected)} right, "
        f"pyhocon {_same(theirs, expected)}."
    )
    return comparison, sentence


def _same(left: Sequence[str | None], right: Sequence[str | None]) -> int:
    return sum(value == other_value for value, other_value in zip(left, right, strict=True))
