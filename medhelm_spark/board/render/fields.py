"""What the fields of a board's and a comparison's records mean; `docs/exports.md` is their page.

`python -m medhelm_spark.board.render.fields > docs/exports.md`, which is part of `make docs`.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import get_args, get_type_hints

from medhelm_spark.board.render import comparison
from medhelm_spark.board.render.board import CELL_FIELDS, MODEL_FIELDS
from medhelm_spark.board.render.metric_records import FIELDS as METRIC_FIELDS
from medhelm_spark.board.render.risk import RULES
from medhelm_spark.board.render.stats import FIELDS as STAT_FIELDS
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.jury_evidence import JuryEvidence
from medhelm_spark.domain.stats import ComputedOn, IntervalMethod, Mean
from medhelm_spark.lake.describe import field_docs
from medhelm_spark.statistics.paired import PairedTest
from medhelm_spark.statistics.pairs import Adjustment, PairDecision


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field's Python type, and its meaning with the unit where it has one."""

    kind: type
    meaning: str


KINDS: Mapping[type, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    list: "list",
    dict: "map of text to text",
}
"""Each type in words."""


def _one_of(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _with_ends(name: str, meaning: str) -> Iterator[tuple[str, str]]:
    """A number at a prevalence, and the ends of its interval."""
    yield name, f"{meaning}, at the prevalence"
    yield f"{name}_low", "lower end of its 95 % interval, which takes the prevalence as known"
    yield f"{name}_high", "upper end of that interval"


_MEANINGS: Mapping[type, Mapping[str, str]] = {
    str: {
        "currency": "of money_per_1000, as the price states it; none without a price",
        "imported": "what is known of how answers made elsewhere were asked for; empty for answers "
        "that were asked for here",
        "record": "`cell` or `pair`: the kind of the record, in CSV and Parquet",
        "model": "the model's name",
        "model_deployment": "the deployment that answered",
        "locality": "where the deployment runs",
        "scenario_name": "the benchmark's name",
        "display_name": "the benchmark's title",
        "category": "the benchmark's category in the taxonomy; empty where it has none",
        "subcategory": "the benchmark's subcategory; empty where it has none",
        "access_level": f"who may read the benchmark's text: {_one_of(AccessLevel)}",
        "main_metric": "the metric that the mean is of",
        "split": "the split of the instances",
        "ci_method": f"how the interval was computed, of a pair one of {_one_of(IntervalMethod)}",
        "traded_metric": "the stat that a model can give up for the metric, as specificity for "
        "sensitivity; empty where there is none",
        "cluster_column": "the column by which answers belong together; none where they do not",
        "variant": "what differs in a further run of a model; empty for the first",
        "differs": "why the mean is not compared with the others of its benchmark; empty where "
        "it is",
        "jury_evidence": "what is known of the agreement of its judges with clinicians: "
        f"{_one_of(each for each in JuryEvidence if each)}; empty where no judge scored it",
        "first": "the first model of the pair",
        "second": "the second model of the pair",
        "test": f"the test behind `p_value`: {_one_of(PairedTest)}",
        "adjustment": f"how `adjusted_p` was adjusted: {_one_of(Adjustment)}",
        "decision": f"what the first model is: {_one_of(PairDecision)}",
        "worst_group": "the group of patients that is shown to be worse than all others, by "
        "the largest difference; empty where there is none",
        "run_name": "the run's name",
        "run_spec_id": "the run's id",
        "part": "the part of the benchmark; empty for the whole",
        "metric": "the stat that the mean is of",
        "perturbation": "what was changed: a perturbation, a prompt or a collection of them; empty "
        "for instances as they are",
        "computed_on": f"what a changed stat is of: {_one_of(ComputedOn)}; empty for instances as "
        "they are",
        "made_at": "when the stats were made, as ISO 8601 writes it",
        "positive": "the labels that count as positive, parted by |; empty where none are declared",
        "rule": "in place of a model, the same answer to every case: "
        f"{_one_of(RULES.values())}; none for a model",
    },
    int: {
        "rank": "position by mean win rate, 1 is the best; none for a model that is not ranked",
        "tier": "1: no model is shown to be better over the primary endpoints, without any over "
        "the benchmarks of the ranking; of a lower tier: shown to be worse than one of the tier "
        "above",
        "rank_low": "the best rank by the mean behind the tier that is possible, with 95 % "
        "confidence for all models together",
        "rank_high": "the worst rank that is possible, with the same confidence",
        "num_model_failures": "of the answers without a score, those that count against the model",
        "num_unscorable": "of the answers without a score, those without a reference or to which "
        "the metric does not apply",
        "num_runs": "runs behind the mean",
        "num_rated": "answers that people rated, behind the corrected mean; of a pair instances "
        "on which people rated both answers",
        "n": "instances on which both models have a value",
        "num_dropped": "instances that lack one of the two values",
        "num_adjusted": "how many pairs `adjusted_p` was adjusted for, this one included",
        "num_higher": "instances on which the first model has the higher value",
        "num_equal": "instances on which both have the same value",
        "num_lower": "instances on which the first model has the lower value",
        "wins": "instances on which the first model is better; none where the metric has no "
        "direction",
        "losses": "instances on which the second model is better",
        "true_positives": "positive cases that were answered as positive",
        "false_negatives": "positive cases that were answered as negative",
        "positives_without_answer": "positive cases whose answer is none of the labels",
        "false_positives": "negative cases that were answered as positive",
        "true_negatives": "negative cases that were answered as negative",
        "negatives_without_answer": "negative cases whose answer is none of the labels",
        "answers": "answers in the lake, whose tokens and seconds are counted",
    },
    float: {
        "mean_win_rate": "share from 0 to 1: the chance to have the better mean than another model",
        "mean_win_rate@medhelm-0.8": "share from 0 to 1: MedHELM's own number, over all "
        "benchmarks and models",
        "worst_group_mean": "the mean over that group",
        "traded_mean": "the mean of that stat; none where the run has none",
        "corrected_mean": "a jury's mean corrected by the ratings of people; none without enough",
        "corrected_low": "lower end of the 95 % interval of the corrected mean, of a pair of "
        "`corrected_difference`",
        "corrected_high": "upper end of that interval",
        "corrected_difference": "the jury's mean difference, first minus second, corrected by the "
        "ratings of people; none without enough",
        "jury_sensitivity": "share from 0 to 1: of the answers that people put in the higher of "
        "two classes, those that the jury does; none where ratings are no two classes",
        "jury_specificity": "the same of the lower class",
        "ci_low": "lower end of the 95 % interval of the mean, of a pair of the mean difference; "
        "in the metric's unit",
        "ci_high": "upper end of that interval",
        "minimum": "lowest value of the metric's scale; none where it is open",
        "maximum": "highest value of the metric's scale; none where it is open",
        "jury_coverage": "share from 0 to 1 of the judges' verdicts that could be used",
        "unreadable": "share from 0 to 1 of the answers in which no single answer could be read",
        "margin": "difference that the suite file declared too small to matter, in the metric's "
        "unit",
        "coverage": "share from 0 to 1 of the answers that can have a score and do",
        "bound_low": "the mean if all failed answers had the lowest value of the scale",
        "bound_high": "the mean if all failed answers had the highest value of the scale",
        "mean_with_model_failures": "the mean with the model's own failures as the worst value of "
        "the scale; none without such failures",
        "mean_difference": "first model minus second, in the metric's unit",
        "p_value": "two-sided p-value from 0 to 1, before adjustment",
        "adjusted_p": "p-value from 0 to 1, adjusted for all pairs that were asked about at once",
        "effect_size": "mean difference divided by the standard deviation of the differences",
        "detectable": "difference that the test finds with a power of 80 %, in the metric's unit",
        "stddev": "standard deviation of the instances' values; none of a stat of the whole run",
        "least": "the lowest value of an instance; none of a stat of the whole run",
        "most": "the highest value of an instance; none of a stat of the whole run",
        "prevalence": "share from 0 to 1 of the cases that is positive, at which the numbers are; "
        "none without a positive class",
        **dict(_with_ends("ppv", "share from 0 to 1 of the positive answers that is right")),
        **dict(_with_ends("npv", "share from 0 to 1 of the negative answers that is right")),
        **dict(_with_ends("missed_per_1000", "positive cases not answered as positive, of 1,000")),
        **dict(
            _with_ends("false_alarms_per_1000", "negative cases answered as positive, of 1,000")
        ),
        **dict(_with_ends("without_answer_per_1000", "cases without an answer, of 1,000")),
        **dict(_with_ends("cost_per_1000", "declared cost of the answers to 1,000 cases")),
        "prompt_tokens": "mean tokens of a prompt",
        "completion_tokens": "mean tokens of an answer",
        "seconds": "mean seconds from request to answer",
        "median_seconds": "half of the answers took at most so many seconds",
        "slow_seconds": "95 % of the answers took at most so many seconds",
        "money_per_1000": "what 1,000 answers cost by the prices of the deployment, in their "
        "currency; none where it has none",
    },
    bool: {
        "lower_is_better": "the metric's direction; none where it has none",
        "is_primary": "the suite file declared the question beforehand",
        "is_listed": "the suite file names the benchmark",
        "is_disjoint": "no case is in two parts of the benchmark",
        "is_current": "false where the run was scored again since",
        "is_asked_otherwise": "a further run of the model, with another prompt or decoding alone; "
        "it is compared with the model's first run",
        "is_below_floor": "too few answers have a score for the mean to count in a rank",
        "is_not_inferior": "the first model is worse by less than the margin; none without one",
        "is_equivalent": "the whole interval lies within the margin; none without one",
        "is_main": "the stat is the main metric of its benchmark, on the main split",
        "prevalence_is_stated": "false where the prevalence is the data's",
    },
    list: {
        "parts": "the parts of the benchmark that the mean is over",
        "run_spec_ids": "the runs of the first and the second model",
        "lacks": "the benchmarks of the ranking without a mean that counts, with the reason",
    },
    dict: {
        "comparability": "what has to be equal in two means for them to be compared; none where "
        "that is not known",
    },
}


def _of_means() -> Iterator[tuple[str, Field]]:
    """The fields of every mean, as the lines under them say."""
    hints = get_type_hints(Mean)
    for name, doc in field_docs(Mean).items():
        (kind,) = {*(get_args(hints[name]) or (hints[name],))} - {NoneType}
        yield name, Field(kind=kind, meaning=doc[0].lower() + doc[1:].removesuffix("."))


FIELDS: Mapping[str, Field] = dict(_of_means()) | {
    name: Field(kind=kind, meaning=meaning)
    for kind, meanings in _MEANINGS.items()
    for name, meaning in meanings.items()
}
"""Every field by name; a name means the same in all records."""
FIELD_KINDS: Mapping[str, type] = {name: field.kind for name, field in FIELDS.items()}

_HEAD = """\
# Exports

Written by `make docs` from `medhelm_spark/board/render/fields.py`; do not edit.

*Download* on the dashboard's leaderboard and `medhelm-spark leaderboard --format csv`, `json` or
`md` give what the board shows. In CSV, JSON and Parquet numbers have full precision: they are the
numbers of the table `stats`, and those that MLflow has. Markdown rounds for reading and says so;
the HTML report ends with all its numbers unrounded. In CSV and Parquet a record is
a line, `record` says whether it is a cell or a pair, lists and maps are JSON text, and a field
that a record does not have is empty. JSON has the same under `models`, `cells`, `pairs` and
`notes`.

Two texts say what must not be missed, where they apply: `banner` (the release is withdrawn) and
`filters` (what was left out before ranks and win rates were computed). They are the first fields
of CSV, the first keys of JSON, the metadata of a Parquet file, and lines above the table in
Markdown. *None* is an empty cell in CSV, `null` in JSON and Parquet."""


def page() -> str:
    """The page as Markdown, the same for the same code."""
    parts = [_HEAD, *_section("Cells of a board", "A mean of a model on a benchmark.", _CELL)]
    parts += _section("Pairs", "Two models on a benchmark, in boards and comparisons.", _PAIR)
    parts += _section("Models", "In JSON alone: a row of the board.", MODEL_FIELDS)
    parts += _section("Stats", "`leaderboard --metric all`: a stat of a run.", STAT_FIELDS)
    parts += _section("Metrics", _OF_METRICS, METRIC_FIELDS)
    return "\n\n".join(parts) + "\n"


_OF_METRICS = (
    "`leaderboard --show metrics`, and *Download* on the page Metrics: a run of a benchmark, or a "
    "rule that gives every case the same answer. JSON has calibration curves beside them."
)
_CELL = ("record", *CELL_FIELDS)
_PAIR = ("record", *comparison.FIELDS)


def _section(title: str, about: str, names: Iterable[str]) -> Iterator[str]:
    lines = [
        f"| `{name}` | {KINDS[FIELDS[name].kind]} | {FIELDS[name].meaning} |" for name in names
    ]
    yield f"## {title}"
    yield about
    yield "\n".join(["| Field | Type | Unit or meaning |", "| --- | --- | --- |", *lines])


if __name__ == "__main__":
    sys.stdout.write(page())
