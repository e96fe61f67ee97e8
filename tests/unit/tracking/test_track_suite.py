"""The content of MLflow after tracking a suite or a release: a real SQLite store, no JVM."""

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.domain.run import AdapterSpec, MetricSpec
from medhelm_spark.errors import SetupError
from medhelm_spark.tracking.experiment import (
    TrackedSuite,
    default_uri,
    run_name,
    track_release,
    track_suite,
)
from medhelm_spark.tracking.records import metrics_of, original_name, params_of, suite_metrics
from medhelm_spark.tracking.store import RunPage, run_page, runs_address
from tests.unit.tracking.rows import MODEL, run, spec, stat, suite

LAKE = {"stats": ("/lake/stats", 0), "instances": ("main.med.instances", 3)}


class Tracked:
    """One experiment of the module's store, seen by MLflow's own client."""

    def __init__(self, uri: str, experiment: str) -> None:
        from mlflow import MlflowClient

        self.uri, self.experiment = uri, experiment
        self.client = MlflowClient(uri)

    def suite(self, tracked: TrackedSuite) -> str:
        return track_suite(tracked, self.uri, self.experiment)[0].run_id

    def release(self, manifest: str, *tracked: TrackedSuite) -> list[str]:
        where = {"tracking_uri": self.uri, "experiment": self.experiment}
        logged = track_release("2026.1", "draft", manifest, tracked, **where)
        return [each.run_id for each in logged]

    def experiment_id(self) -> str:
        logged = self.client.get_experiment_by_name(self.experiment)
        assert logged
        return logged.experiment_id

    def runs(self, kind: str) -> list[Any]:
        condition = f"tags.`medhelm_spark.kind` = '{kind}'"
        return list(self.client.search_runs([self.experiment_id()], condition))

    def history(self, run_id: str, key: str) -> list[tuple[int, float]]:
        return [(p.step, p.value) for p in self.client.get_metric_history(run_id, key)]


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('lake') / 'mlflow.db'}"


@pytest.fixture
def mlflow(uri: str, request: pytest.FixtureRequest) -> Iterator[Tracked]:
    yield Tracked(uri, request.node.name)


def own_tags(logged: Any) -> dict[str, str]:
    tags = logged.data.tags.items()
    own = {k.removeprefix("medhelm_spark."): v for k, v in tags if k.startswith("medhelm_spark.")}
    assert own.pop("logged_at").isdecimal()
    return own


def test_a_parent_has_the_numbers_and_the_delta_versions(mlflow: Tracked) -> None:
    tracked = suite(run("qa"), run("notes"), mean_win_rate=0.5, delta_versions=LAKE)
    logged = mlflow.client.get_run(mlflow.suite(tracked))
    assert logged.data.metrics == suite_metrics(tracked)
    assert logged.info.run_name == "small (s1, acme)"
    assert logged.info.status == "FINISHED"
    tags = own_tags(logged)
    assert len(tags.pop("key")) == 32
    assert tags == {"kind": "suite", "suite": "s1", "model_deployment": MODEL, "revision": "0"}
    inputs = {item.dataset.name: item for item in logged.inputs.dataset_inputs}
    assert inputs.keys() == {"stats@v0", "instances@v3"}
    assert inputs["stats@v0"].dataset.source_type == "delta_table"
    assert {name: json.loads(item.dataset.source) for name, item in inputs.items()} == {
        "stats@v0": {"path": "/lake/stats", "delta_table_version": 0},
        "instances@v3": {"delta_table_name": "main.med.instances", "delta_table_version": 3},
    }


def test_the_experiment_says_that_its_runs_are_looked_at(mlflow: Tracked) -> None:
    kind = "mlflow.experimentKind"
    mlflow.client.create_experiment(mlflow.experiment)  # as an earlier version made it
    mlflow.suite(suite())
    made = mlflow.client.get_experiment_by_name(mlflow.experiment)
    assert made and made.tags[kind] == "custom_model_development"
    mlflow.client.set_experiment_tag(made.experiment_id, kind, "genai_development")
    mlflow.suite(suite())
    chosen = mlflow.client.get_experiment_by_name(mlflow.experiment)
    assert chosen and chosen.tags[kind] == "genai_development", "what somebody chose stays"
    track_suite(suite(), mlflow.uri, mlflow.experiment + "-new")
    new = mlflow.client.get_experiment_by_name(mlflow.experiment + "-new")
    assert new and new.tags[kind] == "custom_model_development"


@pytest.mark.parametrize(
    ("uri", "start"),
    [
        ("http://me:secret@mlflow.example.org/?t=1", "http://***@mlflow.example.org/#"),
        ("sqlite:////lake/mlflow.db", "http://127.0.0.1:5000/#"),
        ("databricks", None),
        (None, None),
    ],
)
def test_the_page_of_the_runs_has_an_address(uri: str | None, start: str | None) -> None:
    page = "/experiments/7/runs?workflowType=machine_learning&compareRunsMode=CHART"
    assert runs_address(uri, "7") == (start and start + page)


def test_a_run_is_known_by_the_beginning_of_its_name() -> None:
    assert run_name("baseline", "s") == "baseline (s)"
    assert run_name("a/b/c", "release r") == "c (release r, a/b)"


def test_a_child_has_its_run_spec_and_what_may_change_as_tags(mlflow: Tracked) -> None:
    one = replace(run("qa"), fingerprints={"score": "abc"}, counts={"instances": 12})
    parent_id = mlflow.suite(suite(one))
    (child,) = mlflow.runs("run_spec")
    assert child.data.params == params_of(one.run_spec)
    assert child.data.metrics == metrics_of(one)
    assert child.data.tags["mlflow.parentRunId"] == parent_id
    assert child.info.run_name == "qa:model=acme_small"
    tags = own_tags(child)
    tags.pop("key")
    assert tags == {
        "kind": "run_spec",
        "suite": "s1",
        "model_deployment": MODEL,
        "run_spec_id": one.run_spec.run_spec_id,
        "superseded": "false",
        "fingerprint.score": "abc",
        "count.instances": "12",
        "revision": "0",
    }


def test_tracking_again_adds_nothing(mlflow: Tracked) -> None:
    tracked = suite(run("qa"), run("notes"), mean_win_rate=0.5, delta_versions=LAKE)
    first = mlflow.suite(tracked)
    moved = {"stats": ("/lake/stats", 9), "instances": ("main.med.instances", 9)}
    assert mlflow.suite(replace(tracked, delta_versions=moved)) == first
    assert (len(mlflow.runs("suite")), len(mlflow.runs("run_spec"))) == (1, 2)
    assert mlflow.history(first, "qa/exact_match") == [(0, 0.5)]
    logged = mlflow.client.get_run(first)
    names = {item.dataset.name for item in logged.inputs.dataset_inputs}
    assert names == {"stats@v0", "instances@v3"}, "no number was read from the newer versions"


def test_a_changed_number_is_a_new_point_read_from_new_versions(mlflow: Tracked) -> None:
    first = mlflow.suite(suite(run("qa", stat(mean=0.5)), run("notes"), delta_versions=LAKE))
    moved = LAKE | {"stats": ("/lake/stats", 1)}
    mlflow.suite(suite(run("qa", stat(mean=0.75)), run("notes"), delta_versions=moved))
    assert mlflow.history(first, "qa/exact_match") == [(0, 0.5), (0, 0.75)]
    assert mlflow.client.get_run(first).data.metrics["qa/exact_match"] == 0.75
    assert mlflow.history(first, "notes/exact_match") == [(0, 0.5)]
    inputs = mlflow.client.get_run(first).inputs.dataset_inputs
    assert sorted(i.dataset.name for i in inputs) == ["instances@v3", "stats@v0", "stats@v1"]


def test_all_numbers_are_at_step_0_also_by_a_clock_that_is_behind(
    mlflow: Tracked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, clock in ((0.5, 2000.0), (0.75, 1000.0), (0.25, 1000.0)):
        monkeypatch.setattr("medhelm_spark.tracking.store.time", lambda clock=clock: clock)
        first = mlflow.suite(suite(run("qa", stat(mean=number))))
    assert mlflow.client.get_run(first).data.metrics["qa/exact_match"] == 0.25
    assert mlflow.history(first, "qa/exact_match") == [(0, 0.5), (0, 0.75), (0, 0.25)]


def test_a_run_that_has_later_steps_goes_on_with_steps(mlflow: Tracked) -> None:
    first = mlflow.suite(suite(run("qa", stat(mean=0.5))))
    mlflow.client.log_metric(first, "qa/exact_match", 0.25, step=1)
    mlflow.client.set_tag(first, "medhelm_spark.revision", "1")
    mlflow.client.delete_tag(first, "medhelm_spark.logged_at")
    mlflow.suite(suite(run("qa", stat(mean=0.75))))
    assert mlflow.client.get_run(first).data.metrics["qa/exact_match"] == 0.75
    assert mlflow.history(first, "qa/exact_match")[-1] == (2, 0.75)


def test_a_number_that_is_gone_becomes_nan_once(mlflow: Tracked) -> None:
    first = mlflow.suite(suite(run("qa"), run("notes"), mean_win_rate=0.5))
    mlflow.client.log_metric(first, "watched_by_a_person", 1.0)
    for _ in range(2):
        mlflow.suite(suite(run("qa")))
    metrics = mlflow.client.get_run(first).data.metrics
    gone = {key for key, value in metrics.items() if math.isnan(value)}
    assert gone == {
        "0_scores/mean_win_rate",
        "0_scores/notes",
        "mean_win_rate",
        "notes/exact_match",
        "notes/exact_match_ci_high",
        "notes/exact_match_ci_low",
        "notes/n",
        "notes/n_unscored",
    }
    assert len(mlflow.history(first, "notes/n")) == 2
    mlflow.suite(suite(run("qa"), run("notes"), mean_win_rate=0.5))
    assert mlflow.client.get_run(first).data.metrics["notes/n"] == 10.0


def test_a_superseded_run_spec_keeps_its_child_and_may_come_back(mlflow: Tracked) -> None:
    small = run("qa", adapter_spec=AdapterSpec(max_eval_instances=10))
    large = run("qa", adapter_spec=AdapterSpec(max_eval_instances=1000))
    ids = [one.run_spec.run_spec_id for one in (small, large)]

    def marks() -> list[str]:
        tags = [own_tags(child) for child in mlflow.runs("run_spec")]
        by_id = {one["run_spec_id"]: one["superseded"] for one in tags}
        assert len(by_id) == len(tags)
        return [by_id[key] for key in ids if key in by_id]

    mlflow.suite(suite(small))
    assert marks() == ["false"]
    mlflow.suite(suite(large, superseded=(ids[0], "never-tracked")))
    assert marks() == ["true", "false"]
    mlflow.suite(suite(small, superseded=(ids[0], ids[1])))
    assert marks() == ["false", "true"]


def test_suites_and_models_have_runs_of_their_own(mlflow: Tracked) -> None:
    names = ["s1", 'it\'s "quoted" `too`', "s1"]
    models = [MODEL, MODEL, "acme/large"]
    pairs = zip(names, models, strict=True)
    run_ids = [mlflow.suite(suite(suite=s, model_deployment=m)) for s, m in pairs]
    assert len(set(run_ids)) == 3
    assert mlflow.suite(suite(suite=names[1])) == run_ids[1]


def test_an_interrupted_run_is_completed(mlflow: Tracked) -> None:
    tracked = suite(run("qa"), delta_versions=LAKE)
    key = own_tags(mlflow.client.get_run(mlflow.suite(tracked)))["key"]
    for logged in (*mlflow.runs("suite"), *mlflow.runs("run_spec")):
        mlflow.client.delete_run(logged.info.run_id)
    tags = {"key": key, "kind": "suite"}
    begun = mlflow.client.create_run(
        mlflow.experiment_id(), tags={f"medhelm_spark.{k}": v for k, v in tags.items()}
    )
    assert mlflow.suite(tracked) == begun.info.run_id
    logged = mlflow.client.get_run(begun.info.run_id)
    assert logged.info.status == "FINISHED"
    assert logged.data.metrics == suite_metrics(tracked)
    assert len(logged.inputs.dataset_inputs) == 2
    assert len(mlflow.runs("run_spec")) == 1, "a deleted parent's child is not taken over"


def test_more_than_fits_into_a_batch_and_names_that_mlflow_refuses(mlflow: Tracked) -> None:
    names = ["exact_match", "../[x]@y", *(f"criterion {i}" for i in range(400))]
    specs = tuple(MetricSpec(name=f"m{i}", args={"labels@": "x" * 7000}) for i in range(120))
    counts = {f"rows {i}": i for i in range(150)}
    one = run("qa", *(stat(name) for name in names), metrics=specs)
    logged = mlflow.client.get_run(mlflow.suite(suite(replace(one, counts=counts))))
    assert len(logged.data.metrics) == 402 * 3 + 2 + 1
    keys = {original_name(key.partition("/")[2]) for key in logged.data.metrics}
    assert keys.issuperset(names)
    (child,) = mlflow.runs("run_spec")
    assert child.data.params == params_of(one.run_spec)
    assert len(child.data.params) > 240
    assert child.data.tags["medhelm_spark.count.rows 20 149"] == "149"


def test_a_release_has_one_run_per_deployment(mlflow: Tracked) -> None:
    first = suite(run("qa", stat(mean=0.75)), run("notes"), suite="s1, s2", mean_win_rate=1.0)
    other = suite(run("qa"), model_deployment="acme/large", delta_versions=LAKE)
    run_ids = mlflow.release("hash1", first, other)
    assert mlflow.release("hash1", first, other) == run_ids
    large, small = (mlflow.client.get_run(run_id) for run_id in run_ids)
    assert own_tags(large)["model_deployment"] == "acme/large"
    assert large.info.run_name == "large (release 2026.1, acme)"
    assert len(large.inputs.dataset_inputs) == 2
    assert small.data.metrics["qa/exact_match"] == 0.75
    assert small.data.metrics["notes/exact_match"] == 0.5
    assert small.data.metrics["mean_win_rate"] == 1.0
    tags = own_tags(small)
    tags.pop("key")
    assert tags == {
        "kind": "release",
        "release": "2026.1",
        "status": "draft",
        "manifest_hash": "hash1",
        "model_deployment": MODEL,
        "suites": "s1, s2",
        "superseded": "false",
        "revision": "0",
    }
    assert mlflow.release("hash2", first) == run_ids[1:]
    marks = [own_tags(mlflow.client.get_run(run_id)) for run_id in run_ids]
    assert [mark["superseded"] for mark in marks] == ["true", "false"]
    assert [mark["manifest_hash"] for mark in marks] == ["hash1", "hash2"]


def test_a_deleted_experiment_is_one_sentence(mlflow: Tracked) -> None:
    mlflow.suite(suite())
    mlflow.client.delete_experiment(mlflow.experiment_id())
    with pytest.raises(SetupError, match=r"is deleted: restore it or name another one\.$"):
        mlflow.suite(suite())


def test_a_refusal_names_the_place_without_its_password() -> None:
    with pytest.raises(SetupError) as caught:
        track_suite(suite(), "nosuch://me:secret@db.example.org/mlflow")
    assert "nosuch://***@db.example.org/mlflow" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_damaged_store_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("this is no database\n" * 100)
    with pytest.raises(SetupError, match=r"refused: .*file is not a database$"):
        track_suite(suite(), default_uri(str(tmp_path)))


def test_without_mlflow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(SetupError, match=r"medhelm-spark\[local\]"):
        track_suite(suite(), None)


def test_telemetry_is_off(mlflow: Tracked) -> None:
    from mlflow.telemetry.utils import is_telemetry_disabled

    mlflow.suite(suite())
    assert is_telemetry_disabled()


@pytest.mark.parametrize(
    "location", ["s3://bucket/lake", "abfss://c@a.dfs.core.windows.net/l", "dbfs:/lake", "main.med"]
)
def test_a_lake_on_a_cluster_is_tracked_by_its_server(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert default_uri(location) is None


def test_a_local_lake_is_tracked_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    assert default_uri("benchmark_output") == f"sqlite:///{tmp_path}/benchmark_output/mlflow.db"
    assert default_uri(f"file://{tmp_path}") == f"sqlite:///{tmp_path}/mlflow.db"
    (tmp_path / "a.b").mkdir()
    assert default_uri("a.b") == f"sqlite:///{tmp_path}/a.b/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow.example.org")
    assert default_uri("benchmark_output") is None


def test_names_of_runs_fit(mlflow: Tracked) -> None:
    mlflow.suite(suite(replace(run(), run_spec=spec(name="qa:" + "x" * 400))))
    (child,) = mlflow.runs("run_spec")
    assert len(child.info.run_name) == 250


NOTE = "mlflow.note.content"


def test_the_description_leads_to_the_page_and_gives_way_to_a_persons(mlflow: Tracked) -> None:
    first = mlflow.suite(suite(page="https://a.example.org/?suite=s1"))
    mlflow.suite(suite(page="https://b.example.org/?suite=s1"))
    tags = mlflow.client.get_run(first).data.tags
    assert tags["medhelm_spark.page"] == "https://b.example.org/?suite=s1"
    assert tags[NOTE].endswith("[dashboard](<https://b.example.org/?suite=s1>)")
    mlflow.client.set_tag(first, NOTE, "looked at by the board on Monday")
    mlflow.suite(suite(page="https://c.example.org/?suite=s1"))
    tags = mlflow.client.get_run(first).data.tags
    assert tags[NOTE] == "looked at by the board on Monday"
    assert tags["medhelm_spark.page"] == "https://c.example.org/?suite=s1"


def test_no_address_contains_a_login(monkeypatch: pytest.MonkeyPatch) -> None:
    server = run_page("http://me:secret@mlflow.example.org/?token=t", "7", "ab")
    assert server == RunPage(address="http://mlflow.example.org/#/experiments/7/runs/ab")
    database = run_page("postgresql://me:secret@db.example.org/mlflow", "7", "ab")
    assert database.address == "http://127.0.0.1:5000/#/experiments/7/runs/ab"
    assert "secret" not in database.served_by
    monkeypatch.delenv("DATABRICKS_HOST", raising=False)
    assert run_page("databricks", "7", "ab") == RunPage()
    monkeypatch.setenv("DATABRICKS_HOST", "https://adb-1.example.net/")
    assert run_page("databricks", "7", "ab").address == (
        "https://adb-1.example.net/ml/experiments/7/runs/ab"
    )
