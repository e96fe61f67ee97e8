"""An order that slots pull in this process: what several groups of deployments ask."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.sending import BegunOrder
from medhelm_spark.domain.stages import INFER
from medhelm_spark.engines import canned
from medhelm_spark.engines.engine_pool import close_engines
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.progress import unwatched
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.session import Session
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.follow_ups import FollowUps
from medhelm_spark.stages.infer.groups import groups_of
from medhelm_spark.stages.infer.order import JudgedRequest, OrderedChunk, in_order
from medhelm_spark.stages.infer.pending import InferenceTargets
from medhelm_spark.stages.infer.pulled import PulledOrder
from medhelm_spark.stages.infer.throughput import throughput
from tests.unit.engines.nouns import deployment
from tests.unit.stages.test_commits import never
from tests.unit.stages.test_pulling import judged_request, ordered

REQUESTS = 20
POLICY = Policy(allowed=((AccessLevel.PUBLIC, tuple(Locality)),), version="1")


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[Context]:
    lake = Lake(Session(never, "local"), str(tmp_path / "lake")).in_process()
    yield Context(lake=lake, suite="s", cores=1, chunk_requests=8).within(INFER)
    close_engines()


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Deployment]:
    """Three models whose engine fills its slot: a job asks two of them."""
    fills = replace(canned.ENGINE, exclusive=True)
    monkeypatch.setattr("medhelm_spark.engines.ENGINES", {"fills": fills})
    base = deployment("fills", text="yes", log_file=str(tmp_path / "calls.log"))
    return {name: replace(base, name=name) for name in "abc"}


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls.log"


def order_of(ctx: Context, models: Mapping[str, Deployment], judge: str) -> PulledOrder:
    """An order to these models, whose answers each bring the judge a request."""
    ctx.lake.ensure("request_results")
    follow = FollowUps(
        deployments={judge: models[judge]},
        judged=lambda _: pytest.fail("the order is written here"),
        requests=lambda result, _: [
            replace(ordered(judge, 0), request_id=f"about-{result.request_id}")
        ],
        tokens={judge: 10},
    )
    targets = InferenceTargets(deployments=models, policy=POLICY)
    assert ctx.lake.staging.shared
    return PulledOrder(ctx, targets, ctx.lake.staging.shared, follow)


def ask(ctx: Context, order: PulledOrder, models: Mapping[str, Deployment]) -> None:
    """Write the order and ask its groups, as `infer` does."""
    folder = order._folder
    folder.make()
    chunks: list[OrderedChunk] = []
    for name in models:
        rows = [judged_request(name, number, is_judged=True) for number in range(REQUESTS)]
        chunks += folder.write_requests([encode_batch(JudgedRequest, rows)], 8)
    for group in groups_of(ctx, models, models):
        order.ask(in_order(chunks), group, unwatched)


def test_a_judge_that_is_a_model_of_another_group_is_asked_each_request_once(
    ctx: Context, models: dict[str, Deployment], calls: Path
) -> None:
    groups = [
        [each.name for each in group[0].deployments] for group in groups_of(ctx, models, models)
    ]
    assert groups == [["a", "b"], ["c"]]
    ask(ctx, order_of(ctx, models, judge="a"), models)
    asked = [f"{name}-{number}" for name in models for number in range(REQUESTS)]
    assert Counter(calls.read_text().splitlines()) == Counter(
        [*asked, *(f"about-{name}" for name in asked)]
    )


def test_an_order_after_one_that_was_ended_is_asked(
    ctx: Context, models: dict[str, Deployment], calls: Path
) -> None:
    """As in a process whose first run lost its lease."""
    with ctx.lake.cancellable() as cancel:
        cancel()
        ask(ctx, order_of(ctx, models, judge="a"), models)
    assert not calls.exists()
    with ctx.lake.cancellable():
        ask(ctx, order_of(ctx, models, judge="a"), models)
    assert len(calls.read_text().splitlines()) == 2 * len(models) * REQUESTS


def test_all_texts_that_a_judge_is_sent_in_several_groups_are_recorded_before(
    ctx: Context, models: dict[str, Deployment]
) -> None:
    """Of several rows for one order the highest number counts."""
    away = {name: replace(model, locality=Locality.EXTERNAL) for name, model in models.items()}
    ask(ctx, order_of(ctx, away, judge="a"), away)
    rows = FileReader(ctx.lake.location.name).rows("SELECT * FROM {begun_waves}", BegunOrder)
    assert max(row.texts for row in rows if row.model_deployment == "a") == 4 * REQUESTS


def test_the_time_of_a_judge_is_that_of_all_groups_that_it_joined(
    ctx: Context, models: dict[str, Deployment]
) -> None:
    ask(ctx, order_of(ctx, models, judge="a"), models)
    rows = FileReader(ctx.lake.location.name).rows("SELECT * FROM {runs}", RunRecord)
    current = {row.unit_id: row for row in sorted(rows, key=attrgetter("finished_at"))}
    work = throughput(current.values())
    assert {name: each.requests for name, each in work.items()} == {"a": 80, "b": 20, "c": 20}
    both_groups = work["b"].slot_seconds + work["c"].slot_seconds
    assert work["a"].slot_seconds == pytest.approx(both_groups, abs=0.002)
