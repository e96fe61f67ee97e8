"""An order whose chunks the slots pull: one job per group of deployments, a task per slot."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import pyarrow as pa

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.progress import Watch
from medhelm_spark.lake.rows import Frame, map_batches, map_rows, rows_of
from medhelm_spark.lake.staging import staged_name
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.infer.asking import AskEngines
from medhelm_spark.stages.infer.channel import ChunkServer
from medhelm_spark.stages.infer.commits import Commits
from medhelm_spark.stages.infer.denied import record_denied
from medhelm_spark.stages.infer.dispatch_log import record_begun
from medhelm_spark.stages.infer.dispatcher import Dispatcher
from medhelm_spark.stages.infer.follow_ups import FollowUps, Joining, settled_of
from medhelm_spark.stages.infer.groups import Group, with_judges
from medhelm_spark.stages.infer.order import (
    JudgedRequest,
    OrderedChunk,
    OrderedRequest,
    in_order,
)
from medhelm_spark.stages.infer.order_folder import OrderFolder
from medhelm_spark.stages.infer.pending import InferenceTargets
from medhelm_spark.stages.infer.pulling import PullChunks, Slot, SlotDone
from medhelm_spark.stages.infer.throughput import record_asked


@dataclass(frozen=True, slots=True)
class WriteChunks:
    """Requests in order in, the list of their chunks out; the chunks are files of a folder."""

    folder: OrderFolder
    most: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield encode_batch(OrderedChunk, self.folder.write_requests(batches, self.most))


class PulledOrder:
    """An order in the folder `shared`, which driver and slots both see."""

    def __init__(
        self,
        ctx: Context,
        recipients: InferenceTargets,
        shared: Path,
        follow_ups: FollowUps | None = None,
    ) -> None:
        self._ctx, self._recipients, self._follow_ups = ctx, recipients, follow_ups
        self._write_id = new_write_id()
        self._name = staged_name(ctx.suite, ctx.holder, self._write_id)
        self._folder = OrderFolder(str(shared / self._name))
        self._commits = Commits(ctx, self._folder, self._write_id)
        self._listed: list[OrderedChunk] = []
        """The chunks of all groups so far, and those that answers brought."""
        self._seconds: defaultdict[str, float] = defaultdict(float)
        """How long the jobs of each deployment took; a judge may join several groups."""

    @property
    def stored(self) -> int:
        """The number of results that are committed, or in files."""
        return self._commits.stored

    def make(self, rows: Frame) -> list[OrderedChunk]:
        """Write the order; returns its chunks, as they are taken."""
        self._folder.make()
        write = WriteChunks(self._folder, self._ctx.chunk_requests)
        kind = JudgedRequest if self._follow_ups else OrderedRequest
        return in_order(rows_of(map_batches(rows, write, kind, OrderedChunk), OrderedChunk))

    def ask(self, chunks: Sequence[OrderedChunk], group: Group, watch: Watch) -> set[str]:
        """Ask the chunks of a group; returns the deployments that stopped answering."""
        ctx, started_at, follow = self._ctx, now(), self._follow_ups
        judges = {} if follow is None else follow.deployments
        # A judge that joins the group may be a model of another one, which asks its chunks.
        names = {each.name for stream in group for each in stream.deployments}
        own = tuple(chunk for chunk in chunks if chunk.model_deployment in names)
        group = with_judges(ctx, group, judges.values())
        deployments = {name: each for stream in group for name, each in stream.shared.items()}
        every = {**judges, **self._recipients.deployments}
        whole = {name: every[name] for name in deployments}

        def record(listed: Sequence[OrderedChunk], *, is_ended: bool = False) -> None:
            self._listed.extend(listed)
            record_begun(ctx, self._write_id, self._listed, whole, is_ended=is_ended)

        record(own)
        down = self._job(own, group, deployments, watch, record)
        if down:
            record((), is_ended=True)
        slots = {name: stream.slots.count for stream in group for name in stream.shared}
        seconds = (now() - started_at).total_seconds()
        for name in slots:
            self._seconds[name] += seconds
        outcomes = record_asked(ctx, self._write_id, started_at, slots, self._seconds)
        policy, purpose = self._recipients.policy, self._recipients.purpose
        asked = {name: deployments[name] for name in names}
        record_denied(ctx, self._write_id, outcomes, asked, policy, (purpose,))
        return down

    def _job(
        self,
        chunks: Sequence[OrderedChunk],
        group: Group,
        deployments: Mapping[str, Deployment],
        watch: Watch,
        before: Callable[[Sequence[OrderedChunk]], None],
    ) -> set[str]:
        lake, policy, follow = self._ctx.lake, self._recipients.policy, self._follow_ups
        judges = {} if follow is None else follow.deployments
        expected = {} if follow is None else follow.expected(chunks)
        streams = {
            stream.name: Dispatcher(
                [chunk.whole for chunk in chunks if chunk.model_deployment in stream.shared],
                stream.slots.count,
                expected={name: expected[name] for name in stream.shared if name in judges},
            )
            for stream in group
        }
        server = ChunkServer(lake.driver_host, streams, self._commits.unanswered, lake.is_cancelled)
        pull = PullChunks(
            asking=AskEngines(deployments, policy, lake.node_addresses),
            address=server.address,
            folder=self._folder,
            streams=tuple(streams),
            most=self._ctx.chunk_requests,
            follow=follow.requests if follow else None,
            watch=watch,
        )
        fed = {name: streams[each.name] for each in group for name in each.shared if name in judges}
        settled = settled_of(self._ctx, judges)
        joining = Joining(self._ctx, self._folder, settled, server, fed, before)
        slots = max((stream.slots for stream in group), key=attrgetter("count"))
        own_workers = any(stream.is_on_gpus for stream in group)
        try:
            with self._commits.under_way(), joining.under_way():
                numbers = lake.numbers(slots.count)
                # Without Spark the slots pull here, before rows are asked for.
                done = map_rows(numbers, pull, Slot, SlotDone, slots.needs, own_workers=own_workers)
                rows_of(done, SlotDone)
        finally:
            server.close()
            if follow:
                follow.note(self._write_id, joining.joined, server.down)
        return server.down

    def end(self) -> None:
        """Remove the requests, and the folder once its answers are committed."""
        self._folder.remove_requests()
        if not self._folder.commits() and not self._folder.count_files():
            self._ctx.lake.staging.remove(self._name)
