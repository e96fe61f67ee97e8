"""One `Evaluation` object over several calls, as a notebook uses it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest
from deltalake import DeltaTable

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.cli.exit_codes import CHANGED
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.request import PlannedRequest
from medhelm_spark.errors import ConfigError, LakeError, UnknownNameError
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.tracking import methods as tracking_methods
from tests.rewriting import rewritable
from tests.spark.conftest import Site, questions


def constant(name: str, text: str) -> Deployment:
    args = {"mode": "script", "text": text}
    return Deployment(name=name, model=name, engine="canned", locality=Locality.LOCAL, args=args)


def open_evaluation(site: Site) -> Evaluation:
    return Evaluation(
        site.lake_path,
        site=site.folder / "prod_env",
        spark=site.spark,
        tracking=False,
        deployments=[constant(f"team/{text}", text) for text in ("yes", "no", "late")],
    )


def answers(site: Site, text: str) -> str:
    path = site.folder / f"{text}.jsonl"
    rows = [{"source_id": f"q{i}", "completion": text} for i in range(4)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def means(site: Evaluation) -> dict[str, float]:
    frame = site.board("s").to_pandas()
    return dict(zip(frame["model_deployment"], frame["mean"], strict=True))


def test_a_board_follows_what_is_run_and_imported_next(site: Site) -> None:
    bench = site.benchmark("bench", questions(4))
    evaluation = open_evaluation(site)
    first = evaluation.run(f"{bench},model=team/yes", suite="s")
    assert (first.model_calls, first.missing) == (4, None)
    assert means(evaluation) == {"team/yes": 1.0}
    # Models passed to the object are there after an import, which brings one of its own.
    import_result = evaluation.import_responses(
        f"{bench},model=team/file", answers(site, "yes"), suite="s"
    )
    assert import_result.model_calls == 0
    assert evaluation.run(f"{bench},model=team/no", suite="s").model_calls == 4
    assert means(evaluation) == {"team/yes": 1.0, "team/file": 1.0, "team/no": 0.0}
    # Another file for the same model supersedes the first.
    evaluation.import_responses(f"{bench},model=team/file", answers(site, "no"), suite="s")
    assert means(evaluation) == {"team/yes": 1.0, "team/file": 0.0, "team/no": 0.0}
    assert evaluation.run(f"{bench},model=team/yes", suite="s").model_calls == 0
    (pair,) = evaluation.compare("team/yes", "team/no", suite="s").rows()
    assert (pair["mean_difference"], pair["n"]) == (1.0, 4)
    (other,) = evaluation.compare("team/no", "team/yes", suite="s").rows()
    assert other["mean_difference"] == -1.0
    page = evaluation.instances("bench", "team/no", suite="s")
    texts = [
        answer.text
        for detail in page.details()
        if detail.result
        for answer in detail.result.completions
    ]
    assert texts == ["no"] * 4


def test_answers_from_files_and_asked_answers_of_a_model_supersede_each_other(site: Site) -> None:
    bench = site.benchmark("bench", questions(4))
    evaluation, late = open_evaluation(site), f"{bench},model=team/late"
    for text, mean in (("yes", 1.0), ("no", 0.0), ("yes", 1.0)):
        import_result = evaluation.import_responses(late, answers(site, text), suite="s")
        assert (import_result.model_calls, means(evaluation)) == (0, {"team/late": mean})
    assert {run["engine"] for run in site.rows("run_specs")} == {"imported"}
    assert evaluation.run(late, suite="s").model_calls == 4
    assert means(evaluation) == {"team/late": 0.0}
    assert evaluation.import_responses(late, answers(site, "yes"), suite="s").model_calls == 0
    assert means(evaluation) == {"team/late": 1.0}
    assert evaluation.run(late, suite="s").model_calls == 0, "what was asked is stored"
    assert means(evaluation) == {"team/late": 0.0}


@pytest.mark.long
def test_what_is_published_is_frozen_while_the_suite_goes_on(site: Site) -> None:
    bench = site.benchmark("bench", questions(4))
    evaluation = open_evaluation(site)
    evaluation.run(f"{bench},model=team/yes", suite="s", max_eval_instances=2)
    assert evaluation.summarize("s").to_pandas()["count"].tolist() == [2]
    release = evaluation.releases.publish("r1", "s")
    assert release.suites == ("s",)
    evaluation.run(f"{bench},model=team/yes", suite="s")
    assert release.board.to_pandas()["count"].tolist() == [2]
    assert evaluation.board(release="r1").to_pandas()["count"].tolist() == [2]
    assert evaluation.board("s").to_pandas()["count"].tolist() == [4]
    # What was added since changes nothing that is pinned, and publishing again changes the release.
    assert evaluation.releases.verify("r1") == release.manifest_hash
    again = evaluation.releases.publish("r1", "s")
    assert again.manifest_hash != release.manifest_hash
    assert evaluation.releases.publish("r1", "s").manifest_hash == again.manifest_hash
    assert evaluation.releases.verify("r1") == again.manifest_hash


CHANGES = {
    "stats": {"mean": "0.999D"},
    "run_specs": {"locality": "'external'"},
    "scenarios": {"display_name": "'Another'"},
    "per_instance_stats": {"split": "'valid'"},
    "request_results": {"prompt_tokens": "7"},
    "requests": {"estimated_tokens": "7"},
    "prompts": {"num_characters": "7"},
    "instances": {"source_index": "7"},
}


@pytest.mark.long
@pytest.mark.attack("integrity", "a value of each table behind a release, changed after publishing")
def test_every_changed_value_behind_a_release_is_named(
    site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    bench = site.benchmark("bench", questions(4))
    evaluation = open_evaluation(site)
    evaluation.run(f"{bench},model=team/yes", suite="s")
    evaluation.releases.publish("r1", "s")
    flags = ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]
    command = ["release", "verify", "--release", "r1", *flags]
    assert main(command) == 0
    versions = {}
    for table, values in CHANGES.items():
        path = f"{site.lake_path}/{table}"
        assert DeltaTable(path).metadata().configuration["delta.appendOnly"] == "true", table
        rewritten = rewritable(path)
        versions[path] = rewritten.version()
        rewritten.update(updates=values)
    capfd.readouterr()
    assert main(command) == CHANGED
    stderr = capfd.readouterr().err
    assert not [table for table in CHANGES if f"{table} of bench:" not in stderr]
    publish = ["publish", "--suites", "s", "--release", "r1", "--no-tracking", *flags]
    assert main(publish) == CHANGED, "the forged number is not pinned instead"
    stderr = capfd.readouterr().err
    assert "not what the scores in per_instance_stats give: stats of bench:" in stderr
    for path, version in versions.items():
        DeltaTable(path).restore(version)
    capfd.readouterr()
    assert main(command) == CHANGED, "the values are as published, and the history has the reason"
    assert "RESTORE" in capfd.readouterr().err


@dataclass(frozen=True, slots=True, kw_only=True)
class Wider(PlannedRequest):
    note: str | None = None
    weight: int = 1
    tags: tuple[str, ...] = ()
    marks: Mapping[str, int] = field(default_factory=dict)
    kind: AccessLevel = AccessLevel.GATED


def test_a_column_with_a_default_is_added_by_its_field_alone(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = site.benchmark("bench", questions(2))
    evaluation = open_evaluation(site)
    evaluation.run(f"{bench},model=team/yes", suite="s", upto="plan")
    monkeypatch.setitem(TABLES._by_name, "requests", replace(TABLES["requests"], row=Wider))
    evaluation.run(f"{bench},model=team/no", suite="s", upto="plan")
    request_values = {
        (row["model_deployment"], row["note"], row["weight"], row["kind"], str(row["tags"]))
        for row in site.rows("requests")
    }
    assert request_values == {
        ("team/yes", None, None, None, "None"),
        ("team/no", None, 1, "gated", "[]"),
    }


def test_names_that_are_not_there_are_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = site.benchmark("bench", questions(2))
    evaluation = open_evaluation(site)
    conf, zone, zones = site.spark.conf, "spark.sql.session.timeZone", set[str | None]()
    conf.set(zone, "America/New_York")
    evaluation._workspace.say = lambda line: zones.add(conf.get(zone))
    evaluation.run(f"{bench},model=team/yes", suite="s")
    assert (zones, conf.get(zone)) == ({"UTC"}, "America/New_York")
    with pytest.raises(UnknownNameError, match="team/absent"):
        evaluation.compare("team/yes", "team/absent", suite="s")
    with pytest.raises(ConfigError, match="is named twice"):
        evaluation.compare("team/yes", "team/yes", suite="s")
    with pytest.raises(LakeError, match="no suite 'other'"):
        evaluation.tracking.log(suite="other")
    tracked: list[str] = []
    monkeypatch.setattr(
        tracking_methods, "track", lambda workspace, ctx, *more: tracked.append(ctx.suite)
    )
    Evaluation(site.lake_path, site=None, spark=site.spark).tracking.log()
    assert tracked == ["s"], "the suite planned last"
    forgot = Evaluation(site.lake_path, site=None, spark=site.spark, tracking=False)
    with pytest.raises(ConfigError, match=r"earlier runs of team/yes, .*deployments="):
        forgot.dry_run(f"{bench},model=team/yes", suite="s")
    with pytest.raises(UnknownNameError, match="max_instances"):
        evaluation.run(f"{bench},model=team/yes", suite="s", max_instances=2)
    with pytest.raises(ConfigError, match="at least one suite"):
        evaluation.releases.publish("r1", [])
    assert conf.get(zone) == "America/New_York"
    conf.set(zone, "UTC")
