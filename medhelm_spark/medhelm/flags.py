"""HELM's flags that do nothing here: refused, with what to write instead."""

from collections.abc import Callable, Mapping, Sequence

REPLACED: Mapping[str, str] = {
    "--allow-unknown-models": "unknown models are shown by their name",
    "--api-key-path": "a deployment names its key by env:NAME or secret:SCOPE/NAME",
    "--batch-size": "engines batch continuously by themselves",
    "--cache-instances": "ingest always keeps instances in the lake",
    "--cache-instances-only": "use `medhelm-spark ingest`",
    "--cache-output-path": "the dashboard reads the lake itself",
    "--debug": "errors say where they come from",
    "--disable-cache": "--ask-again asks anew, of a day; --retry-failed what failed for good",
    "--enable-huggingface-models": "name a deployment in model_deployments.yaml",
    "--enable-local-huggingface-models": "name a deployment in model_deployments.yaml",
    "--exit-on-error": "a failed request is a row, it never ends a run",
    "--export-path": "use `medhelm-spark leaderboard --format json --output-file FILE`",
    "--helm-logo-href": "the dashboard shows one lake and belongs to no portal",
    "--helm-portal-base-url": "the dashboard shows one lake and belongs to no portal",
    "--helm-project-metadata-url": "the dashboard shows one lake and belongs to no portal",
    "--log-config": "messages go to standard error; Spark logs as its platform says",
    "--mongo-uri": "every answer is kept in the lake's request_results table",
    "--num-instances": "use --max-eval-instances",
    "--project": "the dashboard shows one lake and belongs to no portal",
    "--run-specs": "use --run-entries",
    "--runner-class-name": "Spark runs everything; slots and chunk_requests are settings",
    "--schema-validation": "a schema file is always checked",
    "--server-url": "name a deployment with engine openai and its base_url",
    "--skip-completed-run-display-json": "only what changed is summarised anew",
    "--skip-instances": "use --dry-run",
    "--summarizer-class-name": "Spark summarises everything",
}


def refuse_replaced(argv: Sequence[str], refuse: Callable[[str], object]) -> None:
    """Call `refuse` with a sentence where a command line has one of these flags."""
    for word in argv:
        flag = word.partition("=")[0]
        if flag in REPLACED:
            refuse(f"{flag} is a flag of HELM's that does nothing here: {REPLACED[flag]}")
    if argv[0] == "summarize" and any(word.partition("=")[0] == "--release" for word in argv):
        refuse("summarize makes no release: `medhelm-spark publish --suites S --release R` does")
