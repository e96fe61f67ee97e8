"""Browsers that tests open, headless and without a request of their own."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def launcher() -> Iterator[Callable[..., Browser]]:
    """Launches browsers; one Playwright for all, since a second beside it is refused."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert path, f"a browser is needed to test the page: one of {', '.join(BROWSERS)}"
    with sync_playwright() as playwright:

        def launch(*switches: str) -> Browser:
            return playwright.chromium.launch(executable_path=path, args=[*SWITCHES, *switches])

        yield launch
