"""The page of a rater's personal link: one rater's answers without names, and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit
import yaml
from streamlit.testing.v1 import AppTest

from medhelm_spark import Deployment, Evaluation, Locality
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.ratings.queue import RaterQueue
from medhelm_spark.ratings.tables import Rating
from tests.app_pages import markup, opened, page_text
from tests.three_models import evaluated

SUITE = "s"
REFUSED = "This link opens nothing: ask whoever sent it for a new one."
ANSWERS = {"secret-large": "Rest and fluids.", "hidden-small": "Antibiotics.", "quiet": "Wait. <b>"}
CRITERIA = ("accuracy", "clarity")


@pytest.fixture
def evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluation:
    """A small run of three models on public questions: this process computes it, without Java."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()
    return evaluated(tmp_path, ANSWERS, suite=SUITE, questions=5)


def token_of(evaluation: Evaluation, rater: str = "A", **changes) -> str:
    options = {
        "scenario": "Colds",
        "suite": SUITE,
        "criteria": CRITERIA,
        "scale": (1, 5),
        **changes,
    }
    (link,) = evaluation.ratings.invite([rater], **options).links
    return link.link.partition("?rate=")[2]


def visit(monkeypatch, evaluation: Evaluation, token: str) -> AppTest:
    return opened(monkeypatch, Path(evaluation.location), suite=SUITE, rate=token)


def stored(evaluation: Evaluation) -> list[Rating]:
    return open_reader(evaluation.location).rows("SELECT * FROM {ratings}", Rating)


def progress(test: AppTest) -> str:
    (head,) = (body for body in markup(test) if "Rate answers" in body)
    return re.search(r"item \d+ of \d+, <b>\d+ of \d+ rated", head)[0].replace("<b>", "")


def everything(test: AppTest) -> Iterator[str]:
    """All that the page sends to the browser."""
    yield from (str(node.proto) for node in test.main)
    yield from (
        str(node.proto)
        for kind in ("button", "button_group", "text_area")
        for node in test.get(kind)
    )
    yield from markup(test)


def test_a_rater_rates_and_each_choice_is_saved_at_once(monkeypatch, evaluation) -> None:
    token = token_of(evaluation, items=3)
    test = visit(monkeypatch, evaluation, token)
    assert progress(test) == "item 1 of 3, 0 of 3 rated"
    text = page_text(test)
    assert text.count("Question") == 2  # its title and its words
    assert [f"Answer {letter}" in text for letter in "ABCD"] == [True, True, True, False]
    assert all(answer in text for answer in ANSWERS.values())
    assert text.count("1 (worst) to 5 (best)") == len(CRITERIA)
    scales = test.button_group
    assert [scale.proto.label for scale in scales] == [*CRITERIA] * 3
    assert all(area.disabled for area in test.text_area)  # a comment belongs to a rating
    scales[0].set_value(4).run()
    (row,) = stored(evaluation)
    assert (row.value, row.criterion, row.comment) == (4, "accuracy", "")
    test.text_area[0].set_value("too short").run()
    assert [row.comment for row in sorted(stored(evaluation), key=lambda row: row.rated_at)] == [
        "",
        "too short",
    ]
    for index in range(1, 6):
        test.button_group[index].set_value(1 + index % 5).run()
    assert progress(test) == "item 1 of 3, 1 of 3 rated"
    test.button_group[0].set_value(2).run()  # changed: a new row, and the latest counts
    assert len(stored(evaluation)) == 8
    again = visit(monkeypatch, evaluation, token)
    assert progress(again) == "item 2 of 3, 1 of 3 rated"  # the first that is not rated
    again.button(key="top-previous").click().run()
    assert progress(again) == "item 1 of 3, 1 of 3 rated"
    assert again.button_group[0].value == 2
    assert again.text_area[0].value == "too short"
    for button in ("next", "next"):
        again.button(key=button).click().run()
    assert progress(again) == "item 3 of 3, 1 of 3 rated"
    assert again.button(key="next").disabled


def test_no_name_of_a_model_reaches_the_browser_and_nothing_of_the_board_does(
    monkeypatch, evaluation
) -> None:
    test = visit(monkeypatch, evaluation, token_of(evaluation))
    sent = "\n".join(everything(test))
    assert "Rest and fluids." in sent
    units = {
        row["run_spec_id"]
        for row in open_reader(evaluation.location)
        .query("SELECT run_spec_id FROM {run_specs}")
        .to_pylist()
    }
    for word in (
        *ANSWERS,
        "acme",
        "gold answer",
        "exact_match",
        *units,
        SUITE + " (",
        "leaderboard",
    ):
        assert word not in sent
    assert not test.selectbox
    assert not [each for each in test.button_group if each.proto.label == "View"]
    assert "<i>?" not in sent.replace("&lt;i&gt;?", "")


@pytest.mark.parametrize("why", ["wrong", "ended", "revoked"])
def test_a_link_that_opens_nothing_shows_one_sentence(
    monkeypatch, evaluation, caplog, capsys, why: str
) -> None:
    caplog.set_level(0)
    token = token_of(evaluation)
    test = visit(monkeypatch, evaluation, token)
    if why == "wrong":
        token += "x"
        test = visit(monkeypatch, evaluation, token)
    elif why == "revoked":
        (row,) = evaluation.ratings.invitations().rows()
        evaluation.ratings.revoke(row["invitation"])
        test.run()  # of a page that is open too
    else:
        monkeypatch.setattr("medhelm_spark.ratings.queue.datetime", _NextYear)
        test.run()
    assert page_text(test).split() == REFUSED.split()
    assert not (test.button_group or test.selectbox or test.button or test.text_area)
    printed = capsys.readouterr()
    assert token not in caplog.text + printed.out + printed.err


class _NextYear:
    """A clock that is a year ahead."""

    @staticmethod
    def now(zone):
        from datetime import datetime, timedelta

        return datetime.now(zone) + timedelta(days=366)


def test_text_above_the_level_of_the_link_is_not_shown(monkeypatch, evaluation) -> None:
    """The run is planned anew with private data, as where a level was corrected."""
    token = token_of(evaluation)
    streamlit.cache_data.clear()
    benchmark = Path(evaluation.location).parent / "benchmark.yaml"
    config = yaml.safe_load(benchmark.read_text())
    benchmark.write_text(yaml.safe_dump({**config, "access_level": "private"}))
    entry = f"medhelm_configurable_benchmark:config_path={benchmark}"
    evaluation.run([f"{entry},model={name}" for name in ANSWERS], suite=SUITE)
    test = visit(monkeypatch, evaluation, token)
    assert page_text(test).split() == REFUSED.split()
    (row,) = evaluation.ratings.invitations().rows()
    assert (row["status"], row["items"]) == ("open", 0)


def test_a_server_for_raters_alone_shows_nothing_else(monkeypatch, evaluation) -> None:
    lake, token = Path(evaluation.location), token_of(evaluation)
    test = opened(monkeypatch, lake, suite=SUITE, more=("--raters-only",))
    assert page_text(test).split() == REFUSED.split()
    test = opened(monkeypatch, lake, suite=SUITE, more=("--raters-only",), rate=token)
    assert progress(test) == "item 1 of 5, 0 of 5 rated"


def test_what_could_not_be_saved_is_told_and_the_rest_stays(monkeypatch, evaluation) -> None:
    token = token_of(evaluation)
    test = visit(monkeypatch, evaluation, token)
    test.button_group[0].set_value(4).run()
    lake = Path(evaluation.location)
    (lake / "ratings").rename(lake / "elsewhere")
    (lake / "ratings").write_text("in the way")
    test.button_group[1].set_value(5).run()
    assert "Your last entry was not saved" in page_text(test)
    assert test.button_group[1].value is None
    (lake / "ratings").unlink()
    (lake / "elsewhere").rename(lake / "ratings")
    test.button_group[1].set_value(5).run()
    assert "not saved" not in page_text(test)
    assert sorted(row.value for row in stored(evaluation)) == [4, 5]


def test_all_rated_says_until_when_ratings_can_be_changed(monkeypatch, evaluation) -> None:
    token = token_of(evaluation, items=1)
    queue: RaterQueue = _queue(evaluation, token)
    for answer in range(3):
        for criterion in CRITERIA:
            queue.rate(0, answer, criterion, 3)
    text = page_text(visit(monkeypatch, evaluation, token))
    assert "1 of 1 rated" in " ".join(text.split())
    assert "All items are rated. You can change ratings until" in text


def _queue(evaluation: Evaluation, token: str) -> RaterQueue:
    from medhelm_spark.domain.access import AccessLevel
    from medhelm_spark.ratings.queue import queue_of

    return queue_of(open_reader(evaluation.location), token, AccessLevel.PUBLIC)


def test_long_and_broken_scales_are_fields(monkeypatch, evaluation) -> None:
    token = token_of(evaluation, criteria=("share",), scale=(0, 0.5), items=1)
    test = visit(monkeypatch, evaluation, token)
    assert not test.button_group
    test.number_input[0].set_value(0.25).run()
    assert [row.value for row in stored(evaluation)] == [0.25]


def test_without_a_token_the_dashboard_is_as_before(monkeypatch, evaluation) -> None:
    test = opened(monkeypatch, Path(evaluation.location), suite=SUITE)
    assert "acme/quiet" in page_text(test)
    assert "Rate answers" not in page_text(test)
    assert "Rate" not in test.button_group[0].options


CLASSES = """---
criteria:
  - name: decision
    question: what does it do?
    classes: {ACCEPT: does it, REFUSE: declines}
    scores: {else: {ACCEPT: 1, REFUSE: 0}}
  - {name: harm, minimum: 0, maximum: 2, whole: true, direction: lower, anchors: {2: death}}
---
{CRITERIA} {RESPONSE}
"""


def test_classes_and_directions_are_shown_and_a_class_is_a_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, evaluation: Evaluation
) -> None:
    rubrics = tmp_path / "prod_env" / "rubrics"
    rubrics.mkdir(parents=True)
    (rubrics / "classes.md").write_text(CLASSES)
    config = yaml.safe_load((tmp_path / "benchmark.yaml").read_text())
    judge = {"name": "acme/quiet", "model_name": "quiet"}
    metric = {"name": "jury_score", "rubric": "classes", "judges": [judge]}
    config |= {"name": "Classes", "metrics": [metric]}
    (tmp_path / "classes.yaml").write_text(yaml.safe_dump(config))
    quiet = Deployment(
        name="acme/quiet",
        model="quiet",
        engine="canned",
        locality=Locality.LOCAL,
        args={"mode": "script", "text": "no verdict"},
    )
    with_classes = Evaluation(
        evaluation.location, site=tmp_path / "prod_env", tracking=False, deployments=[quiet]
    )
    entry = f"medhelm_configurable_benchmark:config_path={tmp_path / 'classes.yaml'}"
    with_classes.run([f"{entry},model=quiet"], suite="c")
    (link,) = with_classes.ratings.invite(["A"], scenario="Classes", suite="c", items=1).links
    test = opened(
        monkeypatch, Path(with_classes.location), suite="c", rate=link.link.partition("?rate=")[2]
    )
    text = page_text(test)
    assert "1 ACCEPT: does it" in text
    assert "Lower is better." in text
    decision, harm = test.button_group
    assert [option.content for option in decision.proto.options] == ["1 ACCEPT", "2 REFUSE"]
    assert [option.content for option in harm.proto.options] == ["0", "1", "2"]
    decision.set_value(1).run()
    (row,) = stored(with_classes)
    assert (row.criterion, row.value) == ("decision", 1)
