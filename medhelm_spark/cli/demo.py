"""`demo`: the shipped benchmarks, the embedded model, and a constant baseline, in one session."""

from argparse import Namespace

from medhelm_spark import Entries, OwnData, features
from medhelm_spark.cli.commands import evaluation, finished
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.workspace.workspace import say

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


def demo(args: Namespace) -> int:
    """Three small benchmarks for a real model and for a baseline that always answers alike."""
    site = evaluation(args, [_baseline()])
    pubmed = OwnData(
        paths=[str(conf_path("demos", "pubmed_style", "ori_pqal_demo.json"))],
        access_level=AccessLevel.PUBLIC,
    )
    entries = [f"{entry},model={model}" for model in (MODEL, BASELINE) for entry in ENTRIES]
    done = site.run(
        Entries(run_entries=entries, base_dir=conf_path("demos")),
        suite=SUITE,
        source={"pubmed_qa": pubmed},
    )
    code = finished(done, args)
    say(f"\nlake       {site.location}")
    if features.is_there("tracking"):
        say(f"compare    {site.tracking.server or 'on the page of the tracking server'}")
        if page := None if args.no_tracking else site.tracking.page:
            say(f"           then open {page}")
    say(f"dashboard  medhelm-spark serve --suite {SUITE} --output-path {args.output_path}")
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
