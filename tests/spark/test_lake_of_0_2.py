"""A lake that 0.2.0 made, before the package was parted by feature: it opens and goes on."""

import tarfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from medhelm_spark import AnswerFilter, Deployment, Entries, Evaluation, Locality
from medhelm_spark.cli.demo import BASELINE, BASELINE_ANSWERS, CONFIGURABLE, MODEL
from medhelm_spark.config.resources import conf_path

KEPT = Path(__file__).parent.parent / "lakes" / "version_0_2.tar.xz"
"""`demo` and `publish --suites demo --release 2026-q4`; 40 answers of `team/elsewhere` imported
into the suite `ward`; a run of `team/slow` into the suite `open`, killed before its first answer.
"""

MEANS = {
    (BASELINE, "DISCHARGE-NOTE"): 0.0,
    (BASELINE, "TRIAGE-CHOICE"): 5 / 12,
    (BASELINE, "pubmed_qa"): 0.3,
    (MODEL, "DISCHARGE-NOTE"): 0.0,
    (MODEL, "TRIAGE-CHOICE"): 2 / 12,
    (MODEL, "pubmed_qa"): 0.3,
}
"""As that version's board showed."""


@pytest.fixture
def site(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Evaluation:
    with tarfile.open(KEPT) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / "prompt.txt").write_text("{question}\nAnswer yes or no:\n")
    (folder / "benchmark.yaml").write_text(
        "name: ward\ndescription: Forty questions, made for a test.\nprompt_file: prompt.txt\n"
        "dataset_file: data.csv\naccess_level: public\nmetrics: [{name: exact_match}]\n"
        "answer_extraction: strict\n"
    )
    rows = [f"q{n},Is {n} even?,{'no' if n % 2 else 'yes'}\n" for n in range(40)]
    (folder / "data.csv").write_text("".join(["id,question,correct_answer\n", *rows]))
    monkeypatch.chdir(tmp_path)
    baseline = Deployment(
        name=BASELINE,
        model=BASELINE,
        engine="canned",
        locality=Locality.LOCAL,
        args={"mode": "script", "replies": BASELINE_ANSWERS, "text": "A"},
        origin="demo",
    )
    slow = Deployment(
        name="team/slow",
        model="team/slow",
        engine="canned",
        locality=Locality.LOCAL,
        args={"text": "yes", "delay": 0.01},
    )
    deployments = [baseline, slow]
    return Evaluation("lake", site=None, spark=spark, tracking=False, deployments=deployments)


def means(site: Evaluation, **which: str) -> dict[tuple[str, str], float | None]:
    board = site.board(**which).leaderboard
    return {
        (row.model_deployment, cell.scenario_name): cell.mean
        for row in board.rows
        for cell in row.cells
    }


def test_it_is_read_verified_resumed_and_published(site: Evaluation) -> None:
    assert means(site, suite="demo") == pytest.approx(MEANS)
    assert means(site, release="2026-q4") == pytest.approx(MEANS)
    assert means(site, suite="ward") == {("team/elsewhere", "ward"): pytest.approx(0.25)}
    manifest = site.releases.verify("2026-q4")
    assert site.answers(suite="ward", only=AnswerFilter.WRONG, limit=None).answers

    entry = f"{CONFIGURABLE}=triage_choice/benchmark.yaml,max_eval_instances=12,model={BASELINE}"
    entries = Entries(run_entries=[entry], base_dir=conf_path("demos"))
    assert site.run(entries, suite="demo").model_calls == 0, "its answers are this version's cache"
    ward = f"{CONFIGURABLE}=b/benchmark.yaml,model=team/slow"
    assert site.run(ward, suite="open").model_calls == 40, "none was stored before"
    assert site.run(ward, suite="open").model_calls == 0
    assert means(site, suite="open") == {("team/slow", "ward"): 0.5}

    before = site.board(release="2026-q4").render("json")
    site.releases.publish("next", ["demo", "ward", "open"])
    assert site.board(release="2026-q4").render("json") == before
    assert site.releases.verify("2026-q4") == manifest
    assert [each.name for each in site.releases.list().releases] == ["next", "2026-q4"]
