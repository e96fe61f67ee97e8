"""Deployments of the small model, and what a Spark task does with one in these tests."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.request import Request, RequestResult
from medhelm_spark.engines.engine_pool import engine_for
from tests.unit.engines.nouns import allow, conversation, deployment

SMALL = {
    "max_model_len": 512,
    "max_num_seqs": 4,
    "kv_cache_memory_bytes": 256 << 20,
    "dtype": "bfloat16",
}


def small(model: str, **fields: Any) -> Deployment:
    return deployment("vllm", **{**SMALL, "model": model, **fields})


def questions(count: int, max_tokens: int = 8, **fields: Any) -> list[Request]:
    from dataclasses import replace

    return [
        replace(
            conversation(
                ("user", f"Name {n} organs of the body."),
                decoding={"max_tokens": max_tokens},
                **fields,
            ),
            request_id=f"q{n}",
        )
        for n in range(count)
    ]


@dataclass(frozen=True, slots=True)
class Recipients:
    """Asks one engine; every line of the log is "pid, engine, request" of one result."""

    deployment: Deployment
    log: str

    def __call__(self, requests: Iterable[Request]) -> Iterator[RequestResult]:
        engine = engine_for(self.deployment)
        for result in engine.answer(requests, allow):
            with Path(self.log).open("a", encoding="utf-8") as file:
                file.write(f"{os.getpid()} {id(engine)} {result.request_id}\n")
            yield result


def lines(log: Path) -> list[list[str]]:
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []
