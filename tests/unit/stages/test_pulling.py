"""A slot and the driver's end of its channel: what is asked, written and returned."""

import json
import socket
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from medhelm_spark.config.settings import MOST_CHUNK_REQUESTS
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.judged import JudgedInstance
from medhelm_spark.domain.policy import Policy
from medhelm_spark.engines.engine_pool import close_engines
from medhelm_spark.errors import EngineError, LakeError
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.stages.infer.asking import AskEngines
from medhelm_spark.stages.infer.channel import Address, ChunkClient, ChunkServer
from medhelm_spark.stages.infer.dispatcher import Chunk, Dispatcher
from medhelm_spark.stages.infer.order import JudgedRequest, OrderedRequest, chunks_of, in_order
from medhelm_spark.stages.infer.order_folder import OrderFolder
from medhelm_spark.stages.infer.pulling import PullChunks, Slot
from tests.unit.engines.nouns import deployment, request

POLICY = Policy(allowed=((AccessLevel.PUBLIC, (Locality.LOCAL,)),), version="1")
STREAM = "canned"


def ordered(name: str, number: int, *, together: str = "", tries: int = 0) -> OrderedRequest:
    one = request(f"Is {number}?", name=f"{name}-{number}")
    fields = {field: getattr(one, field) for field in type(one).__dataclass_fields__}
    key = together or one.request_id
    return OrderedRequest(
        **{**fields, "model_deployment": name}, estimated_tokens=5, tries=tries, together=key
    )


def order(folder: OrderFolder, requests: list[OrderedRequest], most: int = 8) -> list[Chunk]:
    folder.make()
    rows = [encode_batch(OrderedRequest, requests)]
    return [each.whole for each in in_order(folder.write_requests(rows, most))]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[OrderFolder]:
    yield OrderFolder(str(tmp_path))
    close_engines()


def pulled(folder: OrderFolder, server: ChunkServer, model: Deployment, slot: int = 0) -> int:
    asking = AskEngines({model.name: model}, POLICY)
    pull = PullChunks(
        asking=asking, address=server.address, folder=folder, streams=(STREAM,), most=8
    )
    (done,) = pull([Slot(number=slot)])
    return done.results


def answers(folder: OrderFolder) -> Counter[str]:
    files = sorted(Path(folder.root, "answers").glob("*.parquet"))
    return Counter(name for file in files for name in pq.read_table(file)[0].to_pylist())


def judged_request(name: str, number: int, *, is_judged: bool) -> JudgedRequest:
    one = ordered(name, number)
    fields = {field: getattr(one, field) for field in type(one).__dataclass_fields__}
    instance = JudgedInstance(
        request_id=one.request_id,
        run_spec_id="run",
        annotator="jury",
        subject_id="s",
        question="?",
        messages=(),
        references=(),
        extra_data={},
        access_level=AccessLevel.PUBLIC,
    )
    return JudgedRequest(**fields, judged=(instance,) if is_judged else None)


@pytest.mark.parametrize("is_first_judged", [True, False])
def test_each_chunk_reads_its_own_judged_instances_though_others_have_none(
    folder: OrderFolder, *, is_first_judged: bool
) -> None:
    folder.make()
    judged = {number: (number < 8) == is_first_judged for number in range(24)}
    requests = [judged_request("a", n, is_judged=judged[n]) for n in range(24)]
    listed = folder.write_requests([encode_batch(JudgedRequest, requests)], 8)
    assert [chunk.judged for chunk in listed] == ([8, 0, 0] if is_first_judged else [0, 8, 8])
    for chunk in listed:
        expected = folder.request_ids(chunk.whole) if chunk.judged else []
        assert [each.request_id for each in folder.judged(chunk.whole)] == expected


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_a_chunk_is_of_one_deployment_and_keeps_whole_what_belongs_together(batch: int) -> None:
    def chunks(requests: list[OrderedRequest]) -> list[list[str]]:
        parts = [requests[at : at + batch] for at in range(0, len(requests), batch)]
        cut = chunks_of((encode_batch(OrderedRequest, part) for part in parts), 8)
        return [chunk["request_id"].to_pylist() for chunk in cut]

    judged = [ordered("j", n, together=f"answer {n // 6}") for n in range(30)]
    assert [len(chunk) for chunk in chunks(judged)] == [12, 12, 6]
    assert [name for each in chunks(judged) for name in each] == [one.request_id for one in judged]
    twice = [ordered("a", 1), ordered("a", 1), ordered("a", 2), ordered("b", 2), ordered("b", 2)]
    assert chunks(twice) == [["a-1", "a-2"], ["b-2"]]
    failed = [ordered("a", 1), ordered("a", 2, tries=1)]
    assert chunks(failed) == [["a-1"], ["a-2"]]
    endless = [ordered("j", n, together="one") for n in range(40)]
    assert [len(chunk) for chunk in chunks(endless)] == [16, 16, 8]
    assert chunks([]) == []


def test_a_slot_asks_all_and_its_answers_are_files_that_lie_there_whole(
    folder: OrderFolder,
) -> None:
    model = deployment("canned", text="yes")
    chunks = order(folder, [ordered(model.name, n) for n in range(50)])
    dispatcher = Dispatcher(chunks, 1)
    server = ChunkServer("127.0.0.1", {STREAM: dispatcher}, list)
    try:
        assert pulled(folder, server, model) == 50
    finally:
        server.close()
    assert answers(folder) == {f"{model.name}-{n}": 1 for n in range(50)}
    assert folder.count_files() >= 6
    assert dispatcher.requests == {model.name: 0}
    assert not dispatcher.lost(0), "every chunk was reported done"
    (name,) = folder.take_answers()
    assert folder.commits() == [name]
    assert not folder.count_files()
    folder.end_commit(name)
    assert not folder.commits()


def test_a_process_that_ended_costs_what_it_had_not_written(folder: OrderFolder) -> None:
    model = deployment("canned", text="yes")
    chunks = order(folder, [ordered(model.name, n) for n in range(24)])

    def unanswered(lost: Iterable[Chunk]) -> list[Chunk]:
        left = []
        for chunk in lost:
            ids = folder.request_ids(chunk)
            rest = chunk.without({row for row in chunk.rows if ids[row] in folder.answered()})
            left += [rest] if rest else []
        return left

    server = ChunkServer("127.0.0.1", {STREAM: Dispatcher(chunks, 1)}, unanswered)
    try:
        first = ChunkClient(server.address, 0, -1, STREAM)
        assert first.deployment() == model.name
        taken = first.chunk(model.name)
        assert taken
        results = AskEngines({model.name: model}, POLICY)
        some = folder.requests(taken)[:5]
        folder.write_answers("0-0", list(results.results(model.name, some, results.gate())))
        first.close()
        assert pulled(folder, server, model) == 19
    finally:
        server.close()
    assert set(answers(folder).values()) == {1}
    assert len(answers(folder)) == 24


def test_an_outage_stops_the_deployment_for_every_slot(folder: OrderFolder) -> None:
    failing = deployment("canned", fail_every=1, failure="unreachable", max_concurrency=1)
    model = replace(failing, max_failures_in_a_row=3)
    chunks = order(folder, [ordered(model.name, n) for n in range(40)])
    server = ChunkServer("127.0.0.1", {STREAM: Dispatcher(chunks, 2)}, list)
    try:
        assert pulled(folder, server, model) < 12
        assert server.down == {model.name}
        assert pulled(folder, server, model, slot=1) == 0
    finally:
        server.close()


def test_a_slot_receives_the_largest_chunk_that_may_be_set() -> None:
    rows = range(MOST_CHUNK_REQUESTS)
    chunk = Chunk(file="part-0", number=0, rows=rows, model_deployment="a", tokens=1.0)
    dispatcher = Dispatcher([chunk], 1)
    server = ChunkServer("127.0.0.1", {STREAM: dispatcher}, list)
    client = ChunkClient(server.address, 0, 0, STREAM)
    try:
        assert client.deployment() == "a"
        taken = client.chunk("a")
        assert taken is not None
        assert list(taken.rows) == list(rows[: len(rows) // 2 + 1]), "one half is left for others"
    finally:
        client.close()
        server.close()


def test_a_commit_that_fails_ends_a_slot_in_a_sentence(
    folder: OrderFolder, caplog: pytest.LogCaptureFixture
) -> None:
    def refuses(lost: Iterable[Chunk]) -> list[Chunk]:
        raise LakeError("text of a note")

    chunks = order(folder, [ordered("a", n) for n in range(3)])
    server = ChunkServer("127.0.0.1", {STREAM: Dispatcher(chunks, 1)}, refuses)
    try:
        ChunkClient(server.address, 0, 0, STREAM).close()
        with pytest.raises(EngineError, match="has ended the connection"):
            ChunkClient(server.address, 0, 1, STREAM)
    finally:
        server.close()
    assert caplog.messages == ["a slot cannot be answered: LakeError"]


def test_without_the_token_there_is_no_reply(folder: OrderFolder) -> None:
    server = ChunkServer("127.0.0.1", {STREAM: Dispatcher([], 1)}, list)
    try:
        wrong = Address(host="127.0.0.1", port=server.address.port, token="wrong")
        with pytest.raises(EngineError, match="has ended the connection"):
            ChunkClient(wrong, 0, 0, STREAM)
        with socket.create_connection(("127.0.0.1", server.address.port)) as raw:
            raw.sendall(b"\x00\xff no json\n")
            assert raw.recv(100) == b""
        with socket.create_connection(("127.0.0.1", server.address.port)) as raw:
            raw.sendall(json.dumps({"op": "chunk", "stream": STREAM}).encode() + b"\n")
            assert raw.recv(100) == b""
    finally:
        server.close()
    with pytest.raises(EngineError, match="cannot be reached"):
        ChunkClient(server.address, 0, 0, STREAM)
