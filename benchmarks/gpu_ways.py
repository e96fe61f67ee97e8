"""What one process of `benchmarks.gpu` does: our worker's path, or vLLM's own `LLM.chat`.

Both get the same engine arguments and the same conversations; what happened when goes to a file.

    python -m benchmarks.gpu_ways PLAN.json EVENTS.jsonl
    python -m benchmarks.gpu_ways bench ARGUMENTS OF `vllm bench throughput`
"""

import json
import random
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

TEXT = """
the patient was given an oral dose and had no pain for two days after that she took it with food but
felt well at home so we will see her again in one month for a blood test and a scan
"""
WORDS = TEXT.split()
BATCH = 64
SECONDS_BEFORE_THE_KILL = 3.0
SECONDS_AFTER_CLOSING = 2.0
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "reason": {"type": "string", "maxLength": 400},
        },
        "required": ["score", "reason"],
        "additionalProperties": False,
    }
)


class Events:
    """A line for everything that happened, with its time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, what: str, **values: Any) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, "at": time.time(), **values}) + "\n")


def texts(load: Mapping[str, Any], seed: str) -> Iterator[str]:
    """Endless texts of about so many tokens that share no beginning."""
    draw = random.Random(f"{load['name']} {seed}")
    while True:
        yield " ".join(draw.choices(WORDS, k=load["words"]))


def allow(request: Any) -> Any:
    """The gate of a worker, where all may be sent."""
    from medhelm_spark.domain.policy import Decision

    return Decision(allowed=True, rule="made text")


class Ours:
    """The engine of a Spark worker, fed by Arrow batches as they come to it."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        from medhelm_spark.domain.deployment import Deployment, Locality
        from medhelm_spark.engines.engine_pool import engine_for

        # The name is no argument of the engine: a second one ends the first, as in a worker.
        deployment = Deployment(
            name="bench/model",
            model="bench/model",
            engine="vllm",
            locality=Locality.LOCAL,
            args=dict(arguments),
        )
        self._engine = engine_for(deployment)

    def ask(self, load: Mapping[str, Any], prompts: Iterable[str]) -> tuple[float, int, int, int]:
        """Seconds, answers, and the tokens that were read and made."""
        from medhelm_spark.domain.request import Request, RequestResult
        from medhelm_spark.lake.columnar import decode_batch, encode_batch

        batches: Iterable[Any] = self._batches(load, prompts)
        if not load.get("endless"):
            batches = list(batches)
        began, answers, read, made = time.time(), 0, 0, 0
        requests = (row for batch in batches for row in decode_batch(Request, batch))
        results = self._engine.answer(requests, allow)
        while chunk := list(islice(results, BATCH)):
            encode_batch(RequestResult, chunk)
            answers += sum(result.is_answer for result in chunk)
            read += sum(result.prompt_tokens or 0 for result in chunk)
            made += sum(result.completion_tokens or 0 for result in chunk)
        return time.time() - began, answers, read, made

    def _batches(self, load: Mapping[str, Any], prompts: Iterable[str]) -> Iterator[Any]:
        from medhelm_spark.domain.access import AccessLevel
        from medhelm_spark.domain.request import Decoding, Request
        from medhelm_spark.domain.scenario import Message
        from medhelm_spark.lake.columnar import encode_batch

        schema = SCHEMA if load.get("schema") else None
        decoding = Decoding(max_tokens=load["max_tokens"], response_schema=schema)
        rows = (
            Request(
                request_id=str(number),
                model_deployment="bench/model",
                messages=(Message(role="user", content=text),),
                text="",
                decoding=decoding,
                access_level=AccessLevel.PUBLIC,
            )
            for number, text in zip(count(), prompts, strict=False)
        )
        while chunk := list(islice(rows, BATCH)):
            yield encode_batch(Request, chunk)

    def close(self) -> None:
        from medhelm_spark.engines.engine_pool import close_engines

        close_engines()


class Chat:
    """vLLM as its documentation shows it: one call of `LLM.chat` with everything."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        from vllm import LLM

        self._llm = LLM(**arguments)

    def ask(self, load: Mapping[str, Any], prompts: Iterable[str]) -> tuple[float, int, int, int]:
        """As in `Ours`."""
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        form = StructuredOutputsParams(json=json.loads(SCHEMA)) if load.get("schema") else None
        params = SamplingParams(
            max_tokens=load["max_tokens"], temperature=0.0, structured_outputs=form
        )
        if load.get("endless"):
            prompts = islice(prompts, 4096)
        turns: Any = [[{"role": "user", "content": text}] for text in prompts]
        began = time.time()
        outputs = self._llm.chat(turns, params, use_tqdm=False)
        seconds = time.time() - began
        read = sum(len(output.prompt_token_ids or ()) for output in outputs)
        made = sum(len(one.token_ids) for output in outputs for one in output.outputs)
        return seconds, len(outputs), read, made

    def close(self) -> None:
        self._llm.llm_engine.engine_core.shutdown()
        del self._llm


WAYS: Mapping[str, type[Ours | Chat]] = {"ours": Ours, "chat": Chat}


def measure(plan: Mapping[str, Any], events: Events) -> None:
    """Every engine of the plan in turn; the last one answers until it is killed."""
    engines: Sequence[Mapping[str, Any]] = plan["engines"]
    for engine in engines:
        began = time.time()
        runner = WAYS[plan["way"]](engine["arguments"])
        events.add("started", engine=engine["name"], began=began)
        for load in engine["loads"]:
            runner.ask(load, islice(texts(load, "warm"), 4))
            for number in range(plan["rounds"]):
                began = time.time()
                prompts = islice(texts(load, str(number)), load["requests"])
                seconds, answers, read, made = runner.ask(load, list(prompts))
                events.add(
                    "load",
                    load=load["name"],
                    engine=engine["name"],
                    began=began,
                    seconds=seconds,
                    answers=answers,
                    read=read,
                    made=made,
                )
        if engine is not engines[-1]:
            runner.close()
            time.sleep(SECONDS_AFTER_CLOSING)
            events.add("closed", engine=engine["name"])
    timer = threading.Timer(SECONDS_BEFORE_THE_KILL, events.add, ["answering"])
    timer.start()
    endless = {**engines[-1]["loads"][-1], "endless": True, "name": "endless"}
    runner.ask(endless, texts(endless, "endless"))


def bench(words: Sequence[str]) -> None:
    """`vllm bench throughput`; its own command asks for a package that CPU builds lack."""
    from vllm.benchmarks.throughput import add_cli_args, main
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parser = FlexibleArgumentParser()
    add_cli_args(parser)
    main(parser.parse_args(words))


def main() -> None:
    """Run what the module describes."""
    if sys.argv[1] == "bench":
        bench(sys.argv[2:])
        return
    plan, events = json.loads(Path(sys.argv[1]).read_text("utf-8")), Events(Path(sys.argv[2]))
    measure(plan, events)


if __name__ == "__main__":
    main()
