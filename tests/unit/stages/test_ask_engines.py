"""A machine that lacks what an engine needs: one sentence, and the other engines' answers stay."""

from platform import node
from typing import Any

import pytest

from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import FailureKind, RequestResult
from medhelm_spark.engines.engine_pool import close_engines
from medhelm_spark.errors import SetupError
from medhelm_spark.stages.infer.asking import AskEngines
from medhelm_spark.stages.infer.outage import is_rejected, outage
from medhelm_spark.stages.infer.pending import RequestCounts
from medhelm_spark.stages.machines import look
from tests.unit.engines.nouns import deployment, request

POLICY = Policy(allowed=(), version="1")


def results_of(engine: str, count: int = 3, **args: Any) -> list[RequestResult]:
    model = deployment(engine, **args)
    requests = [request(f"Is {n}?", name=f"{n}") for n in range(count)]
    try:
        asking = AskEngines({model.name: model}, POLICY)
        return list(asking.results(model.name, requests, asking.gate()))
    finally:
        close_engines()


@pytest.mark.parametrize(
    ("args", "lacks"),
    [
        ({"api_key": "env:MY_KEY"}, "api_key: no key found for env:MY_KEY; set the environment"),
        ({"headers": {"x-key": "env:MY_KEY"}}, "headers.x-key: no key found for env:MY_KEY"),
        (
            {"api_key": {"command": ["false"], "lifetime": "1h"}},
            "api_key: the command 'false' ended with exit code 1",
        ),
    ],
)
def test_a_key_that_this_executor_lacks_is_a_result_and_no_error_of_the_task(
    monkeypatch: pytest.MonkeyPatch, args: dict[str, Any], lacks: str
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    monkeypatch.setattr("medhelm_spark.engines.key_fetch.PAUSES", (0.0, 0.0))
    (result,) = results_of("openai", base_url="http://127.0.0.1:9/v1", **args)
    assert (result.failure, result.tries, result.attempts) == (FailureKind.REJECTED, 0, 0)
    assert result.reason is not None
    where = f"not set up on host {node()}: deployment 'test/model': args."
    assert result.reason.startswith(f"{where}{lacks}")
    reasons = {FailureKind.REJECTED: result.reason}
    tally = RequestCounts(failed={FailureKind.REJECTED: 1}, not_asked=2, reasons=reasons)
    assert is_rejected(tally)
    message = outage({"test/model": "deployment 'test/model'"}, {"test/model": tally})
    assert message == (
        f"deployment 'test/model' takes no request ({result.reason}): 0 answers kept, "
        "3 requests without one (not asked 2, rejected 1)"
    )


def test_a_check_of_a_machine_names_the_key_that_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    model = deployment("openai", base_url="http://127.0.0.1:9/v1", api_key="env:MY_KEY")
    assert look((), (model,)).lacks == (
        "deployment 'test/model': args.api_key: no key found for env:MY_KEY; set the environment "
        "variable MY_KEY."
    )


def test_an_engine_that_fills_its_slot_is_tried_by_a_fresh_process() -> None:
    with pytest.raises(SetupError):
        results_of("llama_cpp", path="/no/such/model.gguf")
