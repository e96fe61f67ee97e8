"""The dashboard's pages in a real browser, against a server of its own process.

    python -m benchmarks.pages [--lake FOLDER] [--large FOLDER]

Without `--lake` the lake of `benchmarks.boards` is made (9 models x 46 benchmarks x 1,000 answers).
`--large` is where the same lake with LARGE times its answers is or is put: its rows again under
other ids, so that stats are the small lake's and tables of answers are as large as those of
2,070,000 results. Seconds are those until the browser shows it; beside them the server's CPU
seconds, which a busy machine moves less. First comes the bound: a page of Streamlit that shows one
line, for the same browser. Needs chromium.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from benchmarks.boards import SUITE, make
from medhelm_spark.board import choose, load_runs
from medhelm_spark.cli.serve import command
from medhelm_spark.lake.reader import open_reader

RESULTS = Path(__file__).parent / "results" / "pages.md"
MODELS, BENCHMARKS, ROWS, LARGE = 9, 46, 1000, 5
PORT = 8931
VISITORS = 10
WAIT_MS = 120_000
LOOK_MS = 10
SEARCHED = "Question 777 of"
SWITCHES = ("--no-sandbox", "--disable-gpu")
IDS = {
    "instances": ("instance_id",),
    "prompts": ("prompt_id", "subject_id"),
    "requests": ("instance_id", "request_id", "prompt_id"),
    "request_results": ("request_id",),
    "per_instance_stats": ("instance_id",),
}
"""The tables that grow with answers, and the columns that name a row's own thing."""
MIDDLE = """element => {
  element.scrollIntoView({block: "center"});
  const box = element.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""
"""Scrolls to an element; where its middle is in the window then."""
NOTE_PRESS = """addEventListener("click", () => { window.pressed = performance.now(); }, true)"""
SINCE_PRESS = "(performance.now() - window.pressed) / 1000"
TICKS = os.sysconf("SC_CLK_TCK")


def grow(lake: Path, large: Path) -> None:
    """The lake with each of its answers LARGE times."""
    shutil.copytree(lake, large)
    for name, columns in IDS.items():
        rows = DeltaTable(str(lake / name)).to_pyarrow_table()
        for number in range(1, LARGE):
            write_deltalake(str(large / name), _renamed(rows, columns, number), mode="append")


def _renamed(rows: pa.Table, columns: tuple[str, ...], number: int) -> pa.Table:
    for name in columns:
        ids = pc.binary_join_element_wise(rows[name], f"-{number}", "")
        rows = rows.set_column(rows.column_names.index(name), name, ids)
    if "source_index" in rows.column_names:
        column_index = rows.column_names.index("source_index")
        source_indices = pc.add(rows["source_index"], ROWS * number)
        rows = rows.set_column(column_index, "source_index", source_indices)
    return rows


@dataclass(frozen=True, slots=True)
class Server:
    """A running server and how long it took to answer."""

    pid: int
    healthy: float

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{PORT}/"

    @property
    def cpu(self) -> float:
        """CPU seconds so far, of all threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def megabytes(self) -> float:
        """The most memory that it had."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


ONE_LINE = 'import streamlit\nstreamlit.html("<p>One line.</p>")\n'


def lake_command(lake: Path) -> list[str]:
    """The command line that starts the server of a lake."""
    return [*command(str(lake), PORT, "127.0.0.1"), "--suite", SUITE]


def one_line_command(folder: Path) -> list[str]:
    """The command line that starts Streamlit, set up alike, on a page of one line."""
    app = folder / "one_line.py"
    app.write_text(ONE_LINE)
    words = lake_command(folder)
    return [sys.executable, "-m", "streamlit", "run", str(app), *words[4 : words.index("--")]]


@contextmanager
def served(words: list[str]) -> Iterator[Server]:
    """A server, healthy."""
    started = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            with suppress(URLError), urlopen(f"http://127.0.0.1:{PORT}/_stcore/health"):
                break
            time.sleep(0.02)
        yield Server(process.pid, time.perf_counter() - started)
    finally:
        process.terminate()
        process.wait()


@dataclass(frozen=True, slots=True)
class Step:
    """What was done, the seconds until it was seen, and the server's CPU seconds of it."""

    name: str
    seconds: float
    cpu: float


def measured(server: Server, name: str, act: Callable[[], float | None]) -> Step:
    """Do it once; an act that presses something returns the seconds since then itself."""
    cpu, started = server.cpu, time.perf_counter()
    seconds_of_act = act()
    seconds = time.perf_counter() - started if seconds_of_act is None else seconds_of_act
    time.sleep(0.3)  # what the server does after the last thing seen
    return Step(name, seconds, server.cpu - cpu)


def opened(browser: Browser) -> Page:
    """A window of its own; the file cache of the browser is empty."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(WAIT_MS)
    page.add_init_script(NOTE_PRESS)
    return page


@dataclass(frozen=True, slots=True)
class Visit:
    """What a visitor does, each a method; `run` has `answers` answers."""

    server: Server
    browser: Browser
    page: Page
    run: str
    answers: int

    def steps(self) -> Iterator[Step]:
        """All of it, one after the other."""
        for name, act in {
            "first page, first visitor": self.first,
            "filters opened": self.filters_opened,
            "filter": self.chosen,
            "benchmarks as rows": self.turned,
            "to the instances": self.to_instances,
            "next page of instances": self.following,
            "search": self.searched,
            "to the comparison": self.to_comparison,
            "a link to an answer, opened anew": self.linked,
            "first page, second visitor": self.second,
            f"{VISITORS} visitors at once, until the last has the page": self.crowd,
        }.items():
            yield measured(self.server, name, act)

    def first(self) -> None:
        self.page.goto(f"{self.server.address}?suite={SUITE}")
        _see(_board(self.page).get_by_role("row").last)

    def filters_opened(self) -> float:
        _press(self.page.get_by_text("Filters", exact=True))
        _see(self.page.get_by_role("button", name="public", exact=True))
        return _since_press(self.page)

    def chosen(self) -> float:
        _press(self.page.get_by_role("button", name="public", exact=True))
        _see(self.page.get_by_text("Filters in use:"))
        return _since_press(self.page)

    def turned(self) -> float:
        _press(self.page.get_by_text("Benchmarks as rows"))
        _see(_board(self.page).locator("th[scope=rowgroup]").first)
        return _since_press(self.page)

    def to_instances(self) -> float:
        _press(self.page.get_by_role("radio", name="Instances"))
        _see(self.page.locator(".ms-answer").first)
        return _since_press(self.page)

    def following(self) -> float:
        _press(self.page.get_by_role("button", name="Next page"))
        _see(self.page.get_by_text("#11", exact=True).first)
        return _since_press(self.page)

    def searched(self) -> None:
        field = self.page.get_by_label("Search", exact=True)
        field.fill(SEARCHED)
        field.press("Enter")
        _see(self.page.get_by_text(re.compile(rf"^\d of {self.answers:,} answers$")))

    def to_comparison(self) -> float:
        _press(self.page.get_by_role("radio", name="Compare"))
        _see(self.page.locator('[aria-label="Comparison"]'))
        return _since_press(self.page)

    def linked(self) -> None:
        self.page.goto(f"{self.server.address}?suite={SUITE}&view=Instances&run={self.run}")
        _see(self.page.locator(".ms-answer").first)

    def second(self) -> None:
        self._open_boards(1)

    def crowd(self) -> None:
        self._open_boards(VISITORS)

    def _open_boards(self, count: int) -> None:
        pages = [opened(self.browser) for _ in range(count)]
        for visitor_page in pages:
            visitor_page.goto(f"{self.server.address}?suite={SUITE}", wait_until="commit")
        for visitor_page in pages:
            _see(_board(visitor_page).get_by_role("row").last)
        for visitor_page in pages:
            visitor_page.context.close()


def _press(target: Locator) -> None:
    """Click with the mouse at once: Playwright's own click waits for a page that does not move."""
    target.page.mouse.click(*target.evaluate(MIDDLE))


def _see(target: Locator) -> None:
    """Wait until the browser shows it; Playwright's own wait soon looks only twice a second."""
    until = time.monotonic() + WAIT_MS / 1000
    while not target.is_visible():
        if time.monotonic() > until:
            raise TimeoutError(f"{target} was not shown within {WAIT_MS} ms.")
        target.page.wait_for_timeout(LOOK_MS)


def _since_press(page: Page) -> float:
    """Seconds since the last click came to the browser; how long Playwright takes is not ours."""
    seconds: float = page.evaluate(SINCE_PRESS)
    return seconds


def _board(page: Page) -> Locator:
    return page.get_by_role("region", name="Leaderboard")


def measure(lake: Path, browser: Browser) -> tuple[list[Step], float]:
    """All steps on a lake, and the server's largest memory in MB."""
    reader = open_reader(str(lake))
    run = next(run for run in load_runs(reader, choose(reader, SUITE)) if run.cell)
    name = run.run_spec.run_spec_id
    count_sql = "SELECT count(1) AS n FROM {per_instance_stats} WHERE run_spec_id = "
    answers = reader.query(f"{count_sql}'{name}'").to_pylist()[0]["n"]
    with served(lake_command(lake)) as server:
        steps = [Step("server healthy", server.healthy, server.cpu)]
        time.sleep(SETTLE_SECONDS)
        visit = Visit(server, browser, opened(browser), name, answers)
        steps += visit.steps()
        visit.page.context.close()
        return steps, server.megabytes


def bound(folder: Path, browser: Browser) -> list[Step]:
    """What Streamlit and the browser take for a page of one line, once for each visitor."""
    with served(one_line_command(folder)) as server:
        time.sleep(SETTLE_SECONDS)
        steps = []
        for name in ("first visitor", "second visitor"):
            page = opened(browser)

            def first(page: Page = page) -> None:
                page.goto(server.address)
                _see(page.get_by_text("One line."))

            steps.append(measured(server, f"one line, {name}", first))
            page.context.close()
        return steps


SETTLE_SECONDS = 1.0
"""From a healthy server to its first visitor, who has to open a browser."""


def main() -> None:
    """Make the lakes where they are not there, measure, keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", type=Path)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lake = args.lake or Path(folder, "lake")
        large = args.large or Path(folder, "large")
        if not lake.exists():
            make(lake, MODELS, BENCHMARKS, ROWS)
        if not large.exists():
            grow(lake, large)
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        one_line_steps = bound(Path(folder), browser)
        (small, small_memory), (many, many_memory) = (
            measure(each, browser) for each in (lake, large)
        )
        browser.close()
    results = MODELS * BENCHMARKS * ROWS
    lines = [
        "# Pages",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} "
        f"({os.getloadavg()[1]:.1f} over five minutes): {MODELS} models x {BENCHMARKS} benchmarks, "
        "by `make bench-pages`. Seconds from the address or the click until Chromium shows it, the "
        "browser's own work included; CPU seconds are the server's alone.",
        "",
        f"| | {results:,}: seconds | CPU | {results * LARGE:,}: seconds | CPU |",
        "|---|---|---|---|---|",
        *(f"| {a.name} | {a.seconds:.2f} | {a.cpu:.2f} | | |" for a in one_line_steps),
        *(
            f"| {a.name} | {a.seconds:.2f} | {a.cpu:.2f} | {b.seconds:.2f} | {b.cpu:.2f} |"
            for a, b in zip(small, many, strict=True)
        ),
        f"| largest memory of the server, MB | {small_memory:.0f} | | {many_memory:.0f} | |",
    ]
    args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(args.output.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
