"""Two local models in one suite, by one command: each has the slot for itself."""

from tests.spark.conftest import Site, questions
from tests.vllm.nouns import SMALL


def test_two_models_of_one_suite_are_asked_in_turn(site: Site, model: str) -> None:
    site.deploy("acme/a", engine="vllm", model=model, **SMALL)
    site.deploy("acme/b", engine="vllm", model=model, **{**SMALL, "max_num_seqs": 2})
    entry = site.benchmark("bench", questions(4), max_tokens=4)
    assert site.run("-r", entry, "--models-to-run", "acme/a", "acme/b") == 0
    rows = site.rows("request_results")
    assert len({row["request_id"] for row in rows}) == len(rows) == 8
    assert all(row["failure"] is None for row in rows)
    starts = [row["model_deployment"] for row in rows if row["engine_start"]]
    assert sorted(starts) == ["acme/a", "acme/b"], "each engine was started once"
