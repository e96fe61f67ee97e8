"""The engine vllm beside a vLLM that is not the right one: refused before anything is sent."""

import os
import sys
from types import ModuleType, SimpleNamespace

import pytest

from medhelm_spark.engines import preflight, vllm_args, vllm_engine
from medhelm_spark.engines.vllm_engine import VllmEngine
from medhelm_spark.errors import EngineError, SetupError
from tests.unit.engines.nouns import allow, deployment, request


@pytest.fixture
def installed(monkeypatch):
    """Says that some version of vLLM is installed."""

    def say(version):
        monkeypatch.setattr(vllm_args, "is_installed", lambda: True)
        monkeypatch.setattr(vllm_args, "installed_version", lambda: version)
        monkeypatch.setattr(vllm_args, "known_arguments", lambda: frozenset({"model"}))

    return say


def test_an_older_vllm_is_refused_in_one_sentence(installed):
    installed("0.21.3")
    told = (
        "deployment 'test/model' needs vLLM 0.22 or newer; 0.21.3 is installed here. Nothing was "
        "sent."
    )
    given = deployment("vllm", model="org/model")
    for ask in (preflight, lambda one: vllm_engine.build(one, 1)):
        with pytest.raises(SetupError) as caught:
            ask(given)
        assert str(caught.value) == told


def llm(**methods):
    """What the engine needs of vLLM's `LLM`, with these methods."""
    scheduler = SimpleNamespace(max_num_seqs=4)
    core = SimpleNamespace(
        vllm_config=SimpleNamespace(scheduler_config=scheduler),
        engine_core=SimpleNamespace(shutdown=lambda: None),
        abort_request=lambda keys: None,
    )
    return SimpleNamespace(llm_engine=core, get_tokenizer=lambda: None, **methods)


@pytest.fixture
def engine(monkeypatch, installed):
    """`engine(loaded, env)`: the engine around such an `LLM`."""
    installed("0.32.0")
    monkeypatch.setattr(vllm_engine, "_fingerprint", lambda llm, weights: "{}")
    monkeypatch.setattr(vllm_engine, "_template", lambda llm: None)
    monkeypatch.setattr(vllm_engine, "markers_of", lambda tokenizer: frozenset())
    monkeypatch.setattr(vllm_engine, "_sampling", lambda decoding: None)

    def make(loaded, env=()):
        monkeypatch.setattr(vllm_engine, "_load", lambda deployment, plan: loaded)
        given = deployment("vllm", model="org/model", env=dict(env))
        plan = vllm_args.plan(given, frozenset({"model"}))
        return VllmEngine(given, plan)

    return make


@pytest.mark.parametrize("error", [AttributeError, ImportError, TypeError])
def test_a_fault_of_the_installation_ends_the_job_and_is_no_row(engine, error):
    def enqueue(*given, **keys):
        raise error("enqueue: Patient Doe")

    with pytest.raises(
        EngineError, match=r"^vLLM 0\.32\.0 failed with \w+Error at test_vllm_"
    ) as e:
        list(engine(llm(enqueue=enqueue)).answer([request("Hi")], allow))
    assert "Doe" not in str(e.value)
    with pytest.raises(EngineError, match=r"failed with AttributeError at vllm_engine\.py"):
        list(engine(llm()).answer([request("Hi")], allow))


def test_the_variables_of_one_model_are_undone_before_the_next(engine, monkeypatch):
    state = ModuleType("vllm.distributed.parallel_state")
    state.cleanup_dist_env_and_memory = lambda: None
    names = ("vllm", "vllm.distributed", "vllm.distributed.parallel_state")
    for name, module in zip(names, (ModuleType("vllm"), ModuleType("x"), state), strict=True):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("NCCL_PROTO", raising=False)
    first = engine(llm(), {"OMP_NUM_THREADS": 7, "NCCL_PROTO": "LL"})
    assert (os.environ["OMP_NUM_THREADS"], os.environ["NCCL_PROTO"]) == ("7", "LL")
    first.close()
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert "NCCL_PROTO" not in os.environ
