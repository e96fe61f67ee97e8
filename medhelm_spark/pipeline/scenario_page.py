"""docs/scenarios.md, written from the cards.

`python -m medhelm_spark.pipeline.scenario_page > docs/scenarios.md`, which is part of `make docs`.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from medhelm_spark.config.cards import UNSUPPORTED_SCENARIOS
from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.scenario import ScenarioCard, Verified
from medhelm_spark.medhelm.site import load_site

MEANS: Mapping[Verified, str] = {
    Verified.REAL: "tests read the real files: their counts, first and last rows, labels",
    Verified.SAME_FORM: "the real files could not be had; tests read small ones of their form, "
    "made by us",
    Verified.NEVER: "nothing was read: form and columns are known from descriptions alone",
}
HEAD = """\
# Scenarios

Written from the cards in [conf/scenarios](../conf/scenarios) by `make docs`. A card contains all
facts about a scenario; `medhelm-spark scenarios` lists them and says whether their data is at
hand, with those that were [imported](importing.md) into the lake; `medhelm-spark scenarios check`
reads each for parser, metrics and rubrics that exist, and `medhelm-spark scenarios fetch` gets data
before a run.
[Adding a scenario](adding-a-scenario.md) explains the parts of a card.

Names, taxonomy and settings are MedHELM's; instructions and rubrics are our own words, so that
numbers can differ from MedHELM's. The names of the tasks below the subcategories are not public:
`task` is yours to fill in.
"""
COLUMNS = ("Scenario", "Subcategory", "Access", "Verified", "Size", "Main metric", "Arguments")


def page(registry: Registry) -> str:
    """The page as Markdown."""
    return "\n".join([HEAD, *_counts(registry), *_categories(registry), *_not_run()])


def _counts(registry: Registry) -> Iterator[str]:
    numbers = Counter(card.verified for card in registry.cards.values())
    yield f"## What was verified\n\nOf {len(registry.cards)} cards:\n"
    yield from _table(
        ("`verified`", "Cards", "Meaning"),
        [(f"`{each}`", str(numbers[each]), MEANS[each]) for each in Verified],
    )
    yield ""


def _categories(registry: Registry) -> Iterator[str]:
    order = {
        name: index
        for index, name in enumerate(
            name for category in registry.taxonomy.categories for name in category.subcategories
        )
    }
    for category in registry.taxonomy.categories:
        cards = [c for c in registry.cards.values() if c.category == category.display_name]
        cards.sort(key=lambda card: (order.get(card.subcategory, len(order)), card.name))
        yield f"## {category.display_name}\n"
        yield from _table(COLUMNS, [_row(card) for card in cards])
        yield ""
        yield from (_sentence(card) for card in cards)
        yield ""


def _row(card: ScenarioCard) -> tuple[str, ...]:
    args = ", ".join(f"`{arg}`" for arg in card.args)
    size = "" if card.size is None else f"{card.size:,}"
    facts = (card.subcategory or "none stated", card.access_level, card.verified, size)
    return (f"`{card.name}`", *facts, f"`{card.main_metric}`", args)


def _sentence(card: ScenarioCard) -> str:
    judged = ", ".join(f"`{spec.rubric}`" for spec in card.annotators)
    jury = f" A jury grades it by the rubric {judged}." if judged else ""
    facts = f"when: {card.when}; language: {card.language}; licence: {card.licence}"
    return (
        f"- **{card.display_name}** (`{card.name}`). {card.description} For: {card.who}; {facts}. "
        f"Data: {_data(card)}.{jury}"
    )


def _data(card: ScenarioCard) -> str:
    source = card.source
    events = source.history.files if source.history else ()
    paths = [*(file.member or file.path for file in source.files), *events]
    files = [f"`{PurePosixPath(path).name}`" for path in paths]
    named = f"`{source.dataset}`" if source.dataset else ", ".join(files)
    urls = dict.fromkeys(file.url for file in source.files if file.url)
    fetched = f", fetched from {', '.join(f'<{url}>' for url in urls)}" if urls else ""
    come_from = f", from {source.origin}" if source.origin else ""
    revision = f", revision `{source.revision}`" if source.revision else ""
    pinned = ", pinned in the lake at its first fetch" if source.is_unpinned else ""
    return f"{named}{come_from}{revision}{fetched}{pinned}"


def _not_run() -> Iterator[str]:
    yield "## Described and not run\n"
    for benchmark in UNSUPPORTED_SCENARIOS:
        taxonomy = f"{benchmark.category}, {benchmark.subcategory}"
        access = f"{benchmark.access_level}, {benchmark.size} of its own tasks"
        yield (
            f"- **{benchmark.display_name}** (`{benchmark.name}`; {taxonomy}; {access}). "
            f"{benchmark.description} For: {benchmark.who}; when: {benchmark.when}. "
            f"Not run: {benchmark.reason}."
        )
    yield ""


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    sys.stdout.write(page(load_site()))
