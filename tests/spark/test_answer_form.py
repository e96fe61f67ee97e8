"""Answers whose form the engine enforces, beside free ones."""

import pytest

from tests.spark.conftest import Site, questions


def rows(count: int) -> list[dict[str, str]]:
    return questions(count, lambda i: "yes" if i % 3 else "no")


def test_free_and_enforced_answers_stand_side_by_side(site: Site) -> None:
    entry = site.benchmark("bench", rows(6))
    site.deploy("acme/judge", mode="judge", score=1, text="unsure")
    forms = ("answer_form=json", "answer_form=choice")
    entries = (entry, *(f"{entry},{form}" for form in forms))
    assert site.run("-r", *(f"{each},model=acme/judge" for each in entries)) == 0
    schemas = {row["decoding"]["response_schema"] for row in site.rows("requests")}
    assert schemas == {
        None,
        '{"enum":["no","yes"]}',
        '{"additionalProperties":false,"properties":{"answer":{"enum":["no","yes"]}},'
        '"required":["answer"],"type":"object"}',
    }
    texts = {row["completions"][0]["text"] for row in site.rows("request_results")}
    assert {"no", '{"answer": "no"}'} < texts
    means = {row["run_spec"]["name"].rpartition(":")[2]: row["mean"] for row in joined(site)}
    enforced = [mean for name, mean in means.items() if "answer_form" in name]
    assert enforced == [pytest.approx(1 / 3)] * 2
    assert len(means) == 3


def joined(site: Site) -> list[dict]:
    stats = {
        row["run_spec_id"]: row["mean"]
        for row in site.rows("stats")
        if row["name"] == "exact_match" and not row["perturbation"]
    }
    return [{**row, "mean": stats[row["run_spec_id"]]} for row in site.rows("run_specs")]


def test_an_entry_that_says_free_asks_what_one_without_a_form_asks(site: Site) -> None:
    entry = site.benchmark("bench", rows(3))
    site.deploy("acme/yes", text="yes")
    assert site.run("-r", f"{entry},model=acme/yes") == 0
    before = {row["request_id"] for row in site.rows("requests")}
    assert site.run("-r", f"{entry},model=acme/yes,answer_form=free", suite="t") == 0
    assert {row["request_id"] for row in site.rows("requests")} == before
    assert len(site.rows("request_results")) == 3


def test_an_engine_that_enforces_nothing_is_refused_before_it_is_asked(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = site.benchmark("bench", rows(3))
    site.deploy("acme/api", engine="openai", base_url="http://127.0.0.1:9/v1", model="m")
    assert site.run("-r", f"{entry},model=acme/api,answer_form=choice") == 1
    stderr = capsys.readouterr().err
    assert "answer_form is 'choice'" in stderr
    assert "allowed: free, json; args.choices_by" in stderr
    assert not (site.lake_path / "instances").exists()


def test_data_without_labels_has_no_form(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    entry = site.benchmark("bench", questions(60, lambda i: f"text {i}"))
    site.deploy("acme/yes", text="yes")
    assert site.run("-r", f"{entry},model=acme/yes,answer_form=json") == 1
    assert "over 50 different right answers" in capsys.readouterr().err
