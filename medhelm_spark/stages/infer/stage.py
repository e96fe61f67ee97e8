"""infer: requests not yet settled -> request_results, in an order that is made once.

Slots pull chunks of the order (`pulled`); they write their answers to files, which are committed
every few seconds (`commits`). Without a folder that driver and slots both see, the driver assigns
the chunks (`rounds`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.stages import INFER
from medhelm_spark.engines import factory_of
from medhelm_spark.errors import (
    EngineError,
    Interrupted,
    MedhelmSparkError,
    OutageError,
    is_interrupt,
)
from medhelm_spark.lake.lease import LeaseHandle, lease
from medhelm_spark.lake.progress import Watch
from medhelm_spark.lake.rows import Frame
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.dispatch_log import is_sent
from medhelm_spark.stages.infer.follow_ups import FollowUps
from medhelm_spark.stages.infer.groups import Group, groups_of
from medhelm_spark.stages.infer.order import OrderedChunk, ordered_requests
from medhelm_spark.stages.infer.outage import is_rejected, left_over, not_asked, outage
from medhelm_spark.stages.infer.pending import InferenceTargets, RequestCounts, tallies_of
from medhelm_spark.stages.infer.pulled import PulledOrder
from medhelm_spark.stages.infer.recovery import commit_interrupted
from medhelm_spark.stages.infer.rounds import DealtOrder

DEATHS = ("Python worker exited unexpectedly", "ExecutorLostFailure")
"""Spark's messages about a task whose process ended at each attempt."""


class SendOrder(Protocol):
    """A send order: made once, asked group by group."""

    @property
    def stored(self) -> int:
        """How many requests have a stored result."""

    def make(self, rows: Frame) -> list[OrderedChunk]:
        """Store the requests in chunks; returns the list of the chunks, as they are taken."""

    def ask(self, chunks: Sequence[OrderedChunk], group: Group, watch: Watch) -> set[str]:
        """Ask the chunks of a group; returns the deployments that stopped answering."""

    def end(self) -> None:
        """Remove the stored requests."""


def infer(
    ctx: Context,
    run_spec_ids: Sequence[str],
    recipients: InferenceTargets,
    follow_ups: FollowUps | None = None,
) -> int:
    """Send every unsettled request of these RunSpecs; returns the number of requests in the order.

    If slots pull the order, the judges' requests of `follow_ups` join it and are counted too; if
    this process does not write the lake itself, only for judges whose text stays in this job.

    Raises:
        OutageError: a deployment gave no answers; the others were asked to the end.
        EngineError: requests of the order have neither an answer nor a failure.
    """
    to_infer, ctx = recipients.to_infer, ctx.within(INFER)
    if not to_infer or not run_spec_ids:
        return 0
    standing = tallies_of(ctx, run_spec_ids, recipients)
    at_most, down = _open(standing, recipients), set[str]()
    total = 0
    if at_most:
        ctx.lake.ensure("request_results")
        judges = follow_ups.deployments if follow_ups else ()
        names = sorted({*at_most, *judges})
        with lease(ctx.lake, ctx.suite, names, ctx.holder, say=ctx.say) as lease_handle:
            if commit_interrupted(ctx, lease_handle, recipients.deployments, recipients.policy):
                at_most = _open(tallies_of(ctx, run_spec_ids, recipients), recipients)
            total, down = _send(ctx, run_spec_ids, recipients, at_most, lease_handle, follow_ups)
        standing = tallies_of(ctx, run_spec_ids, recipients)
    _report(ctx, recipients, total, down, standing)
    return total


def _open(tallies: Mapping[str, RequestCounts], recipients: InferenceTargets) -> dict[str, int]:
    """How many requests of each deployment may be sent at most, where there are any."""
    retry = recipients.retry_failed
    return {
        name: tally.requests - tally.answered - (0 if retry else sum(tally.settled.values()))
        for name, tally in tallies.items()
        if tally.is_open(retry_failed=retry)
    }


def _send(
    ctx: Context,
    run_spec_ids: Sequence[str],
    recipients: InferenceTargets,
    requests: Mapping[str, int],
    lease_handle: LeaseHandle,
    follow_ups: FollowUps | None,
) -> tuple[int, set[str]]:
    """Make the order and send it; returns its size, and the deployments in an outage."""
    deployments = [recipients.deployments[name] for name in sorted(requests)]
    if not deployments:
        return 0, set()
    order: SendOrder
    if follow_ups and not ctx.lake.is_folder_of_ours:
        # To record new requests before they are sent takes a Spark job: slots leave no core for it.
        judges = follow_ups.deployments
        follow_ups.keep([name for name, judge in judges.items() if not is_sent(judge)])
        follow_ups = follow_ups if follow_ups.deployments else None
    if ctx.lake.staging.shared:
        order = PulledOrder(ctx, recipients, ctx.lake.staging.shared, follow_ups)
    else:
        order, follow_ups = DealtOrder(ctx, recipients), None
    at_most, down = sum(requests.values()), set[str]()
    try:
        judged = follow_ups.judged(ctx) if follow_ups else None
        rows = ordered_requests(ctx, run_spec_ids, recipients, deployments, at_most, judged)
        chunks = order.make(rows)
        total = sum(chunk.requests for chunk in chunks)
        pending = {chunk.model_deployment for chunk in chunks}
        expected = total + (follow_ups.expected_requests(chunks) if follow_ups else 0)
        with (
            _count_on_interrupt(recipients.label, total, order, follow_ups),
            ctx.metered(recipients.label, expected) as watch,
        ):
            if recipients.started and chunks:
                recipients.started.wait()
            for group in groups_of(ctx, recipients.deployments, pending):
                lease_handle.check()
                asking = [each for stream in group for each in stream.deployments]
                names = sorted(each.name for each in asking)
                many = sum(each.requests for each in chunks if each.model_deployment in names)
                ctx.say(f"{recipients.label}: requests {many:,}, asked of {', '.join(names)}")
                with _deaths_as_sentence(recipients.label, asking):
                    down |= order.ask(chunks, group, watch)
            lease_handle.check()  # without Spark a lost lease ends no job: slots got nothing more
    finally:
        order.end()
    if follow_ups and follow_ups.asked:
        joined = follow_ups.asked.total()
        ctx.say(f"judges: requests {joined:,}, asked of {', '.join(sorted(follow_ups.asked))}")
        total += joined
    return total, down & recipients.deployments.keys()


def _report(
    ctx: Context,
    recipients: InferenceTargets,
    total: int,
    down: set[str],
    tallies: Mapping[str, RequestCounts],
) -> None:
    """Print what stays without an answer; raises if a deployment gives none."""
    down = down | recipients.down
    down |= {name for name, tally in tallies.items() if tally.is_silent or is_rejected(tally)}
    if down:
        names = {name: _described(recipients.deployments[name]) for name in down}
        raise OutageError(f"{recipients.label}: {outage(names, tallies)}.")
    if total and (unasked := not_asked(tallies)):
        raise EngineError(f"{recipients.label}: {unasked}.")
    rest = left_over(tallies.values())
    if not total and not recipients.asked_in:
        nothing = "nothing to ask, 0 model calls"
        ctx.say(
            f"{recipients.label}: {nothing}; {rest}" if rest else f"{recipients.label}: {nothing}"
        )
    elif rest:
        ctx.say(f"{recipients.label}: {rest}")


def _described(deployment: Deployment) -> str:
    host = factory_of(deployment).host(deployment)
    return f"deployment {deployment.name!r}" + (f" at {host}" if host else "")


@contextmanager
def _count_on_interrupt(
    label: str, total: int, order: SendOrder, follow_ups: FollowUps | None
) -> Iterator[None]:
    """Turn an interrupt into one that says how many requests and follow-ups have an answer."""
    try:
        yield
    except BaseException as error:
        if not is_interrupt(error):
            raise
        total += follow_ups.asked.total() if follow_ups else 0
        rest = "; the same command asks the others" if order.stored < total else ""
        message = f"{order.stored:,} of {counted(total, 'request')} are kept{rest}"
        raise Interrupted(f"{label}: {message}") from None


@contextmanager
def _deaths_as_sentence(label: str, deployments: Iterable[Deployment]) -> Iterator[None]:
    """Turn Spark's report of a process that died at each attempt into one sentence."""
    try:
        yield
    except MedhelmSparkError:
        raise
    except Exception as error:  # a failed job raises an error of the JVM
        if not any(death in str(error) for death in DEATHS):
            raise
        names = ", ".join(map(_described, deployments))
        raise OutageError(
            f"{label}: {names}: the process that asked died each time it was tried; answers that "
            "came before are kept."
        ) from None
