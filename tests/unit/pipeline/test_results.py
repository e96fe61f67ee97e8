"""Results as text."""

from pathlib import Path
from typing import Any, cast

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.board import InstanceKey, InstancePage
from medhelm_spark.board.instances import InstanceScore
from medhelm_spark.board.results import Board, Comparison, Instances
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import PLAN
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.pipeline.results import RunResult
from medhelm_spark.releases.results import Release
from medhelm_spark.statistics.board import build_board

MODEL = "huggingface/smollm2-135m-instruct"
ENTRY = f"pubmed_qa:model={MODEL}"


def evaluation(folder: Path, **more: Any) -> Evaluation:
    return Evaluation(folder / "lake", site=None, tracking=False, say=lambda line: None, **more)


def page(offset: int, *values: float) -> str:
    scores = tuple(
        InstanceScore(
            key=InstanceKey(instance_id=f"i{number}"),
            number=number,
            value=value,
            status=next(iter(ScoreStatus)),
        )
        for number, value in enumerate(values, start=offset + 1)
    )

    class Spec:
        name = "bench:model=m"

    instance_page = InstancePage(total=3, offset=offset, scores=scores)
    spec, reader = cast(RunSpec, Spec()), cast(Reader, None)
    return str(Instances(run_spec=spec, page=instance_page, reader=reader))


def test_results_are_printed_as_tables(tmp_path: Path) -> None:
    runs = str(evaluation(tmp_path).dry_run(ENTRY, suite="s"))
    header, _, first, *_ = runs.splitlines()
    assert header.split() == [
        "run_name", "role", "model_deployment", "locality", "access_level", "allowed", "rule",
    ]  # fmt: skip
    assert MODEL in first
    assert runs.endswith("suite s; nothing was written or sent")
    assert "No benchmark has two" in str(Comparison(models=("a", "b"), pairs=()))
    done = RunResult(suite="s", upto=PLAN, specs=(), model_calls=1, missing=None)
    assert str(done).endswith("suite s, done up to plan, 1 model call")
    board = Board(build_board((), coverage_floor=0.95))
    release = Release(name="r", suites=("s", "t"), manifest_hash="abc", board=board)
    assert str(release).startswith("release r of s, t, draft, manifest abc\n\n")


def test_a_page_says_which_answers_it_shows() -> None:
    assert page(0, 1.0, 0.0).endswith("bench:model=m: 1 to 2, of 3 answers")
    assert page(5).endswith("bench:model=m: none from 6 on, of 3 answers")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "worst"}, "unknown order 'worst'. Did you mean 'lowest'? Known: highest"),
        ({"offset": -1}, "offset is -1; allowed: a whole number of at least 0"),
        ({"limit": 0}, "limit is 0; allowed: a whole number of at least 1"),
        ({"limit": "5"}, "limit is '5'"),
    ],
)
def test_a_wrong_page_is_one_sentence(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        evaluation(tmp_path).instances("bench", MODEL, **options)
    assert message.partition(" Did")[0] in str(caught.value)


def test_what_is_no_deployment_or_source_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="deployments contains a int; allowed: Deployment"):
        evaluation(tmp_path, deployments=[1])
    with pytest.raises(ConfigError, match=r"columns \(--columns\) names those of source"):
        evaluation(tmp_path).run(ENTRY, suite="s", columns={"a": "b"})
    assert not (tmp_path / "lake").exists()
