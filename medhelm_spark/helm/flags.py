"""HELM's flags without effect here: accepted, reported with their replacement, and dropped."""

import sys
from collections.abc import Mapping, Sequence

MANY = sys.maxsize

# Flag: its replacement here, and how many values it takes at most.
REPLACED: Mapping[str, tuple[str, int]] = {
    "--allow-unknown-models": ("unknown models are shown by their name", 1),
    "--api-key-path": ("a deployment names its key by env:NAME or secret:SCOPE/NAME", 1),
    "--batch-size": ("engines batch continuously by themselves", 1),
    "--cache-instances": ("ingest always keeps instances in the lake", 0),
    "--cache-instances-only": ("use `medhelm-spark ingest`", 0),
    "--cache-output-path": ("the dashboard reads the lake itself", 1),
    "--debug": ("errors say where they come from", 0),
    "--disable-cache": ("--ask-again asks anew, of a day; --retry-failed what failed for good", 0),
    "--enable-huggingface-models": ("name a deployment in model_deployments.yaml", MANY),
    "--enable-local-huggingface-models": ("name a deployment in model_deployments.yaml", MANY),
    "--exit-on-error": ("a failed request is a row, it never ends a run", 0),
    "--export-path": ("use `medhelm-spark leaderboard --format json --output-file FILE`", 1),
    "--helm-logo-href": ("the dashboard shows one lake and belongs to no portal", 1),
    "--helm-portal-base-url": ("the dashboard shows one lake and belongs to no portal", 1),
    "--helm-project-metadata-url": ("the dashboard shows one lake and belongs to no portal", 1),
    "--log-config": ("messages go to standard error; Spark logs as its platform says", 1),
    "--mongo-uri": ("every answer is kept in the lake's request_results table", 1),
    "--num-instances": ("use --max-eval-instances", 1),
    "--project": ("the dashboard shows one lake and belongs to no portal", 1),
    "--run-specs": ("use --run-entries", MANY),
    "--runner-class-name": ("Spark runs everything; slots and wave_minutes are settings", 1),
    "--schema-validation": ("a schema file is always checked", 1),
    "--server-url": ("name a deployment with engine openai and its base_url", 1),
    "--skip-completed-run-display-json": ("only what changed is summarised anew", 0),
    "--skip-instances": ("use --dry-run", 0),
    "--summarizer-class-name": ("Spark summarises everything", 1),
}


def without_replaced(argv: Sequence[str]) -> list[str]:
    """The command line without the replaced flags and their values; reports each on stderr."""
    words, kept = list(argv), []
    while words:
        word = words.pop(0)
        flag, given, _ = word.partition("=")
        if flag not in REPLACED:
            kept.append(word)
            continue
        instead, values = REPLACED[flag]
        sys.stderr.write(f"medhelm-spark: {flag} has no meaning here: {instead}.\n")
        while values and not given and words and not words[0].startswith("-"):
            words.pop(0)
            values -= 1
    return kept
