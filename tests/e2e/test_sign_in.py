"""The dashboard where people sign in: a real provider, a real browser, and each role's pages."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from joserfc.jwk import RSAKey
from playwright.sync_api import Browser, Page, expect, sync_playwright

from medhelm_spark.lake.reader import open_reader
from tests.oidc_provider import CLIENT, SECRET, Provider, running
from tests.servers import HOST, free_port, wait_healthy
from tests.unit.board.planted import ALPHA, HOSTILE, plant

ROOT = Path(__file__).resolve().parents[2]
WAIT_MS = 60_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ADA, GRACE, BOARD, NOBODY = "sub-ada", "sub-grace", "sub-board", "sub-nobody"
PEOPLE: dict[str, dict[str, Any]] = {
    ADA: {},
    GRACE: {"groups": ["research"]},
    BOARD: {"groups": ["board", "staff"]},
    NOBODY: {"groups": ["staff"]},
}
PRIVATE = "view=Instances&suite=s1&run=alpha-discharge_note&instance=discharge_note-i1"
GATED = "view=Instances&suite=s1&run=alpha-medcalc_bench&instance=medcalc_bench-i1"
PUBLIC = "view=Instances&suite=s1&run=alpha-triage_choice&instance=triage_choice-i1"
ANSWER_TEXT = f"{ALPHA} says 1 {HOSTILE}"


@dataclass
class Site:
    """A dashboard that runs, its lake, and the provider by which people sign in."""

    address: str
    lake: Path
    provider: Provider

    def viewings(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (
            open_reader(str(self.lake))
            .query("SELECT * FROM {viewings} ORDER BY viewed_at")
            .to_pylist()
        )
        return rows


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert path, f"a browser is needed to test the page: one of {', '.join(BROWSERS)}"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    lake = plant(folder / "lake")
    port = free_port()
    with running(free_port(), PEOPLE) as provider:
        person = {"issuer": provider.issuer}
        people = [
            {**person, "subject": ADA, "name": "Ada", "text": "private", "may_rate": True},
            {**person, "group": "research", "text": "gated"},
            {**person, "group": "board"},
        ]
        local_path = folder / "own"
        local_path.mkdir()
        (local_path / "policy.yaml").write_text(
            yaml.safe_dump(
                {"allowed": {"public": ["local"]}, "viewers": {"people": people, "hours": 2}}
            )
        )
        secret = folder / "sign_in.toml"
        secret.write_text(
            f'[auth]\nredirect_uri = "http://{HOST}:{port}/oauth2callback"\n'
            f'cookie_secret = "{"planted-cookie-secret" * 2}"\nclient_id = "{CLIENT}"\n'
            f'client_secret = "{SECRET}"\n'
            f'server_metadata_url = "{provider.issuer}/.well-known/openid-configuration"\n'
        )
        secret.chmod(0o600)
        (local_path / "settings.yaml").write_text(yaml.safe_dump({"sign_in": str(secret)}))
        words = [sys.executable, "-m", "medhelm_spark.cli", "serve", "-o", str(lake)]
        words += ["--local-path", str(local_path), "-p", str(port), "--suite", "s1"]
        log = folder / "serve.log"
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        with log.open("w", encoding="utf-8") as file:
            server = subprocess.Popen(words, env=env, stdout=file, stderr=file, cwd=folder)
            try:
                wait_healthy(port, server)
                yield Site(f"http://{HOST}:{port}", lake, provider)
            finally:
                server.terminate()
                server.wait(timeout=30)


def signed_in(browser: Browser, site: Site, subject: str) -> Page:
    """A browser of its own in which a person has signed in."""
    page = browser.new_context().new_page()
    page.goto(site.address)
    page.get_by_role("button", name="Sign in").click(timeout=WAIT_MS)
    page.get_by_role("link", name=subject, exact=True).click(timeout=WAIT_MS)
    page.wait_for_url(f"{site.address}/**", timeout=WAIT_MS)
    return page


def at(page: Page, site: Site, query: str) -> Page:
    page.goto(f"{site.address}/?{query}")
    return page


def test_nothing_is_shown_to_who_has_not_signed_in(browser: Browser, site: Site) -> None:
    page = browser.new_context().new_page()
    for query in ("", PUBLIC, PRIVATE, "rate=some-token"):
        at(page, site, query)
        expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=WAIT_MS)
        expect(page.locator(".ms-note")).to_contain_text("Sign in to see results")
        assert ALPHA not in page.content()


def test_who_may_read_private_text_does_and_is_on_record_by_name(
    browser: Browser, site: Site
) -> None:
    page = at(signed_in(browser, site, ADA), site, PRIVATE)
    expect(page.locator(".ms-answer")).to_have_text(ANSWER_TEXT, timeout=WAIT_MS)
    expect(page.get_by_label("Note", exact=True)).to_be_visible()
    page.get_by_label("Search", exact=True).fill("no such words")
    page.get_by_label("Search", exact=True).press("Enter")
    expect(page.get_by_text("None of the")).to_be_visible(timeout=WAIT_MS)
    rows = [row for row in site.viewings() if row["viewed_by"] == "Ada"]
    assert {row["identified_by"] for row in rows} == {site.provider.issuer}
    assert {row["suite"] for row in rows} == {"s1"}
    assert {row["place"] for row in rows} == {"dashboard", "search"}
    assert {row["scenario_name"] for row in rows} == {"discharge_note"}
    assert "no such words" not in repr(rows)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=WAIT_MS)


def test_a_group_reads_text_up_to_its_level(browser: Browser, site: Site) -> None:
    page = at(signed_in(browser, site, GRACE), site, GATED)
    expect(page.locator(".ms-answer")).to_have_text(ANSWER_TEXT, timeout=WAIT_MS)
    assert page.get_by_label("Note", exact=True).count() == 0, "notes are for who may rate"
    at(page, site, PRIVATE)
    expect(page.locator(".ms-note-error")).to_contain_text(
        "private text is not shown to you; allowed: text up to gated", timeout=WAIT_MS
    )
    assert "says 1" not in page.content()
    assert page.get_by_label("Search", exact=True).count() == 0
    assert {row["scenario_name"] for row in site.viewings() if row["viewed_by"] == GRACE} == {
        "medcalc_bench"
    }


def test_who_sees_numbers_alone_opens_no_answer(browser: Browser, site: Site) -> None:
    page = at(signed_in(browser, site, BOARD), site, "view=Leaderboard")
    expect(page.get_by_label("Leaderboard", exact=True)).to_contain_text(ALPHA, timeout=WAIT_MS)
    for query in (PUBLIC, GATED, PRIVATE):
        at(page, site, query)
        expect(page.get_by_text("You see numbers of benchmarks, and no text")).to_be_visible(
            timeout=WAIT_MS
        )
        assert "says 1" not in page.content()
        assert page.get_by_label("Search", exact=True).count() == 0
    at(page, site, "view=Compare")
    expect(page.get_by_label("Comparison")).to_be_visible(timeout=WAIT_MS)
    assert page.get_by_text("Answers that differ on").count() == 0
    with page.expect_download(timeout=WAIT_MS) as download:
        page.get_by_role("button", name="Download as CSV").click()
    assert download.value.suggested_filename == "comparison.csv"
    (row,) = (row for row in site.viewings() if row["viewed_by"] == BOARD)
    assert (row["place"], row["file_name"], row["suite"]) == ("download", "comparison.csv", "s1")
    assert (row["access_level"], row["num_rows"]) == ("private", len(row["run_spec_ids"]))
    assert row["num_rows"] > 1


def test_whom_the_policy_does_not_list_sees_nothing(browser: Browser, site: Site) -> None:
    page = signed_in(browser, site, NOBODY)
    expect(page.locator(".ms-note-error")).to_contain_text("do not list you", timeout=WAIT_MS)
    assert ALPHA not in page.content()


def test_a_sign_in_of_hours_ago_shows_nothing(browser: Browser, site: Site) -> None:
    site.provider.age = 2 * 3600 + 5
    try:
        page = signed_in(browser, site, ADA)
        expect(page.locator(".ms-note-error")).to_contain_text("sign in again", timeout=WAIT_MS)
    finally:
        site.provider.age = 0


@pytest.mark.attack("dashboard", "an ID token that another key signed, and a forged cookie")
def test_a_token_of_another_key_and_a_forged_cookie_sign_nobody_in(
    browser: Browser, site: Site
) -> None:
    signing_key, site.provider.signing = (
        site.provider.signing,
        RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"}),
    )
    try:
        page = signed_in(browser, site, ADA)
        expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=WAIT_MS)
    finally:
        site.provider.signing = signing_key
    page.context.add_cookies(
        [
            {
                "name": "_streamlit_user",
                "value": '{"is_logged_in":true,"sub":"sub-ada"}',
                "url": site.address,
            }
        ]
    )
    at(page, site, PRIVATE)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=WAIT_MS)
    assert "says 1" not in page.content()
