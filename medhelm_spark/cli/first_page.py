"""The first page of the command line: every command in its group, and what a mistyped one is."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

GROUPS: Mapping[str, Mapping[str, str]] = {
    "begin": {
        "demo": "run three shipped benchmarks with a small model, print their board",
        "doctor": "check Java, Spark, Delta, engines, disks; print what to do",
        "fetch-model": "download the small model",
        "scenarios": "list the shipped benchmarks; fetch their data",
        "models": "list the models; --check asks each one a question",
        "init": "write a benchmark of your own table or file",
    },
    "run": {
        "run": "run all stages, each only where something is missing; print the board",
        "estimate": "print what a run would cost",
        "import-responses": "score answers that were made elsewhere",
        "import-helm": "take over results that MedHELM or HELM wrote",
        "import-scenario": "take over a scenario with MedHELM's own prompts",
    },
    "read": {
        "leaderboard": "print or write the board of a suite or release",
        "answers": "print prompts, answers and scores",
        "serve": "open the dashboard",
    },
    "decide": {
        "compare": "compare models on the same instances, benchmark by benchmark",
        "release": "pin, review, approve, publish, withdraw and verify releases",
        "publish": "pin a release, or publish one that is approved",
    },
    "hand on": {
        "report": "write a board as one HTML file",
        "export-helm": "write results that MedHELM's helm-summarize reads",
        "disclosures": "print what text was sent where",
        "level": "lower the access level of data on record",
    },
    "lake": {
        "gc": "remove what the policy's retention no longer keeps",
        "optimize": "rewrite many small files into few",
        "explain-config": "print each setting and where it comes from",
    },
    "stages": {
        "ingest": "read a scenario's data into the lake",
        "plan": "freeze run specs, render prompts",
        "infer": "ask models and judges what has no answer yet",
        "annotate": "read the judges' replies",
        "score": "measure every answer",
        "summarize": "summarise suites, print the board",
    },
}
"""The commands by what a person wants to do, each with the line of the first page."""


def grouped_commands() -> str:
    """All commands as the lines of the first page."""
    width = max(len(name) for commands in GROUPS.values() for name in commands) + 2
    lines = []
    for group, commands in GROUPS.items():
        lines.append(f"{group}:")
        lines += [f"  {name:{width}}{about}" for name, about in commands.items()]
        lines.append("")
    return "\n".join(lines).rstrip()


def unknown_command(name: str, known: Iterable[str]) -> str:
    """What the command line prints in answer to a command that does not exist.

    >>> unknown_command("leaderbord", ["leaderboard", "run"])
    "unknown command 'leaderbord'. Did you mean 'leaderboard'?"
    """
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    hint = f"Did you mean {close[0]!r}?" if close else "`medhelm-spark` lists the commands."
    return f"unknown command {name!r}. {hint}"
