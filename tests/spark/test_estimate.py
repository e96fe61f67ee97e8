"""An estimate against what a run really asks."""

import pytest

from tests.spark.conftest import Site, calls, questions

JUDGE_PROMPT = """Rate {RESPONSE} to {QUESTION} beside {GOLD_RESPONSE}.
<rubric_criteria>{"tone": ["score"]}</rubric_criteria>"""


def test_an_estimate_bounds_the_run_and_asks_nobody(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    log = site.folder / "asked.log"
    model = site.deploy("acme/yes", text="yes", log_file=str(log), tokens_per_second=100)
    entry = site.benchmark("bench", questions(6), max_tokens=7)
    flags = ("-r", f"{entry},model={model}", "-m", "4")
    assert site.run(*flags, command="estimate") == 0
    name, requests, prompt, output, *_ = capsys.readouterr().out.splitlines()[2].split()
    assert (name, requests, output) == ("acme/yes", "4", "28")
    texts = [row["text"] for row in site.rows("prompts")]
    assert int(prompt.rstrip("~")) == sum(-(-len(text) // 4) for text in texts)
    assert calls(log) == []
    assert site.run(*flags) == 0
    assert len(calls(log)) == 4
    capsys.readouterr()
    assert site.run(*flags, command="estimate") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Nothing is left to ask."


def test_judges_are_counted_before_there_is_an_answer(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.deploy("acme/yes", text="yes")
    site.deploy("acme/judge", mode="judge", score=3)
    metric = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
    }
    entry = site.benchmark(
        "bench", questions(3), metrics=[metric], judge_prompt=JUDGE_PROMPT, max_tokens=50
    )
    flags = ("-r", f"{entry},model=acme/yes")
    assert site.run(*flags, command="estimate") == 0
    lines = capsys.readouterr().out.splitlines()
    judge = next(line for line in lines if line.startswith("acme/judge")).split()
    assert judge[1] == "3"
    assert int(judge[2].rstrip("~").replace(",", "")) >= 3 * 50
    assert site.rows("annotations") == []


def test_a_budget_that_is_passed_is_refused(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    entry = site.benchmark("bench", questions(3))
    model = site.deploy("acme/yes", text="yes")
    flags = ("-r", f"{entry},model={model}", "--max-cost", "1")
    assert site.run(*flags, command="estimate") == 1
    assert "acme/yes has no prices in model_deployments.yaml" in capsys.readouterr().err


def test_what_judges_may_still_be_asked_is_counted(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    log = site.folder / "asked.log"
    for name in ("acme/judge", "acme/second"):
        site.deploy(name, mode="judge", score=3, log_file=str(log))
    model = site.deploy("acme/yes", text="yes")

    def flags(*judges: str) -> tuple[str, str]:
        metric = {
            "name": "jury_score",
            "prompt_file": "judge.txt",
            "judges": [{"name": name, "model_name": name} for name in judges],
        }
        entry = site.benchmark("bench", questions(3), metrics=[metric], judge_prompt=JUDGE_PROMPT)
        return "-r", f"{entry},model={model}"

    def estimated(*judges: str) -> dict[str, int]:
        capsys.readouterr()
        assert site.run(*flags(*judges), command="estimate") == 0
        lines = map(str.split, capsys.readouterr().out.splitlines())
        return {line[0]: int(line[1]) for line in lines if line and line[0].startswith("acme/")}

    assert site.run(*flags("acme/judge")) == 0
    assert estimated("acme/judge") == {}
    asked = len(calls(log))
    both = estimated("acme/judge", "acme/second")
    assert both["acme/second"] == 3
    site.deploy("acme/second", mode="judge", fail_every=2, failure="unreachable")
    site.run(*flags("acme/judge", "acme/second"))
    assert len(calls(log)) == asked, "the first judge's answers are stored"
    failed = sum(row["failure"] is not None for row in site.rows("request_results"))
    assert failed
    assert estimated("acme/judge", "acme/second") == {"acme/second": failed}
