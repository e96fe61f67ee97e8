"""A clinician's hour in a real browser: rated by keys, killed in the middle, resumed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from medhelm_spark import Evaluation
from medhelm_spark.cli.serve import command
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.ratings.tables import Rating
from tests.browsers import launcher
from tests.installed import ROOT
from tests.servers import HOST, free_port, served
from tests.three_models import evaluated

SUITE, ITEMS = "s", 10
ANSWERS = {"first": "Rest and fluids.", "second": "Antibiotics.", "third": "Wait."}
WAIT_MS = 60_000
SCALES = '[class*="st-key-ms-scale-"]'
NEXT_SCALE = """(index) => {
  const scales = [...document.querySelectorAll('[class*="st-key-ms-scale-"]')];
  return document.activeElement?.closest('[class*="st-key-ms-scale-"]') === scales[index];
}"""
SLOW_STORE = """
import time
from medhelm_spark.lake.files import FileTables
append = FileTables.append
def slow(*args, **options):
    time.sleep(0.7)
    return append(*args, **options)
FileTables.append = slow
"""
"""A store as on a busy machine, so that keys come while a choice is stored."""
IN_A_SCALE = """() => Boolean(document.activeElement?.closest('[class*="st-key-ms-scale-"]'))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launcher() as launch:
        chromium = launch()
        yield chromium
        chromium.close()


@pytest.fixture
def evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluation:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return evaluated(tmp_path, ANSWERS, suite=SUITE, questions=ITEMS)


def tokens(evaluation: Evaluation, *raters: str) -> list[str]:
    links = evaluation.ratings.invite(
        list(raters), scenario="Colds", suite=SUITE, criteria=["accuracy"], scale=(1, 5)
    ).links
    return [link.link.partition("?rate=")[2] for link in links]


def stored(evaluation: Evaluation) -> list[Rating]:
    return open_reader(evaluation.location).rows("SELECT * FROM {ratings}", Rating)


def opened(browser: Browser, port: int, token: str) -> Page:
    page = browser.new_page()
    page.goto(f"http://{HOST}:{port}/?rate={token}")
    expect(page.get_by_text("Rate answers")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(SCALES)).to_have_count(len(ANSWERS), timeout=WAIT_MS)
    return page


def wait_stored(evaluation: Evaluation, number: int) -> None:
    """Wait until the lake has so many ratings: the page shows a stored choice later."""
    end = time.monotonic() + WAIT_MS / 1000
    while len(stored(evaluation)) < number:
        assert time.monotonic() < end, f"{len(stored(evaluation))} of {number} ratings are stored"
        time.sleep(0.1)


def press(evaluation: Evaluation, page: Page, index: int, value: int, number: int) -> None:
    """Choose a value of one answer's scale by a digit; the lake then has so many ratings."""
    end = time.monotonic() + WAIT_MS / 1000
    while not page.evaluate(NEXT_SCALE, index):
        assert time.monotonic() < end, f"no key reaches the scale of answer {index}"
        if page.evaluate(IN_A_SCALE) or index:
            page.keyboard.press("Tab")  # which passes the comment of the answer above
        else:  # the first digit on an item is of its first open scale
            page.keyboard.press(str(value))
            if page.evaluate(NEXT_SCALE, index):
                break
        page.wait_for_timeout(300)
    else:
        page.keyboard.press(str(value))
    wait_stored(evaluation, number)
    chosen = page.locator(f"{SCALES} >> nth={index}")
    expect(chosen.locator('[aria-checked="true"]')).to_have_text(str(value), timeout=WAIT_MS)


def turn(page: Page, item: int) -> None:
    """The next item, by its key."""
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("n")
    wait_for_item(page, item)


def wait_for_item(page: Page, item: int) -> None:
    """Wait until the page shows this item alone: the one before stays until all is drawn."""
    expect(page.get_by_text(f"item {item + 1} of {ITEMS}")).to_be_visible(timeout=WAIT_MS)
    scales = page.locator(f'[class*="st-key-ms-scale-{item}-"]')
    expect(scales).to_have_count(len(ANSWERS), timeout=WAIT_MS)
    expect(page.locator(SCALES)).to_have_count(len(ANSWERS), timeout=WAIT_MS)


def value_of(answer: int) -> int:
    return 1 + answer % 5


def test_thirty_answers_are_rated_by_keys_killed_in_the_middle_and_resumed(
    browser: Browser, evaluation: Evaluation, tmp_path: Path
) -> None:
    (token,) = tokens(evaluation, "A")
    port, done = free_port(), 0
    words = [*command(evaluation.location, port, HOST), "--suite", SUITE]
    with served(words, port, tmp_path / "server.log") as server:
        page = opened(browser, port, token)
        for item in range(5):
            for index in range(3 if item < 4 else 1):
                press(evaluation, page, index, value_of(done), done + 1)
                done += 1
            if item < 4:
                turn(page, item + 1)
        server.kill()  # thirteen answers are rated, the fifth item is begun
        page.close()
    assert len(stored(evaluation)) == done == 13
    with served(words, port, tmp_path / "server.log"):
        page = opened(browser, port, token)
        expect(page.get_by_text(f"item 5 of {ITEMS}")).to_be_visible(timeout=WAIT_MS)
        first = page.locator(f"{SCALES} >> nth=0")
        expect(first.locator('[aria-checked="true"]')).to_have_text(str(value_of(12)))
        for item in range(4, ITEMS):
            for index in range(1 if item == 4 else 0, 3):
                press(evaluation, page, index, value_of(done), done + 1)
                done += 1
            if item < ITEMS - 1:
                turn(page, item + 1)
        expect(page.get_by_text("All items are rated.")).to_be_visible(timeout=WAIT_MS)
        page.close()
    rows = sorted(stored(evaluation), key=lambda row: row.rated_at)
    assert [row.value for row in rows] == [value_of(answer) for answer in range(30)]
    keys = {(row.run_spec_id, row.instance_id) for row in rows}
    assert len(keys) == 30
    assert len({row.rater for row in rows}) == 1


def test_keys_that_come_faster_than_the_page_choose_for_the_answers_that_are_meant(
    browser: Browser, evaluation: Evaluation, tmp_path: Path
) -> None:
    (token,) = tokens(evaluation, "A")
    port = free_port()
    words = [*command(evaluation.location, port, HOST), "--suite", SUITE]
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW_STORE)
    with served(words, port, tmp_path / "log", PYTHONPATH=f"{tmp_path / 'slow'}:{ROOT}"):
        page = opened(browser, port, token)
        press(evaluation, page, 0, 4, 1)  # from then on the page listens
        for key in ("Enter", "2", "Enter", "5", "n", "1"):  # the last is of no item yet
            page.keyboard.press(key)
        wait_for_item(page, 1)
        page.keyboard.press("p")
        wait_for_item(page, 0)
        for index, value in enumerate(("4", "2", "5")):
            chosen = page.locator(f"{SCALES} >> nth={index}").locator('[aria-checked="true"]')
            expect(chosen).to_have_text(value, timeout=WAIT_MS)
        page.close()
    assert [row.value for row in sorted(stored(evaluation), key=lambda row: row.rated_at)] == [
        4,
        2,
        5,
    ]
    assert "sitecustomize" not in (tmp_path / "log").read_text(), "the store was slow"


def test_two_raters_at_once_in_two_windows_lose_nothing(
    browser: Browser, evaluation: Evaluation, tmp_path: Path
) -> None:
    both = tokens(evaluation, "A", "B")
    port = free_port()
    words = [*command(evaluation.location, port, HOST), "--suite", SUITE]
    with served(words, port, tmp_path / "server.log"):
        pages = [opened(browser, port, token) for token in both]
        done = 0
        for index in range(3):
            for page, value in zip(pages, (2, 4), strict=True):
                page.bring_to_front()
                press(evaluation, page, index, value, done + 1)
                done += 1
        for page in pages:
            page.close()
    by_rater: dict[str, list[float]] = {}
    for row in stored(evaluation):
        by_rater.setdefault(row.rater, []).append(row.value)
    assert sorted(by_rater.values()) == [[2.0] * 3, [4.0] * 3]


def test_who_may_not_see_the_level_sees_nothing(
    browser: Browser, evaluation: Evaluation, tmp_path: Path
) -> None:
    """The data were public when the link was made, and are private now."""
    (token,) = tokens(evaluation, "A")
    evaluated(tmp_path, ANSWERS, suite=SUITE, questions=ITEMS, level="private")
    port = free_port()
    words = [*command(evaluation.location, port, HOST), "--suite", SUITE]
    with served(words, port, tmp_path / "server.log"):
        page = browser.new_page()
        page.goto(f"http://{HOST}:{port}/?rate={token}")
        expect(page.get_by_text("This link opens nothing")).to_be_visible(timeout=WAIT_MS)
        content = page.content()
        assert "Question" not in content
        assert not any(answer in content for answer in ANSWERS.values())
        page.close()
