"""What is read beside a board: two models on the same instances, the answers behind a number."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from medhelm_spark.board import (
    AnswerFilter,
    BoardRun,
    InstanceKey,
    Order,
    board_of,
    has_few_models,
    instances_of,
    paired,
    with_all,
)
from medhelm_spark.board.class_answers import has_positive
from medhelm_spark.board.practical import practical_differences
from medhelm_spark.board.render.risk import check_stated
from medhelm_spark.board.results import Comparison, Instances
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.stated_prevalence import Stated
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.statistics.pairs import adjusted_as, regressions_first
from medhelm_spark.workspace.names import check_known


def compared(
    reader: Reader,
    runs: Sequence[BoardRun],
    models: Sequence[str],
    *,
    coverage_floor: float,
    scenarios: Sequence[str] = (),
    margin: float | None = None,
    prevalence: Stated = None,
    prices: Mapping[str, Prices] | None = None,
) -> Comparison:
    """Models of a board on the same instances, each against each later one, by scenario.

    p-values are adjusted for all pairs of the board where `has_few_models` says so, else for those
    that are compared.

    Of two models it has what they differ by beside the main metric, at this prevalence, where
    `prices` are given, if only empty ones.

    Raises:
        UnknownNameError: a model or scenario is not on the board, or a prevalence is stated of a
            scenario that is not compared or has no positive class.
        ConfigError: the same model twice, a single one, a margin that is not above 0, a prevalence
            that is not between 0 and 1 or is stated for more than two models.
    """
    if margin is not None and not (isinstance(margin, int | float) and 0 < margin < math.inf):
        raise ConfigError(f"margin is {margin!r}; allowed: a number above 0.")
    names = [deployment_named(name, runs) for name in models] or [
        *dict.fromkeys(run.run_spec.model_deployment for run in runs)
    ]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ConfigError(f"{twice[0]!r} is named twice; give models that differ.")
    if len(models) == 1:
        raise ConfigError(f"{models[0]!r} is a single model; give two or more, or none for all.")
    for scenario in scenarios:
        check_known("scenario", scenario, {run.run_spec.scenario_name for run in runs})
    selected = [
        run
        for run in runs
        if run.run_spec.model_deployment in names
        and (not scenarios or run.run_spec.scenario_name in scenarios)
    ]
    rows = board_of(reader, selected, coverage_floor=coverage_floor).rows
    ranks = {name: rank for rank, name in enumerate(names)}
    ordered = sorted(rows, key=lambda row: ranks[row.model_deployment]) if models else rows
    pairs = paired(reader, selected, ordered, pairs=with_all)
    if len(selected) < len(runs) and has_few_models(runs):
        whole = board_of(reader, runs, coverage_floor=coverage_floor).rows
        pairs = adjusted_as(pairs, paired(reader, runs, whole))
    if margin is not None:
        pairs = tuple(replace(pair, margin=float(margin)) for pair in pairs)
    pairs = tuple(sorted(pairs, key=regressions_first))
    if len(names) != 2 or prices is None:
        if prevalence is not None:
            raise ConfigError(
                f"prevalence is for two models; these are {len(names)}. `leaderboard --show "
                "metrics` shows all at a prevalence."
            )
        return Comparison(models=tuple(names), pairs=pairs)
    with_class = {
        name
        for run in selected
        if has_positive(run.run_spec)
        for name in (run.run_spec.scenario_name, *([run.cell.scenario_name] if run.cell else ()))
    }
    check_stated(prevalence, with_class)
    practical = practical_differences(reader, selected, pairs, stated=prevalence, prices=prices)
    own = {name: prices[name] for name in names if name in prices}
    return Comparison(models=tuple(names), pairs=pairs, practical=tuple(practical), prices=own)


def runs_named(
    runs: Sequence[BoardRun], scenario: str | None = None, model: str | None = None
) -> list[BoardRun]:
    """The summarised runs of a board, or those of one scenario, one model, or both.

    Raises:
        UnknownNameError: the scenario or the model is not on the board.
    """
    selected = _of_scenario(scenario, runs) if scenario else list(runs)
    name = deployment_named(model, selected) if model else None
    return [
        run
        for run in selected
        if run.is_summarized and name in (None, run.run_spec.model_deployment)
    ]


def check_page(
    order: Order | str, limit: int | None, offset: int, only: AnswerFilter | str | None = None
) -> None:
    """Refuse a page that is none, before anything is read.

    Raises:
        UnknownNameError: the order, or which answers are listed, is not known.
        ConfigError: limit or offset is no number, or too small.
    """
    check_known("order", order, Order)
    if only is not None:
        check_known("only", only, AnswerFilter)
    for name, value, least in (("limit", 1 if limit is None else limit, 1), ("offset", offset, 0)):
        if type(value) is not int or value < least:
            raise ConfigError(f"{name} is {value!r}; allowed: a whole number of at least {least}.")


def instances_behind(
    reader: Reader,
    runs: Sequence[BoardRun],
    scenario: str,
    model: str,
    *,
    order: Order | str,
    limit: int | None,
    offset: int,
    holding: InstanceKey | None,
    only: AnswerFilter | str | None,
) -> Instances:
    """A page of the answers behind a model's number on a scenario; see `Evaluation.instances`."""
    own = _of_scenario(scenario, runs)
    name = deployment_named(model, own)
    spec = next(run.run_spec for run in own if run.run_spec.model_deployment == name)
    page = instances_of(
        reader,
        spec,
        limit=limit,
        offset=offset,
        order=Order(order),
        holding=holding,
        only=AnswerFilter(only) if only else None,
    )
    return Instances(run_spec=spec, page=page, reader=reader)


def deployment_named(name: str, runs: Sequence[BoardRun]) -> str:
    """The deployment of that name, or the one that serves the model of that name.

    Raises:
        UnknownNameError: no run is of it.
    """
    by_name = {run.run_spec.model_deployment: run.run_spec.model for run in runs}
    if name in by_name:
        return name
    serving = sorted(deployment for deployment, model in by_name.items() if model == name)
    if len(serving) != 1:
        raise UnknownNameError("model", name, by_name, where="the board")
    return serving[0]


def _of_scenario(scenario: str, runs: Sequence[BoardRun]) -> list[BoardRun]:
    check_known("scenario", scenario, {run.run_spec.scenario_name for run in runs})
    return [run for run in runs if run.run_spec.scenario_name == scenario]
