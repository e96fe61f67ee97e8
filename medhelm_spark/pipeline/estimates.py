"""The cost of a plan, before any request is sent: tokens, hours, GPU hours, money."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.machine import Machine
from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.engines.machine import look
from medhelm_spark.engines.memory import (
    MemoryRoom,
    ModelMemory,
    memory_note,
    memory_of,
    room_for,
)
from medhelm_spark.engines.tokens import token_counter
from medhelm_spark.errors import BudgetError
from medhelm_spark.pipeline.prepare import Prepared
from medhelm_spark.pipeline.request_estimate import Cost, costs
from medhelm_spark.render.table import aligned, html_table
from medhelm_spark.stages.infer.throughput import throughput

if TYPE_CHECKING:
    import pandas as pd

HEADER = (
    "Model deployment",
    "Requests",
    "Prompt tokens",
    "Output tokens, at most",
    "Tokens/s",
    "Hours",
    "GPU hours",
    "Cost",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A deployment's work in tokens, hours of one slot, GPU hours and money.

    `speed` is prompt and output tokens per second, measured in this lake or from the deployment;
    values that need a missing speed or price are None. `prices_as_of` is the day of list prices,
    None for a site's own. `memory` is what an engine of the job loads, None if its weights are not
    on this machine; `room` is the memory that it may use here, None on a cluster, whose executors
    load it.
    """

    cost: Cost
    speed: float | None
    is_measured: bool
    is_counted: bool
    gpu_hours: float | None
    money: float | None
    prices_as_of: str | None = None
    memory: ModelMemory | None = None
    room: MemoryRoom | None = None

    @property
    def hours(self) -> float | None:
        """The hours that one slot would need."""
        tokens = self.cost.prompt_tokens + self.cost.output_tokens
        return tokens / self.speed / 3600 if self.speed else None


@dataclass(frozen=True, slots=True)
class Estimates:
    """The requests to send, by deployment; none was sent. `left_out` are runs without data."""

    rows: tuple[Estimate, ...]
    left_out: tuple[LeftOut, ...] = ()

    def check(self, *, max_cost: float | None = None, max_gpu_hours: float | None = None) -> None:
        """Refuse a plan above a budget, and one whose cost is unknown.

        Raises:
            BudgetError: a sum is above its limit, or a deployment lacks what the sum needs.
        """
        check_budget(self.rows, max_cost=max_cost, max_gpu_hours=max_gpu_hours)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per deployment."""
        import pandas as pd  # only a DataFrame needs it

        return pd.DataFrame(
            [
                {
                    **asdict(row.cost),
                    "tokens_per_second": row.speed,
                    "hours": row.hours,
                    "gpu_hours": row.gpu_hours,
                    "cost": row.money,
                    "prices_as_of": row.prices_as_of,
                    "weights_bytes": row.memory.weights if row.memory else None,
                    "cache_bytes_per_token": row.memory.cache_per_token if row.memory else None,
                }
                for row in self.rows
            ]
        )

    def __str__(self) -> str:
        return "\n".join((*table(self.rows), *self._notes))

    def _repr_html_(self) -> str:
        return html_table(HEADER, [_cells(row) for row in self.rows], self._notes)

    @property
    def _notes(self) -> list[str]:
        names = list(dict.fromkeys(row.scenario_name for row in self.left_out))
        absent = f"Not counted, because the data could not be had: {first_of(names, 8)}."
        return [*notes(self.rows), *([absent] if names else [])]


def estimates_of(prepared: Prepared, *, is_local: bool) -> Estimates:
    """The estimates of the remaining requests to models and judges.

    `is_local`: this machine would load their weights.
    """
    ctx, recipients, judging = prepared.ctx, prepared.models, prepared.judging
    deployments = {**recipients.deployments, **judging.deployments}
    measured = {
        name: seen.tokens_per_second for name, seen in throughput(ctx.ledger.all().values()).items()
    }
    machine = look() if is_local else None
    return Estimates(
        tuple(
            estimated(deployments[name], cost, measured, machine)
            for name, cost in costs(ctx, prepared.specs, recipients, judging).items()
        ),
        prepared.left_out,
    )


def estimated(
    deployment: Deployment,
    cost: Cost,
    measured: Mapping[str, float | None],
    machine: Machine | None = None,
) -> Estimate:
    """A deployment's cost in time and money; a measured speed takes precedence.

    `machine` would load its weights, None if executors would.
    """
    seen = measured.get(deployment.name)
    speed = seen or deployment.tokens_per_second
    tokens = cost.prompt_tokens + cost.output_tokens
    gpus = int(deployment.args.get("tensor_parallel_size", 1)) if deployment.engine == "vllm" else 0
    prices = deployment.prices
    return Estimate(
        cost=cost,
        speed=speed,
        is_measured=seen is not None,
        is_counted=token_counter(deployment) is not None,
        gpu_hours=gpus * tokens / speed / 3600 if speed else None,
        money=(
            (cost.prompt_tokens * prices.prompt + cost.output_tokens * prices.completion) / 1e6
            if prices
            else None
        ),
        prices_as_of=prices.as_of if prices else None,
        memory=memory_of(deployment),
        room=room_for(deployment, machine) if machine else None,
    )


def table(rows: Sequence[Estimate]) -> list[str]:
    """The estimates as aligned lines, with a line of sums."""
    cells = [HEADER, *map(_cells, rows)]
    if len(rows) > 1:
        cells.append(_total(rows))
    return aligned(list(zip(*cells, strict=True)), 1, num_left=1)


def _cells(row: Estimate) -> tuple[str, ...]:
    mark = "" if row.is_measured or row.speed is None else "*"
    return (
        row.cost.model_deployment,
        f"{row.cost.requests:,}",
        f"{row.cost.prompt_tokens:,}{'' if row.is_counted else '~'}",
        f"{row.cost.output_tokens:,}",
        f"{row.speed:,.0f}{mark}" if row.speed else "?",
        _number(row.hours),
        _number(row.gpu_hours),
        _number(row.money),
    )


def _total(rows: Sequence[Estimate]) -> tuple[str, ...]:
    return (
        "all",
        f"{sum(row.cost.requests for row in rows):,}",
        f"{sum(row.cost.prompt_tokens for row in rows):,}",
        f"{sum(row.cost.output_tokens for row in rows):,}",
        "",
        "",
        _number(_sum(row.gpu_hours for row in rows)),
        _number(_sum(row.money for row in rows)),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _number(value: float | None) -> str:
    if value is None:
        return "?"
    return "0" if value == 0 else f"{value:,.2f}" if value >= 0.005 else "<0.01"


def notes(rows: Sequence[Estimate]) -> Iterator[str]:
    """What the marks mean."""
    if not rows:
        yield "Nothing is left to ask."
    if any(not row.is_counted for row in rows):
        yield "~ counted as four characters a token: no tokenizer.json of it is at hand."
    if any(row.speed and not row.is_measured for row in rows):
        yield "* as its deployment says; nothing was measured in this lake yet."
    for row in rows:
        if row.memory:
            cost = row.cost
            yield memory_note(cost.model_deployment, row.memory, row.room, cost.longest_request)
        if row.prices_as_of:
            yield (
                f"Cost of {row.cost.model_deployment}: by its list prices as of "
                f"{row.prices_as_of}; check them."
            )
    if any(row.money is None for row in rows):
        yield "? no prices or no tokens_per_second in model_deployments.yaml."


def check_budget(
    rows: Sequence[Estimate], *, max_cost: float | None, max_gpu_hours: float | None
) -> None:
    """Refuse a plan above a budget, and one whose cost is unknown.

    Raises:
        BudgetError: a sum is above its limit, or a deployment lacks what the sum needs.
    """
    limits = (
        ("--max-cost", max_cost, [row.money for row in rows], "prices"),
        ("--max-gpu-hours", max_gpu_hours, [row.gpu_hours for row in rows], "tokens_per_second"),
    )
    for flag, limit, values, key in limits:
        if limit is None:
            continue
        unknown = [
            row.cost.model_deployment
            for row, value in zip(rows, values, strict=True)
            if value is None
        ]
        if unknown:
            raise BudgetError(
                f"{flag} {limit:g}: {', '.join(unknown)} has no {key} in model_deployments.yaml, "
                "so its share is unknown."
            )
        total = _sum(values) or 0.0
        if not total <= limit:  # as no total is with a limit that is no number
            raise BudgetError(f"{flag} {limit:g}: this plan may need up to {total:,.2f}.")
