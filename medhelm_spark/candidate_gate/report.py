"""The section of a report on flips: their counts, and of public text the instances side by side."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from medhelm_spark.board import (
    InstanceDetail,
    InstanceKey,
    Viewer,
    chosen_option,
    visible_details,
)
from medhelm_spark.board.render.report_file import Reported, Section, Sentences
from medhelm_spark.candidate_gate.flips import WORSE, FlippedInstance, flips_of
from medhelm_spark.candidate_gate.render_flips import pair_counts_table
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.render.table import TextTable
from medhelm_spark.statistics.pairs import BoardPair

HEADING = "Flips"
WHAT = (
    "Instances on which one of two models is better. The command compare with --models FIRST "
    "SECOND --flips prints all counts and the id of each instance."
)
OF_TEXT = (
    "The tables show some instances of public benchmarks, those with the largest differences "
    "first; each answer follows its score, and a long text is cut."
)
MOST_OF_A_PAIR = 3
"""Instances of two models on a benchmark, in each direction."""
MOST_SHOWN = 24
"""Instances of all pairs together: each run's answers are read one run after the other."""
MOST_CHARACTERS = 400
"""Characters of a text; the page *Instances* has the whole text."""

_Details = Mapping[tuple[str, str], InstanceDetail]
"""What was asked and answered, by run and instance."""


def sections(report: Reported) -> Iterator[Section]:
    """The counts by benchmark, pair and group, then public instances; nothing without a flip."""
    flips = flips_of(
        report.reader,
        report.runs,
        report.pairs,
        minimum=report.smallest_group,
        most_instances=MOST_OF_A_PAIR,
    )
    if not flips.instances:
        return
    tables = list(_side_by_side(report, flips.instances)) if report.has_public_text else []
    sentences = [WHAT, OF_TEXT] if tables else [WHAT]
    yield Section(
        heading=HEADING,
        parts=[Sentences(lines=sentences), pair_counts_table(flips.counts), *tables],
    )


def _side_by_side(report: Reported, flips: Sequence[FlippedInstance]) -> Iterator[TextTable]:
    """A table for each pair on a public benchmark."""
    specs = {run.run_spec.run_spec_id: run.run_spec for run in report.runs}
    pairs = {
        (pair.display_name, pair.first, pair.second): pair
        for pair in report.pairs
        if all(_is_shown(specs[unit]) for unit in pair.run_spec_ids)
    }
    by_pair: dict[tuple[str, str, str], list[FlippedInstance]] = {}
    for flip in flips:
        key = (flip.display_name, flip.first, flip.second)
        if key in pairs:
            by_pair.setdefault(key, []).append(flip)
    chosen = _chosen(by_pair)
    details = _details(report, specs, pairs, chosen)
    for key, some in chosen.items():
        pair, seen = pairs[key], [flip for flip in some if _both(pairs[key], flip, details)]
        if seen:
            yield TextTable(
                title=f"{pair.display_name}: {pair.first} and {pair.second}",
                header=("Instance", "Question", "Right answer", pair.first, pair.second),
                rows=[_row(flip, pair, specs, details) for flip in seen],
            )


def _is_shown(spec: RunSpec) -> bool:
    """Whether a run's answers are public, and one of each instance."""
    is_public = spec.access_level is AccessLevel.PUBLIC
    return is_public and spec.adapter_spec.requests_per_instance == 1


def _chosen(
    by_pair: Mapping[tuple[str, str, str], Sequence[FlippedInstance]],
) -> dict[tuple[str, str, str], list[FlippedInstance]]:
    """MOST_SHOWN of the flips by pair: the first of every pair before the second of any."""
    turns = [[(key, flip) for flip in _by_turns(some)] for key, some in by_pair.items()]
    in_order = [each for turn in zip_longest(*turns) for each in turn if each]
    chosen: dict[tuple[str, str, str], list[FlippedInstance]] = {key: [] for key in by_pair}
    for key, flip in in_order[:MOST_SHOWN]:
        chosen[key].append(flip)
    return chosen


def _by_turns(flips: Sequence[FlippedInstance]) -> list[FlippedInstance]:
    """An instance on which the first model is worse, then one on which it is better."""
    worse = [flip for flip in flips if flip.change == WORSE]
    better = [flip for flip in flips if flip.change != WORSE]
    return [flip for flip in chain.from_iterable(zip_longest(worse, better)) if flip]


def _details(
    report: Reported,
    specs: Mapping[str, RunSpec],
    pairs: Mapping[tuple[str, str, str], BoardPair],
    chosen: Mapping[tuple[str, str, str], Sequence[FlippedInstance]],
) -> _Details:
    ids_by_run: dict[str, set[str]] = {}
    for key, flips in chosen.items():
        for unit in pairs[key].run_spec_ids:
            ids_by_run.setdefault(unit, set()).update(flip.instance_id for flip in flips)
    return {
        (unit, key.instance_id): detail
        for unit, ids in ids_by_run.items()
        if ids
        for key, detail in visible_details(
            report.reader,
            specs[unit],
            [InstanceKey(instance_id=each) for each in sorted(ids)],
            viewer=Viewer.ANYONE,
        ).items()
    }


def _both(pair: BoardPair, flip: FlippedInstance, details: _Details) -> bool:
    return all((unit, flip.instance_id) in details for unit in pair.run_spec_ids)


def _row(
    flip: FlippedInstance, pair: BoardPair, specs: Mapping[str, RunSpec], details: _Details
) -> tuple[str, ...]:
    first, second = (details[unit, flip.instance_id] for unit in pair.run_spec_ids)
    instance = first.instance
    right = [each.text for each in instance.references if each.is_correct] if instance else []
    values = (flip.first_value, flip.second_value)
    answers = (
        f"{value:g}: {_cut(_answer(specs[unit], detail))}"
        for unit, detail, value in zip(pair.run_spec_ids, (first, second), values, strict=True)
    )
    question = _cut(instance.input) if instance else ""
    return (flip.instance_id, question, _cut(" / ".join(right)), *answers)


def _answer(spec: RunSpec, detail: InstanceDetail) -> str:
    """The answer without thinking; with the option that it names, where it names one."""
    text = detail.answer
    if text is None:
        return "no answer"
    option = chosen_option(spec, detail)
    return text if option is None or option in text else f"{text} ({option})"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"
