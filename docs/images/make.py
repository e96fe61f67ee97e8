"""The pictures of the pages, taken from the current code: the demo's board, its answers, MLflow.

Run it as `make pictures`; it needs chromium and, for the small model, what `fetch-model` fetched.
`python docs/images/make.py LAKE` takes the board of published answers alone, from a lake that
docs/published-answers.md made.
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

from medhelm_spark import Evaluation
from medhelm_spark.tracking.store import RUNS, server_command

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DASHBOARD, MLFLOW = 8521, 8522
WAIT_MS = 60_000
COMMAND = (sys.executable, "-m", "medhelm_spark.cli")
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def served(words: Sequence[str], address: str) -> Iterator[None]:
    """A server of its own process, once it answers."""
    server = subprocess.Popen(words, **QUIET)
    try:
        end = time.monotonic() + WAIT_MS / 1000
        while not answers(address):
            if server.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"{shlex.join(words)} does not answer at {address}")
            time.sleep(0.2)
        yield
    finally:
        server.terminate()
        server.wait()


def answers(address: str) -> bool:
    """Whether a server answers there."""
    try:
        with urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def board(page: Page, name: str) -> None:
    """The board as it opens."""
    page.goto(f"http://127.0.0.1:{DASHBOARD}")
    page.get_by_role("region", name="Leaderboard").wait_for()
    keep(page, name)


def instance(page: Page) -> None:
    """One answer behind a number."""
    page.get_by_role("region", name="Leaderboard").get_by_role("link").first.click()
    page.locator(".ms-answer").wait_for()
    keep(page, "answers")


def compared(page: Page) -> None:
    """The models' runs in MLflow, at the address that a run prints."""
    page.set_viewport_size({"width": 1600, "height": 860})
    page.goto(f"http://127.0.0.1:{MLFLOW}{RUNS.format(1)}")
    page.locator(".js-plotly-plot").first.wait_for()
    page.get_by_role("button", name="Close").last.click()  # MLflow's assistant
    keep(page, "mlflow")


def keep(page: Page, name: str) -> None:
    """Save what is seen, once nothing moves; MLflow's page never stops asking its server."""
    time.sleep(3)
    page.screenshot(path=HERE / f"{name}.png")


@contextmanager
def browser() -> Iterator[Page]:
    """A page of headless Chromium."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise SystemExit(f"a browser is needed: one of {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(WAIT_MS)
        yield page
        chromium.close()


def dashboard(lake: str, suite: str) -> AbstractContextManager[None]:
    """The dashboard of a suite."""
    serve = [*COMMAND, "serve", "-o", lake, "--suite", suite, "-p", str(DASHBOARD)]
    return served(serve, f"http://127.0.0.1:{DASHBOARD}/_stcore/health")


def published_answers(lake: str) -> None:
    """The picture that the README begins with."""
    with dashboard(lake, "mirage"), browser() as page:
        page.set_viewport_size({"width": 1280, "height": 1090})
        board(page, "published-answers")


def main() -> None:
    """Run the demo into a lake of its own, open what shows it, and take the pictures."""
    with tempfile.TemporaryDirectory() as name:
        lake = str(Path(name, "lake"))
        subprocess.run([*COMMAND, "demo", "-o", lake], check=True, stdout=subprocess.DEVNULL)
        uri = Evaluation(lake).tracking.uri or ""
        variables, _, line = server_command(uri).partition(" mlflow ")
        mlflow = f"env {variables} {sys.executable} -m mlflow {line} --port {MLFLOW}"
        with (
            dashboard(lake, "demo"),
            served(shlex.split(mlflow), f"http://127.0.0.1:{MLFLOW}/health"),
            browser() as page,
        ):
            board(page, "dashboard")
            instance(page)
            compared(page)


if __name__ == "__main__":
    published_answers(sys.argv[1]) if len(sys.argv) > 1 else main()
