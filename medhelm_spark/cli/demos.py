"""`demo`: the shipped benchmarks, the embedded model, and a constant baseline, in one session."""

from collections.abc import Sequence
from pathlib import Path

from medhelm_spark.cli.boards import print_board
from medhelm_spark.cli.coverage import check_scores
from medhelm_spark.cli.evaluate import OwnData, check, check_engines, evaluate, prepare
from medhelm_spark.cli.track import track, tracking_command
from medhelm_spark.cli.workspace import Workspace, say
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.helm.expand import expand
from medhelm_spark.helm.run_entries import parse_flags
from medhelm_spark.tracking import preload

SUITE = "demo"
MODEL = "huggingface/smollm2-135m-instruct"
BASELINE = "baseline/constant"
# What it answers, by a phrase of the prompt; "A" to all others.
BASELINE_ANSWERS = {
    "A caller describes a health problem.": "routine",
    "Rewrite this visit summary for the patient": "Please follow the advice you were given at your "
    "visit, take your medicine as told, and come back if you feel worse.",
}
CONFIGURABLE = "medhelm_configurable_benchmark:config_path"

# A model of this size reads some 200 tokens a second on two cores: a demo takes a minute, not ten.
ENTRIES = (
    f"{CONFIGURABLE}=triage_choice/benchmark.yaml,max_eval_instances=12",
    f"{CONFIGURABLE}=discharge_note/benchmark.yaml,max_eval_instances=4",
    "pubmed_qa:max_eval_instances=10",
)


def run(
    location: str,
    local_path: Path,
    tracking_uri: str | None,
    *,
    tracking: bool,
    typed: Sequence[str],
) -> int:
    """Three small benchmarks for a real model and for a baseline that always answers alike."""
    if tracking:
        preload()
    workspace = Workspace(local_path, location, [_baseline()])
    runs = _runs(workspace)
    check(runs)
    check_engines(runs, workspace)
    ctx = workspace.context(SUITE)
    made = OwnData(paths=[_pubmed_style()])
    prepared = prepare(ctx, workspace, runs, {"pubmed_qa": made})
    done = evaluate(ctx, workspace, runs, prepared=prepared)
    say(counted(done.model_calls, "model call"))
    if tracking:
        track(workspace, ctx, SUITE, tracking_uri)
    print_board(workspace, suite=SUITE)
    code = check_scores(workspace, ctx, runs, prepared.specs, typed)
    say(f"\nlake       {ctx.lake.location}")
    say(f"compare    {tracking_command(workspace, tracking_uri)}")
    say(f"dashboard  medhelm-spark serve --suite {SUITE} --output-path {location}")
    return code


def _baseline() -> Deployment:
    return Deployment(
        name=BASELINE,
        model=BASELINE,
        engine="canned",
        locality=Locality.LOCAL,
        args={"mode": "script", "replies": BASELINE_ANSWERS, "text": "A"},
        origin="demo",
    )


def _pubmed_style() -> str:
    return str(conf_path("demos", "pubmed_style", "ori_pqal_demo.json"))


def _runs(workspace: Workspace) -> tuple[ResolvedRun, ...]:
    entries = [f"{entry},model={model}" for model in (MODEL, BASELINE) for entry in ENTRIES]
    return expand(parse_flags(entries), workspace.registry, base_dir=conf_path("demos"))
