"""Answers as models write them: strict and read scores, and no call when the reading changes."""

from pathlib import Path
from typing import Any

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.cli.exit_codes import INCOMPLETE
from tests.spark.conftest import Site, calls

MAIN_METRICS = ("exact_match", "jury_score")

RUBRIC = (
    '<rubric_criteria>\n{"accuracy": ["score", "explanation"]}\n</rubric_criteria>\n'
    "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
)
JURY = {
    "name": "jury_score",
    "prompt_file": "judge.txt",
    "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
}
# The model's reply to each question, whose right answer is B.
REPLIES = {
    "q0": "B",
    "q1": "The answer is (B).",
    "q2": "<think>A looks right.</think>**B) heparin**",
    "q3": '```json\n{"answer": "b"}\n```',
    "q4": "The answer is C.",
    "q5": "A patient like this needs rest.",
    "q6": "A or B",
    "q7": "<think>The answer is B",
}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "calls.log"


def rows() -> list[dict[str, str]]:
    question_template = "{}: which drug?\nA. aspirin\nB. heparin\nC. iron\n"
    return [
        {"id": q, "question": question_template.format(q), "correct_answer": "B"} for q in REPLIES
    ]


class Runs:
    """Runs of one benchmark, each after a change of it."""

    def __init__(self, site: Site, model: str) -> None:
        self.site, self.model = site, model
        self.seen: set[str] = set()

    def run(self, data: list[dict[str, str]], **keys: Any) -> dict[str, Any]:
        """Mean, count and unscored count of each stat that this run brought."""
        entry = self.site.benchmark("bench", data, **keys)
        code = self.site.run("-r", f"{entry},model={self.model}")
        new = [row for row in self.site.rows("stats") if row["write_id"] not in self.seen]
        self.seen |= {row["write_id"] for row in new}
        unscored = [row["num_unscored"] for row in new if row["name"] in MAIN_METRICS]
        assert code == (INCOMPLETE if any(unscored) else 0)
        return {row["name"]: (row["mean"], row["count"], row["num_unscored"]) for row in new}


def test_strict_and_read_scores_come_from_the_same_answers(site: Site, log: Path) -> None:
    model = site.deploy("acme/chatty", mode="script", replies=REPLIES, log_file=str(log))
    runs = Runs(site, model)
    strict = runs.run(rows())
    assert strict["exact_match"] == (1 / 8, 8, 0)
    assert "answer_unreadable" not in strict
    request_ids = calls(log)
    assert len(request_ids) == 8
    evaluation = Evaluation(site.lake_path, site=None, tracking=False)
    answer_list = evaluation.answers("bench", only="wrong", limit=3)
    assert [answer.answer for answer in answer_list.answers] == [
        REPLIES["q1"],
        "**B) heparin**",
        REPLIES["q3"],
    ]
    assert "7 wrong, 0 unread, 0 failed; 3 of 7 match as choice" in str(answer_list)

    wrong = runs.run(rows(), answer_extraction="choice")
    assert wrong["exact_match"] == (4 / 8, 8, 0)
    assert wrong["answer_unreadable"] == (3 / 8, 8, 0)
    answer_list = evaluation.answers("bench", only="unread")
    assert [answer.read for answer in answer_list.answers] == [None] * 3
    assert "8 answers, 4 wrong, 3 unread, 0 failed" in str(answer_list)

    left_out = runs.run(rows(), answer_extraction={"method": "choice", "unreadable": "unscored"})
    assert left_out["exact_match"] == (4 / 5, 5, 3)
    assert left_out["answer_unreadable"] == (3 / 8, 8, 0)
    scores = [score for row in site.rows("per_instance_stats") for score in row["stats"]]
    assert {one["status"] for one in scores if one["value"] is None} == {"unreadable"}

    pattern = {"method": "regex", "pattern": r"\b[A-C]\b"}
    matched = runs.run(rows(), answer_extraction=pattern)
    assert matched["exact_match"] == (4 / 8, 8, 0)
    assert matched["answer_unreadable"] == (2 / 8, 8, 0)

    assert runs.run(rows()) == {}, "the strict scores are there already"
    assert calls(log) == request_ids, "nothing is asked again when the reading changes"
    (cell,) = site.board()
    assert cell["mean"] == 1 / 8
    stored = [one["text"] for row in site.rows("request_results") for one in row["completions"]]
    assert sorted(stored) == sorted(REPLIES.values()), "what the model wrote stays as it is"


def test_another_reading_scores_stored_answers_and_verdicts_again(
    site: Site, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a correction in `domain.thinking`, whose version is raised with it."""
    model = site.deploy("acme/chatty", mode="script", replies=REPLIES, log_file=str(log))
    verdict = '{"accuracy": {"score": 4, "explanation": "ok"}}'
    text = f"<think>3 or 4?</think>{verdict}"
    site.deploy("acme/judge", text=text, log_file=str(log))
    runs = Runs(site, model)
    bench = {
        "metrics": [{"name": "exact_match"}, JURY],
        "judge_prompt": RUBRIC,
        "answer_extraction": "choice",
    }
    first = runs.run(rows(), **bench)
    assert (first["exact_match"], first["jury_score"]) == ((4 / 8, 8, 0), (20 / 8, 8, 0))
    request_ids = calls(log)
    stored = [one["text"] for row in site.rows("request_results") for one in row["completions"]]
    assert {text, *REPLIES.values()} == set(stored)
    assert runs.run(rows(), **bench) == {}

    for stage in ("annotate.stage", "annotate.judges", "comparability", "score.stage"):
        monkeypatch.setattr(f"medhelm_spark.stages.{stage}.EXTRACTION_VERSION", "next")
    again = runs.run(rows(), **bench)
    assert again == first
    assert calls(log) == request_ids, "neither the model nor the judge is asked again"


def test_judges_see_the_answer_that_was_read(site: Site, log: Path) -> None:
    replies = {
        "q0": '<think>hidden</think>{"note": "Rest and fluids."}',
        "q1": "No note.",
        "q2": "<think>hidden",
    }
    model = site.deploy("acme/chatty", mode="script", replies=replies, log_file=str(log))
    site.deploy("acme/judge", mode="judge", score=4, log_file=str(log))
    runs = Runs(site, model)
    data = [row for row in rows() if row["id"] in replies]
    bench = {"metrics": [JURY], "judge_prompt": RUBRIC}
    field = {"method": "json_field", "field": "note"}

    assert runs.run(data, **bench)["jury_score"] == (8 / 3, 3, 0)
    assert len(calls(log)) == 3 + 2, "an answer that is all thinking is not judged"
    read = runs.run(data, **bench, answer_extraction=field)
    assert read["jury_score"] == (4 / 3, 3, 0)
    assert len(calls(log)) == 3 + 2 + 1, "the model is not asked again, the judge about one text"
    left_out = runs.run(data, **bench, answer_extraction={**field, "unreadable": "unscored"})
    assert left_out["jury_score"] == (4.0, 1, 2)
    assert left_out["answer_unreadable"] == (2 / 3, 3, 0)
    assert len(calls(log)) == 6
    judge_prompts = [
        row["messages"][0]["content"] for row in site.rows("prompts") if row["messages"]
    ]
    assert not [text for text in judge_prompts if "hidden" in text]
    assert [text for text in judge_prompts if " Rest and fluids. " in text]


def test_trials_are_asked_apart_and_more_of_them_reuse_the_first(site: Site, log: Path) -> None:
    model = site.deploy("acme/yes", text="The answer is B.", log_file=str(log))
    entry = site.benchmark("bench", rows()[:2], answer_extraction="choice")
    assert site.run("-r", f"{entry},num_trials=2,temperature=0.5,model={model}") == 0
    assert len(set(calls(log))) == 4
    assert site.run("-r", f"{entry},num_trials=heim_efficiency,temperature=0.5,model={model}") == 0
    assert len(calls(log)) == 10
    trials = {(row["instance_id"], row["trial_index"]) for row in site.rows("per_instance_stats")}
    assert len(trials) == 10


def test_one_request_gives_both_values_and_compat_asks_for_less(site: Site, log: Path) -> None:
    replies = {
        "q0": "B",
        "q1": "The answer is (B).",
        "q2": "B) heparin",
        "q3": "A patient like this needs rest.",
    }
    model = site.deploy("acme/chatty", mode="script", replies=replies, log_file=str(log))
    data = [row for row in rows() if row["id"] in replies]
    entry = (
        f"{site.benchmark('bench', data, max_tokens=1, answer_extraction='choice')},model={model}"
    )
    medhelms = "exact_match@medhelm-0.8"

    assert site.run("-r", entry) == 0
    assert len(calls(log)) == 4
    means = {row["name"]: (row["mean"], row["count"]) for row in site.rows("stats")}
    assert means["exact_match"] == (3 / 4, 4)
    assert means[medhelms] == (2 / 4, 4)
    assert {
        key: site.rows("requests")[0]["decoding"][key] for key in ("max_tokens", "logprobs")
    } == {
        "max_tokens": 64,
        "logprobs": 1,
    }

    assert site.run("-r", entry, "--compat", "medhelm-0.8", suite="compat") == 0
    assert len(calls(log)) == 8
    (compat,) = site.board("compat")
    assert compat["mean"] == 0.25, "this engine has no limit, and its texts are taken whole"
    (spec,) = [row["run_spec"] for row in site.rows("run_specs") if row["suite"] == "compat"]
    assert (spec["answer_extraction"], spec["medhelm"]["max_tokens"]) == (None, 1)
    limits = {row["decoding"]["max_tokens"] for row in site.rows("requests")}
    assert limits == {1, 64}

    assert site.run("-r", f"{entry},temperature=0.5", suite="sampled") == 0
    (sampled,) = [row["run_spec_id"] for row in site.rows("run_specs") if row["suite"] == "sampled"]
    names = {row["name"] for row in site.rows("stats") if row["run_spec_id"] == sampled}
    assert "exact_match" in names
    assert medhelms not in names, "a longer sample is another sample"
