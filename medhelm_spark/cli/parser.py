"""The command line: every command with its options and examples, in one table."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from medhelm_spark import features
from medhelm_spark.cli import (
    board_options,
    candidate_gate,
    commands,
    import_options,
    judges,
    maintenance,
    medhelm,
    options,
    ratings,
    releases,
    watch,
)
from medhelm_spark.cli.answers import answers
from medhelm_spark.cli.completion import SHELLS, print_completion
from medhelm_spark.cli.demo import demo
from medhelm_spark.cli.doctor import doctor, examining
from medhelm_spark.cli.exit_codes import MEANINGS, PROG
from medhelm_spark.cli.first_page import Group, grouped, unknown_command
from medhelm_spark.cli.scenarios import scenarios
from medhelm_spark.domain.stages import SUMMARIZE, UPTO
from medhelm_spark.medhelm.flags import refuse_replaced
from medhelm_spark.version import VERSION

ABOUT = "Evaluate language models on medical tasks: Spark jobs over Delta tables."
FLAG_COLUMNS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of the command line.

    `group` and `line` are for the first page, `about` and `examples` for the command's own page.
    """

    group: Group
    line: str
    function: Callable[[argparse.Namespace], int]
    about: str
    options: tuple[Callable[[argparse.ArgumentParser], None], ...] = ()
    examples: tuple[str, ...] = ()
    feature: str = ""
    """The feature whose command it is; empty for what is always there."""


ALIASES: Mapping[str, tuple[str, ...]] = {"serve": ("server",)}
_LOCATIONS = (options.lake, options.site)
_STAGES = (*_LOCATIONS, options.offline, options.entries, options.running)
_SUMMARIES = (*_LOCATIONS, options.offline, options.summarizing, options.tracking)
_RELEASES = (*_SUMMARIES, options.naming_release, releases.noting)
_QUESTIONS = '-r "pubmed_qa:model=huggingface/smollm2-135m-instruct" --suite first'

_COMMANDS: Mapping[str, Command] = {
    "demo": Command(
        group=Group.BEGIN,
        line="run three shipped benchmarks with a small model, print their board",
        function=demo,
        about="Run the shipped demos and print their board.",
        options=(*_LOCATIONS, options.tracking),
        examples=("demo", "demo -o lake --no-tracking"),
    ),
    "fetch-model": Command(
        group=Group.BEGIN,
        line="download the small model",
        function=commands.fetch_model,
        about="Download the small embedded model, once, and check its hash.",
    ),
    "scenarios": Command(
        group=Group.BEGIN,
        line="list the shipped benchmarks; fetch their data, purge their text",
        function=scenarios,
        about="List the scenarios with access level, size, main metric, source, and whether their "
        "data is at hand, with those imported into the lake; check every card; fetch data; or "
        "remove the text of a scenario from the lake for good when an agreement ends.",
        options=(*_LOCATIONS, options.action),
        examples=(
            "scenarios",
            "scenarios -o lake",
            "scenarios check",
            "scenarios fetch med_qa mmlu:subject=virology",
            "scenarios fetch --all-public",
            "scenarios purge own_notes --agreement DUA-2024-17 --dry-run",
            "scenarios purge own_notes --agreement DUA-2024-17 --yes",
            "scenarios purged",
        ),
    ),
    "models": Command(
        group=Group.BEGIN,
        line="list the models; --check asks each one a question",
        function=commands.models,
        about="List the models that can be asked, with engine, locality, prices, keys and what "
        "each lacks; with --check ask whether they answer.",
        options=(*_LOCATIONS, options.checking, board_options.form),
        examples=("models", "models --check ollama/llama3.1:8b", "models --format json"),
    ),
    "init": Command(
        group=Group.BEGIN,
        line="write a benchmark of your own table or file",
        function=commands.init,
        about="Write a benchmark of your own table or file into a new folder, check it, and show "
        "one filled prompt and the next command.",
        options=(*_LOCATIONS, options.new_benchmark),
        examples=(
            "init --table clinic.letters --text note --label urgent --id letter_id",
            "init referral --file letters.csv --text note --label urgent",
        ),
    ),
    "run": Command(
        group=Group.RUN,
        line="run all stages, each only where something is missing; print the board",
        function=commands.run,
        about="Do all stages for run entries, each only where something is missing; "
        "print the board.",
        options=(*_STAGES, options.tracking),
        examples=(
            f"run {_QUESTIONS} -m 10",
            "run --suite-file smoke --suite first",
            "run -c run_entries.conf --models-to-run ollama/qwen2.5-7b-instruct --suite pilot -d",
        ),
    ),
    "ingest": Command(
        group=Group.STAGES,
        line="read a scenario's data into the lake",
        function=commands.ingest,
        about="Read a scenario's data into the lake.",
        options=(*_LOCATIONS, options.ingesting),
        examples=(
            "ingest --scenario pubmed_qa",
            "ingest --scenario medcalc_bench --source test_data.csv --access-level public",
        ),
    ),
    **{
        stage.name: Command(
            group=Group.STAGES,
            line=f"{stage.about[0].lower()}{stage.about[1:].rstrip('.')}",
            function=commands.run,
            about=f"As run, up to {stage.name}: {stage.about[0].lower()}{stage.about[1:]}",
            options=_STAGES,
            examples=(f"{stage.name} {_QUESTIONS} -m 10",),
        )
        for stage in UPTO
        if stage is not SUMMARIZE
    },
    "estimate": Command(
        group=Group.RUN,
        line="print what a run would cost",
        function=commands.estimate,
        about="As plan, and say what asking would cost: tokens, hours, GPU hours, money.",
        options=(*_LOCATIONS, options.entries, options.budget),
        examples=(f"estimate {_QUESTIONS} --max-cost 20",),
    ),
    "level": Command(
        group=Group.HAND_ON,
        line="lower the access level of data on record",
        function=commands.level,
        about="Lower the access level of a scenario's data on record: who, when, why; or list what "
        "was lowered.",
        options=(*_LOCATIONS, options.levels, board_options.form),
        examples=(
            'level lower --scenario own_notes --to public --reason "made up for teaching"',
            "level list",
            "level list --format csv --output-file lowered.csv",
        ),
    ),
    "import-scenario": Command(
        feature="medhelm_results",
        group=Group.RUN,
        line="take over a scenario with MedHELM's own prompts",
        function=medhelm.import_scenario,
        about="Take a scenario with MedHELM's own prompts and instances out of an installed "
        "medhelm package, or from a file that was exported elsewhere, into the lake.",
        options=(*_LOCATIONS, import_options.scenario),
        examples=(
            "import-scenario --from-medhelm pubmed_qa --medhelm-python ../medhelm/bin/python",
            "import-scenario --from-medhelm ehrshot --args subject=guo_los data_path=ehrshot "
            "--medhelm-python ../medhelm/bin/python",
            "import-scenario --file pubmed_qa.jsonl --access-level public",
        ),
    ),
    "import-responses": Command(
        group=Group.RUN,
        line="score answers that were made elsewhere",
        function=commands.import_responses,
        about="Take answers made elsewhere as a model's, score them, print the board.",
        options=(*_LOCATIONS, options.entries, import_options.responses, options.tracking),
        examples=(
            "import-responses -r pubmed_qa:model=hospital/pilot --suite first --file answers.jsonl",
        ),
    ),
    "import-helm": Command(
        feature="medhelm_results",
        group=Group.RUN,
        line="take over results that MedHELM or HELM wrote",
        function=medhelm.import_helm,
        about="Take results that MedHELM or HELM wrote into a suite: answers, verdicts, values and "
        "releases; no model is asked.",
        options=(*_LOCATIONS, import_options.helm_results, options.tracking),
        examples=(
            "import-helm benchmark_output --suite official -o lake",
            "import-helm medhelm_results --suite official --rescore -o lake",
        ),
    ),
    "export-helm": Command(
        feature="medhelm_results",
        group=Group.HAND_ON,
        line="write results that MedHELM's helm-summarize reads",
        function=medhelm.export_helm,
        about="Write a suite's runs as files that MedHELM's own helm-summarize reads.",
        options=(*_LOCATIONS, import_options.helm_export),
        examples=("export-helm for_helm --suite first -o lake",),
    ),
    "summarize": Command(
        group=Group.STAGES,
        line="summarise suites, print the board",
        function=commands.summarize,
        about="Score and summarise suites again where a metric or definition changed; print the "
        "board.",
        options=_SUMMARIES,
        examples=("summarize --suite first", "summarize --suites first second"),
    ),
    "publish": Command(
        feature="releases",
        group=Group.DECIDE,
        line="pin a release, or publish one that is approved",
        function=releases.publish,
        about="Short for release publish: make a release of one or more suites or replace a draft; "
        "without --suites, publish one that is approved.",
        options=_RELEASES,
        examples=(
            "publish --suites first second --release 2026-q1",
            "publish --release 2026-q1",
        ),
    ),
    "release": Command(
        feature="releases",
        group=Group.DECIDE,
        line="pin, review, approve, publish, withdraw and verify releases",
        function=releases.release,
        about="List, show and compare releases; take one from draft through review and approval to "
        "publication, or withdraw it; check it against the policy and against change.",
        options=(
            *_SUMMARIES,
            options.naming_release,
            releases.stepping,
            releases.noting,
            releases.approving,
            watch.watching,
            board_options.form,
        ),
        examples=(
            "release list",
            "release show 2026-q1",
            "release compare 2025-q4 2026-q1",
            "release publish 2026-q1 --suites first second",
            "release submit 2026-q1",
            "release gate 2026-q1",
            'release approve 2026-q1 --note "for the ward pilot"',
            "release publish 2026-q1",
            'release withdraw 2026-q1 --reason "wrong answer key in med_qa"',
            "release verify --release 2026-q1",
            "release share 2026-q1 --audience research --out for_research --helm",
            "release watch 2026-q1 --sample 300 --margin 0.03",
            "release looks 2026-q1",
        ),
    ),
    "ratings": Command(
        feature="ratings",
        group=Group.DECIDE,
        line="clinicians' ratings: invite, import; how judges agree with them",
        function=ratings.ratings,
        about="Store people's ratings of answers, invite raters to the dashboard, and show how "
        "raters agree among themselves and judges, juries and metrics with them.",
        options=(*_LOCATIONS, ratings.rating, board_options.form),
        examples=(
            "ratings import --suite first --scenario aci_bench --file ratings.xlsx "
            "--criteria accuracy completeness",
            "ratings invite --rater Byron --rater Sims --scenario aci_bench --items 30",
            "ratings invitations",
            "ratings agreement --suite first --scenario aci_bench",
        ),
    ),
    "judge": Command(
        feature="judge_checks",
        group=Group.DECIDE,
        line="whether a jury may be trusted, by stored verdicts and planted answers",
        function=judges.judge,
        about="Check whether a jury may be trusted to rank models, to score, and to screen single "
        "answers; compare its verdicts with physicians'; or list the cards of earlier checks.",
        options=(*_LOCATIONS, judges.judging, board_options.form),
        examples=(
            "judge check --suite first --scenario aci_bench",
            "judge check --suite first --scenario aci_bench --items 0 --for rank",
            "judge check --suite second --scenario aci_bench --against-suite first",
            "judge physicians --file meta_eval.jsonl --access-level public",
            "judge cards",
        ),
    ),
    "leaderboard": Command(
        group=Group.READ,
        line="print or write the board of a suite or release",
        function=commands.leaderboard,
        about="Print or write the board of a suite or release.",
        options=(*_LOCATIONS, board_options.which, board_options.board),
        examples=(
            "leaderboard --suite first",
            "leaderboard --suite first --show robustness",
            "leaderboard --suite first --metric specificity",
            "leaderboard --suite first --show metrics --prevalence 0.02",
            "leaderboard --suite first --metric all --format csv --output-file stats.csv",
            "leaderboard --release 2026-q1 --format csv --output-file board.csv",
        ),
    ),
    "compare": Command(
        group=Group.DECIDE,
        line="compare models on the same instances, benchmark by benchmark",
        function=candidate_gate.compare,
        about="Compare models on the same instances: a decision per scenario, with intervals, "
        "adjusted p-values, wins and losses, and what could be detected; regressions first.",
        options=(
            *_LOCATIONS,
            board_options.which,
            board_options.comparing,
            candidate_gate.gating,
        ),
        examples=(
            "compare --suite first",
            "compare --models vllm/new vllm/old --margin 0.02 --suite first",
            "compare --release 2026-q1 --format csv --output-file pairs.csv",
            "compare --against 2026-q1 --candidate vllm/new --suite first --gate gate.yaml",
            "compare --models vllm/new vllm/old --suite first --flips",
        ),
    ),
    "report": Command(
        group=Group.HAND_ON,
        line="write a board as one HTML file",
        function=commands.report,
        about="Write a board as one HTML file to take away: tiers, charts, comparisons, "
        "benchmarks; no clinical text, and nothing that a browser would fetch.",
        options=(*_LOCATIONS, board_options.which, board_options.reporting),
        examples=(
            "report --suite first",
            "report --release 2026-q1 --prevalence referral=0.02 --output-file board.html",
        ),
    ),
    "answers": Command(
        group=Group.READ,
        line="print prompts, answers and scores",
        function=answers,
        about="Print answers with the end of their prompt, references and score, and say which "
        "method would read those that count as wrong.",
        options=(*_LOCATIONS, board_options.which, board_options.answers),
        examples=(
            "answers --suite first --wrong",
            "answers --suite first --benchmark pubmed_qa --model "
            "huggingface/smollm2-135m-instruct --unread -n 5",
        ),
    ),
    "disclosures": Command(
        group=Group.HAND_ON,
        line="print what text was sent where",
        function=commands.disclosures,
        about="Print what text was sent where, and about how many patients, by level, destination, "
        "locality and day.",
        options=(*_LOCATIONS, board_options.disclosures, board_options.form),
        examples=(
            "disclosures -o lake",
            "disclosures --viewings --since 2026-01-01",
            "disclosures --release 2026-q1 --since 2026-01-01 --format csv --output-file sent.csv",
        ),
    ),
    "gc": Command(
        group=Group.LAKE,
        line="remove what the policy's retention no longer keeps",
        function=maintenance.gc,
        about="Remove what the policy's retention no longer keeps: verdicts, scores and stats that "
        "were made again since, ended leases, files of earlier versions; never an answer, and "
        "nothing that a release pins.",
        options=(*_LOCATIONS, maintenance.upkeep),
        examples=("gc --dry-run -o lake", "gc -o lake"),
    ),
    "optimize": Command(
        group=Group.LAKE,
        line="rewrite many small files into few",
        function=maintenance.optimize,
        about="Rewrite tables of many small files into few, so that they are read faster.",
        options=(*_LOCATIONS, maintenance.upkeep),
        examples=("optimize -o lake",),
    ),
    "serve": Command(
        group=Group.READ,
        line="open the dashboard",
        function=commands.serve,
        about="Open the dashboard.",
        options=(*_LOCATIONS, board_options.which, board_options.serving),
        examples=("serve --suite first -p 8501",),
    ),
    "doctor": Command(
        group=Group.BEGIN,
        line="check Java, Spark, Delta, engines, disks; print what to do",
        function=doctor,
        about="Say what is wrong, and what to do, with Java, Spark, Delta, GPUs, engines, the "
        "lake's location, clocks, disks and the tracking server; with --executors there too. Or "
        "make a folder with all that a machine without a network needs, and check one.",
        options=(*_LOCATIONS, examining, options.tracking),
        examples=(
            "doctor",
            "doctor --executors --engine vllm --paths /Volumes/main/models -o main.medhelm",
            "doctor --format json",
            "doctor bundle --out bundle --wheel dist/medhelm_spark-0.2.0-py3-none-any.whl "
            "--scenarios med_qa",
            "doctor --offline bundle",
            "doctor --egress --executors",
        ),
    ),
    "explain-config": Command(
        group=Group.LAKE,
        line="print each setting and where it comes from",
        function=commands.explain_config,
        about="Say each setting with its value, and which file or variable gave it and each named "
        "thing, over which other files.",
        options=(options.site,),
    ),
}
COMMANDS: Mapping[str, Command] = {
    name: command
    for name, command in _COMMANDS.items()
    if not command.feature or features.is_there(command.feature)
}
"""The commands of this installation."""
EXAMPLES = (f"run {_QUESTIONS} -m 10", "leaderboard --suite first --format md")


class _Page(argparse.RawDescriptionHelpFormatter):
    """A help page with `-m, --max-eval-instances N` on its left, the value named once."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=FLAG_COLUMNS)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Arguments with `command`, the function to call.

    Raises:
        SystemExit: 0 after help, which no command at all prints too; 2 where the line is wrong.
    """
    parser = build_parser()
    if not argv:
        parser.print_help()
        parser.exit()
    refuse_replaced(argv, parser.error)
    known = {*COMMANDS, *(alias for aliases in ALIASES.values() for alias in aliases)}
    if not argv[0].startswith("-") and argv[0] not in known:
        parser.exit(2, f"{PROG}: {unknown_command(argv[0], known)}\n")
    return parser.parse_args(argv)


def build_parser(*, lists_commands: bool = False) -> argparse.ArgumentParser:
    """The whole command line.

    Args:
        lists_commands: give argparse the line of each command too, by which a shell completes
            them; argparse would list them below the groups of the first page.
    """
    groups = grouped((command.group, name, command.line) for name, command in COMMANDS.items())
    more = f"{PROG} COMMAND --help prints a command's options."
    parser = argparse.ArgumentParser(
        prog=PROG,
        usage=f"{PROG} COMMAND [OPTIONS]",
        description=f"{ABOUT}\n\n{groups}",
        epilog=f"{_epilog(EXAMPLES)}\n\n{MEANINGS}\n\n{more}",
        formatter_class=_Page,
    )
    parser.add_argument(
        "--version", action="version", version=VERSION, help="print the version and exit"
    )
    parser.add_argument(
        "--print-completion",
        choices=SHELLS,
        metavar="SHELL",
        action=print_completion(partial(build_parser, lists_commands=True)),
        help=f"print the script by which {', '.join(SHELLS[:-1])} or {SHELLS[-1]} completes "
        "command lines, and exit",
    )
    commands_parser = parser.add_subparsers(
        required=True,
        metavar="COMMAND",
        prog=PROG,
        help="a command" if lists_commands else argparse.SUPPRESS,
    )
    for name, command in COMMANDS.items():
        listed: dict[str, Any] = {"help": command.line} if lists_commands else {}
        command_parser = commands_parser.add_parser(
            name,
            description=command.about,
            epilog=_epilog(command.examples),
            aliases=ALIASES.get(name, ()),
            formatter_class=_Page,
            **listed,
        )
        command_parser.set_defaults(command=command.function, name=name)
        for add_options in command.options:
            add_options(command_parser)
    return parser


def _epilog(examples: Sequence[str]) -> str | None:
    lines = [f"  {PROG} {example}" for example in examples]
    return "\n".join(["examples:" if len(lines) > 1 else "example:", *lines]) if lines else None
