"""Names in rubrics are text on the dashboard's pages, whatever signs they have."""

from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from medhelm_spark.config.resources import resource
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Annotation, CriterionScore, VerdictStatus

MARKUP = "<img src=//evil.example/x> & <5 mg"
ESCAPED = "&lt;img src=//evil.example/x&gt; &amp; &lt;5 mg"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(resource("dashboards", "app.py").parent))

    def load(name: str) -> ModuleType:
        return import_module(name)

    return load


def test_a_class_that_a_judge_gave_is_escaped(page: Any) -> None:
    score = CriterionScore(criterion="dose", score=1.0, label=MARKUP)
    verdict = Annotation(
        run_spec_id="r",
        instance_id="i",
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        annotator="j",
        judge="k",
        status=VerdictStatus.OK,
        access_level=AccessLevel.PUBLIC,
        scores=(score,),
    )
    shown = page("answer_markup").verdicts_html([verdict], None)
    assert ESCAPED in shown and "<img" not in shown


@pytest.mark.parametrize("question", ["", "Is the dose right?"])
def test_classes_that_a_rater_chooses_from_are_escaped(page: Any, question: str) -> None:
    criterion = SimpleNamespace(
        name="dose",
        question=question,
        classes=(MARKUP, "more"),
        anchors=(),
        lower_is_better=False,
        minimum=0.0,
        maximum=1.0,
    )
    shown = page("rate_page")._scales(SimpleNamespace(criteria=[criterion]))
    assert f"{ESCAPED}, more" in shown and "<img" not in shown


def test_a_turns_role_is_no_markup(page: Any) -> None:
    shown = page("page_markup").passage("x", '"><img src=x>')
    assert "<img" not in shown
