"""Which answers of a look are other ones than the release's; no text leaves the function."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from medhelm_spark.domain.request import Completion, Purpose
from medhelm_spark.domain.stages import PLAN
from medhelm_spark.domain.thinking import without_thinking
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.stages.states import requests_of
from medhelm_spark.watch.ask import AskedLook

_ASKED = """
SELECT l.run_spec_id, q.instance_id, p.request_id AS before, q.request_id AS now
FROM {looked} q
JOIN {links} l ON l.looked = q.run_spec_id
JOIN {planned} p ON p.run_spec_id = l.run_spec_id AND p.instance_id = q.instance_id
 AND p.perturbation = q.perturbation AND p.train_trial_index = q.train_trial_index
 AND p.trial_index = q.trial_index
"""

_REQUESTS = """
SELECT before AS request_id FROM {asked} UNION ALL SELECT now AS request_id FROM {asked}
"""

_PAIRS = """
SELECT q.run_spec_id, q.instance_id, b.completions AS before, r.completions AS now
FROM {asked} q
LEFT JOIN {results} b ON b.request_id = q.before
LEFT JOIN {results} r ON r.request_id = q.now
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedRun:
    """A run of a release and the run of a look that asks the same."""

    run_spec_id: str
    looked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPair:
    """What a model answered for the release and in a look; None without an answer."""

    run_spec_id: str
    instance_id: str
    before: tuple[Completion, ...] | None
    now: tuple[Completion, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedAnswer:
    """Whether an answer is another one."""

    run_spec_id: str
    instance_id: str
    is_changed: bool


def changed(pairs: Iterable[AnswerPair]) -> Iterator[ChangedAnswer]:
    """Which answers are other texts, thinking and outer blanks left out.

    An answer on one side alone is another one; none on both sides is no answer.
    """
    for pair in pairs:
        if pair.before or pair.now:
            yield ChangedAnswer(
                run_spec_id=pair.run_spec_id,
                instance_id=pair.instance_id,
                is_changed=_texts(pair.before) != _texts(pair.now),
            )


def _texts(completions: tuple[Completion, ...] | None) -> list[str]:
    return [without_thinking(each).text.strip() for each in completions or ()]


def changed_shares(
    asked: AskedLook, deployments: Iterable[str]
) -> Mapping[str, Mapping[str, float]]:
    """By run of the release and instance, the share of its trials with another answer."""
    ctx, row = asked.ctx, asked.row
    links = [
        LookedRun(run_spec_id=unit, looked=looked)
        for unit, looked in zip(row.run_spec_ids, row.looked, strict=True)
    ]
    both = ctx.lake.query(
        _ASKED,
        looked=requests_of(ctx, row.looked, PLAN, Purpose.EVALUATE),
        planned=requests_of(ctx, row.run_spec_ids, PLAN, Purpose.EVALUATE),
        links=ctx.lake.frame(links, LookedRun),
    )
    results = ctx.results(deployments, ctx.lake.query(_REQUESTS, asked=both))
    pairs = ctx.lake.query(_PAIRS, asked=both, results=results)
    trials: dict[str, dict[str, list[bool]]] = {}
    for found in rows_of(map_rows(pairs, changed, AnswerPair, ChangedAnswer), ChangedAnswer):
        of_run = trials.setdefault(found.run_spec_id, {})
        of_run.setdefault(found.instance_id, []).append(found.is_changed)
    return {
        unit: {instance: sum(changes) / len(changes) for instance, changes in by_instance.items()}
        for unit, by_instance in trials.items()
    }
