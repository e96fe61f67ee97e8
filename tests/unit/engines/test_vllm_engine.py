"""The engine vllm beside a vLLM that is not the right one: refused before anything is sent."""

import logging
import os
import sys
from types import ModuleType, SimpleNamespace

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines import preflight, vllm_args, vllm_engine
from medhelm_spark.engines.vllm_engine import VllmEngine
from medhelm_spark.engines.vllm_reasoning import Reasoning
from medhelm_spark.errors import EngineError, SetupError
from tests.unit.engines.nouns import allow, conversation, deployment, request


@pytest.fixture
def installed(monkeypatch):
    """Says that some version of vLLM is installed."""

    def say(version):
        monkeypatch.setattr(vllm_args, "is_installed", lambda: True)
        monkeypatch.setattr(vllm_args, "installed_version", lambda: version)
        monkeypatch.setattr(vllm_args, "known_arguments", lambda: frozenset({"model"}))

    return say


def test_an_older_vllm_is_refused_in_one_sentence(installed):
    installed("0.25.1")
    message = (
        "deployment 'test/model' needs vLLM 0.26 or newer; 0.25.1 is installed here. Nothing was "
        "sent."
    )
    target = deployment("vllm", model="org/model")
    for ask in (preflight, lambda one: vllm_engine.build(one, 1)):
        with pytest.raises(SetupError) as caught:
            ask(target)
        assert str(caught.value) == message


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
    monkeypatch.setattr(vllm_engine, "_fingerprint", lambda llm, plan, hashes: "{}")
    monkeypatch.setattr(vllm_engine, "_template", lambda llm: None)
    monkeypatch.setattr(vllm_engine, "markers_of", lambda tokenizer: frozenset())
    monkeypatch.setattr(vllm_engine, "_sampling", lambda decoding, keeps: None)

    def make(loaded, env=()):
        monkeypatch.setattr(vllm_engine, "_load", lambda deployment, plan, start: loaded)
        target = deployment("vllm", model="org/model", own_process=False, env=dict(env))
        plan = vllm_args.plan(target, frozenset({"model"}))
        return VllmEngine(target, plan)

    return make


@pytest.mark.parametrize("error", [AttributeError, ImportError, TypeError])
def test_a_fault_of_the_installation_ends_the_job_and_is_no_row(engine, error):
    def enqueue(*target, **keys):
        raise error("enqueue: Patient Doe")

    with pytest.raises(
        EngineError, match=r"^vLLM 0\.32\.0 failed with \w+Error at test_vllm_"
    ) as e:
        list(engine(llm(enqueue=enqueue)).answer([request("Hi")], allow))
    assert "Doe" not in str(e.value)
    with pytest.raises(EngineError, match=r"failed with AttributeError at vllm_engine\.py"):
        list(engine(llm()).answer([request("Hi")], allow))


def exceptions_of(version):
    """What vLLM 0.26 or a newer version raises at a request that it does not take."""
    module = ModuleType("vllm.exceptions")
    base = type("VLLMClientError", (Exception,), {})
    newer = version != "0.26"
    if newer:
        module.VLLMClientError = base
    module.VLLMValidationError = type("VLLMValidationError", (base if newer else ValueError,), {})
    module.VLLMNotFoundError = type("VLLMNotFoundError", (base if newer else Exception,), {})
    return module


@pytest.mark.parametrize("version", ["0.26", "0.33"])
@pytest.mark.parametrize("kind", ["VLLMValidationError", "VLLMNotFoundError", "ValueError"])
def test_a_request_that_vllm_does_not_take_is_one_row_on_every_version(
    engine, monkeypatch, version, kind
):
    module = exceptions_of(version)
    package = ModuleType("vllm")
    package.exceptions = module
    monkeypatch.setitem(sys.modules, "vllm", package)
    monkeypatch.setitem(sys.modules, "vllm.exceptions", module)

    def enqueue(*target, **keys):
        raise getattr(module, kind, ValueError)("Patient Doe")

    (found,) = engine(llm(enqueue=enqueue)).answer([request("Hi")], allow)
    assert found.failure is FailureKind.INVALID_REQUEST
    assert found.reason is None


def test_trouble_of_vllms_own_is_no_fault_of_the_request(engine, monkeypatch):
    package = ModuleType("vllm")
    package.exceptions = exceptions_of("0.33")
    monkeypatch.setitem(sys.modules, "vllm", package)

    def enqueue(*target, **keys):
        raise RuntimeError("no memory")

    (found,) = engine(llm(enqueue=enqueue)).answer([request("Hi")], allow)
    assert found.failure is FailureKind.ENGINE_ERROR


def test_loggers_that_see_a_prompt_say_nothing(monkeypatch, tmp_path):
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text(
        "class LLM:\n    def __init__(self, **keys): ..."
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "vllm", raising=False)
    target = deployment("vllm", model="org/model")
    monkeypatch.setattr(vllm_args, "is_cpu_build", lambda: False)
    _, undo = vllm_engine._loaded(target, vllm_args.plan(target, frozenset({"model"})))
    undo()
    for name in ("vllm.renderers.hf", "vllm.renderers.mistral", "vllm.entrypoints.chat_utils"):
        assert not logging.getLogger(name).isEnabledFor(logging.ERROR), name
    sys.modules.pop("vllm", None)


class Parser:
    """In place of one of vLLM's reasoning parsers, with what newer versions have beside."""

    def set_prompt_token_ids(self, tokens):
        assert tokens == [1, 2]

    def extract_reasoning(self, text, chat_request):
        if "broken" in text:
            raise IndexError("Patient Doe")
        thinking, _, answer = text.rpartition("</think>")
        return thinking or None, answer or None


def output(*texts):
    sequences = [
        SimpleNamespace(
            index=n, text=text, finish_reason="stop", token_ids=[3], logprobs=None, stop_reason=None
        )
        for n, text in enumerate(texts)
    ]
    return SimpleNamespace(outputs=sequences, prompt_token_ids=[1, 2], num_cached_tokens=0)


@pytest.fixture
def thinker(engine):
    made = engine(llm())
    made._reasoning = object.__new__(Reasoning)
    made._reasoning._parser, made._reasoning._request = Parser(), None
    return made


def test_thinking_is_told_from_the_answer_by_vllms_parser(thinker):
    turns = conversation(("user", "Is aspirin an NSAID?"))
    found = thinker.result(turns, output("It is.</think>Yes", "No"), 1.0)
    assert [(one.text, one.thinking) for one in found.completions] == [
        ("Yes", "It is."),
        ("No", None),
    ]
    plain = thinker.result(request("Hi"), output("It is.</think>Yes"), 1.0)
    assert plain.completions[0].text == "It is.</think>Yes", "a plain text is no turn"


@pytest.mark.parametrize(("skips", "keeps"), [(None, False), (True, False), (False, True)])
def test_a_parser_that_reads_special_tokens_gets_them(monkeypatch, skips, keeps):
    """A request has None in 0.33 where it had True before."""

    class Adjusting(Parser):
        def __init__(self, tokenizer, **target):
            assert target["chat_template_kwargs"] == {"enable_thinking": True}

        def adjust_request(self, request):
            return SimpleNamespace(skip_special_tokens=skips)

    module_names = "vllm vllm.entrypoints vllm.entrypoints.openai vllm.reasoning"
    module_names += " vllm.entrypoints.openai.chat_completion"
    module_names += " vllm.entrypoints.openai.chat_completion.protocol"
    for name in module_names.split():
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["vllm.reasoning"].ReasoningParserManager = SimpleNamespace(
        get_reasoning_parser=lambda name: Adjusting
    )
    protocol = sys.modules["vllm.entrypoints.openai.chat_completion.protocol"]
    protocol.ChatCompletionRequest = lambda **target: None
    loaded = llm()
    loaded.llm_engine.vllm_config.model_config = None
    assert Reasoning("any", loaded, {"enable_thinking": True}).keeps_special_tokens is keeps


def test_what_the_parser_cannot_read_is_a_row_without_text(thinker, caplog):
    found = thinker.result(conversation(("user", "Hi")), output("broken"), 1.0)
    assert (found.failure, found.completions) == (FailureKind.INVALID_REPLY, ())
    assert "Doe" not in caplog.text


def test_a_parser_that_only_finds_the_end_of_thinking_leaves_the_text(thinker, monkeypatch):
    def none(self, text, chat_request):
        raise NotImplementedError

    monkeypatch.setattr(Parser, "extract_reasoning", none)
    found = thinker.result(conversation(("user", "Hi")), output("<think>a</think>Yes"), 1.0)
    assert found.completions[0].text == "<think>a</think>Yes"


def test_an_adapter_that_is_not_there_is_told_before_a_run(installed, monkeypatch, tmp_path):
    installed("0.33.0")
    known = frozenset({"model", "enable_lora", "max_loras"})
    monkeypatch.setattr(vllm_args, "known_arguments", lambda: known)
    with pytest.raises(SetupError, match=r"args\.lora names the folder .* no adapter_config\.json"):
        preflight(deployment("vllm", model="org/model", lora=str(tmp_path)))


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
