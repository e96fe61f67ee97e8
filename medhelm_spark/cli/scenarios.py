"""`scenarios`: what can be evaluated, whether its data is at hand; `scenarios check`, `fetch`."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from medhelm_spark.cache import cache_folder
from medhelm_spark.cli.commands import evaluation
from medhelm_spark.cli.exit_codes import LEFT_OUT
from medhelm_spark.config.cards import UNSUPPORTED_SCENARIOS
from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.medhelm.imported import card_of, export_of
from medhelm_spark.metrics import stats_of
from medhelm_spark.render.table import aligned
from medhelm_spark.scenarios import READERS, by_hand, check_card, presence
from medhelm_spark.workspace.workspace import Workspace, say

HEADER = ("NAME", "ACCESS", "VERIFIED", "DATA", "SIZE", "MAIN METRIC", "CATEGORY", "SOURCE")
PURGED_HEADER = (
    *("SCENARIO", "AGREEMENT", "PURGED BY", "BEGUN (UTC)", "FINISHED"),
    *("REMOVED", "NOT REACHED"),
)
UNFINISHED = "no: repeat it"
CHECK, FETCH, PURGE, PURGED = "check", "fetch", "purge", "purged"
HUB = "https://huggingface.co/datasets/"
FIRST_FETCH = " (pinned in the lake at its first fetch)"
IMPORTED = "imported"
"""In the column DATA: it is in the lake already."""


def scenarios(args: Namespace) -> int:
    """`scenarios` lists every card, and what was imported; `check` reads every card.

    `fetch` gets data; it ends with LEFT_OUT where some cannot be had. `purge` removes the text of
    one from the lake, and `purged` lists what was.
    """
    if args.action == PURGE:
        return _purge(args)
    if args.agreement or args.yes or args.dry_run:
        raise ConfigError("--agreement, --yes and --dry-run are for scenarios purge.")
    if args.action != FETCH and (args.names or args.all_public):
        names = " ".join([*args.names, *(["--all-public"] if args.all_public else [])])
        raise ConfigError(f"scenarios {args.action}: {names!r} is for scenarios fetch.")
    if args.action == FETCH:
        fetched = evaluation(args).fetch_data(args.names, all_public=args.all_public)
        return LEFT_OUT if fetched.absent else 0
    if args.action == PURGED:
        return _purged(args)
    workspace = Workspace(args.output_path, args.local_path)
    if args.action == CHECK:
        return _check(workspace.registry)
    return _list(workspace.registry, workspace.imported())


def _purge(args: Namespace) -> int:
    """Remove the text of one scenario, if it is confirmed."""
    if len(args.names) != 1 or args.all_public:
        raise ConfigError(f"scenarios purge: name one scenario; received {len(args.names)}.")
    if not (args.agreement or "").strip():
        raise ConfigError("scenarios purge: --agreement missing or empty.")
    if args.yes == args.dry_run:
        raise ConfigError(
            "scenarios purge removes text for good: --dry-run prints what it would remove, --yes "
            "removes it; give one of them."
        )
    here = evaluation(args).lake
    done = here.purge(args.names[0], agreement=args.agreement, dry_run=args.dry_run)
    if not args.dry_run:
        sys.stdout.write(f"scenario {done.scenario_name}: {done.note[1:-1]}\n")
    return 0


def _purged(args: Namespace) -> int:
    """List the purges on record."""
    rows = [PURGED_HEADER]
    for each in evaluation(args).lake.purges():
        removed = sum((each.removed or {}).values())
        state = f"{each.finished_at:%Y-%m-%d %H:%M}" if each.finished_at else UNFINISHED
        unreached = "; ".join(each.unreached or ())
        purge = (each.scenario_name, each.agreement, each.purged_by)
        rows.append((*purge, f"{each.begun_at:%Y-%m-%d %H:%M}", state, f"{removed:,}", unreached))
    for line in aligned(list(zip(*rows, strict=True)), 0):
        sys.stdout.write(f"{line}\n")
    return 0


def _list(registry: Registry, imported: Iterable[ImportedScenario]) -> int:
    cache = cache_folder() / "data"
    rows_by_name = {
        name: _row(name, card, presence(card, cache)) for name, card in registry.cards.items()
    }
    rows_by_name |= {scenario.scenario_name: _imported_row(scenario) for scenario in imported}
    rows = [HEADER, *(rows_by_name[name] for name in sorted(rows_by_name))]
    for line in aligned(list(zip(*rows, strict=True)), 0):
        sys.stdout.write(f"{line}\n")
    for scenario in UNSUPPORTED_SCENARIOS:
        sys.stdout.write(f"{scenario.name}  not run: {scenario.reason}\n")
    return 0


def _row(name: str, card: ScenarioCard, data: str) -> tuple[str, ...]:
    size = "" if card.size is None else str(card.size)
    facts = (card.access_level, card.verified, data, size)
    return (name, *facts, card.main_metric, card.category, _source(card))


def _imported_row(imported: ImportedScenario) -> tuple[str, ...]:
    """By the name and arguments that a run entry needs; its size is what was imported."""
    card = card_of(imported)
    size = export_of(imported).splits.get(card.main_split)
    return _row(imported.scenario_name, replace(card, size=size), IMPORTED)


def _source(card: ScenarioCard) -> str:
    """Where the data is fetched, else who has it; and where a person puts it by hand."""
    source = card.source
    urls = list(dict.fromkeys(file.url for file in source.files if file.url))
    more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
    path = by_hand(source)
    manual = f"; by hand: put it at {path}" if path else ""
    address = source.dataset and HUB + source.dataset.partition(":")[0]
    fetched = f"{urls[0]}{more}" if urls else address
    pinned = FIRST_FETCH if source.is_unpinned else ""
    if source.table:
        return source.table
    return f"{fetched or source.origin or 'no address'}{pinned}{manual}"


def _check(registry: Registry) -> int:
    problems = [
        f"scenario {card.name!r}: {problem}"
        for card in registry.cards.values()
        for problem in problems_of(card, registry)
    ]
    for problem in problems:
        sys.stdout.write(f"{problem}\n")
    say(f"{counted(len(registry.cards), 'card')} checked, {counted(len(problems), 'problem')}")
    return 1 if problems else 0


def problems_of(card: ScenarioCard, registry: Registry) -> Iterator[str]:
    """What a card names that does not exist: parser, roles, reader, metrics, rubrics, juries."""
    yield from _refused(lambda: check_card(card))
    history = [card.source.history.format] if card.source.history else []
    for name in (card.source.format, *history):
        if name not in READERS:
            yield str(UnknownNameError("source format", name, READERS))
    yield from _refused(lambda: _check_metrics(card))
    for spec in card.annotators:
        if spec.rubric not in registry.rubrics:
            yield str(UnknownNameError("rubric", spec.rubric, registry.rubrics))
        if spec.jury not in registry.juries:
            yield str(UnknownNameError("jury", spec.jury, registry.juries))
    known = [spec.name for spec in card.annotators]
    for name in (spec.args["annotator"] for spec in card.metrics if "annotator" in spec.args):
        if name not in known:
            yield str(UnknownNameError("annotator", name, known))


def _refused(check: Callable[[], None]) -> Iterator[str]:
    try:
        check()
    except ConfigError as error:
        yield str(error)


def _check_metrics(card: ScenarioCard) -> None:
    names = [stat.name for stat in stats_of(card.metrics)]
    if card.main_metric not in names:
        raise UnknownNameError("main metric", card.main_metric, names)
