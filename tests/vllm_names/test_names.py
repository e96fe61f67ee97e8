"""Every name of vLLM's that the engine uses, in the sources of the oldest and newest version."""

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines import vllm_args, vllm_child, vllm_engine, vllm_lora, vllm_names
from tests.meta.tree import ROOT

USERS = (
    *sorted((ROOT / "medhelm_spark" / "engines").glob("vllm_*.py")),
    *sorted((ROOT / "benchmarks").glob("gpu*.py")),
)

MEMBERS = {
    ("entrypoints/llm.py", "LLM"): {"chat", "chat_template", "get_tokenizer", "llm_engine"},
    ("v1/engine/llm_engine.py", "LLMEngine"): {
        *("abort_request", "engine_core", "has_unfinished_requests", "step", "vllm_config"),
    },
    ("v1/engine/core_client.py", "InprocClient"): {"shutdown"},
    ("v1/engine/core_client.py", "MPClient"): {"shutdown"},
    ("config/vllm.py", "VllmConfig"): {
        *("cache_config", "model_config", "parallel_config", "scheduler_config"),
    },
    ("config/model.py", "ModelConfig"): {
        *("dtype", "hf_config", "max_model_len", "model", "quantization", "revision"),
    },
    ("config/scheduler.py", "SchedulerConfig"): {"max_num_seqs"},
    ("config/parallel.py", "ParallelConfig"): {"tensor_parallel_size"},
    ("config/cache.py", "CacheConfig"): {"enable_prefix_caching"},
    ("outputs.py", "RequestOutput"): {
        *("finished", "num_cached_tokens", "outputs", "prompt_token_ids", "request_id"),
    },
    ("outputs.py", "CompletionOutput"): {"finish_reason", "index", "logprobs", "text", "token_ids"},
    ("reasoning/abs_reasoning_parsers.py", "ReasoningParserManager"): {"get_reasoning_parser"},
    ("reasoning/abs_reasoning_parsers.py", "ReasoningParser"): {
        *("adjust_request", "extract_reasoning"),
    },
    ("entrypoints/openai/chat_completion/protocol.py", "ChatCompletionRequest"): {
        *("messages", "model", "skip_special_tokens"),
    },
}
PARAMETERS = {
    ("entrypoints/llm.py", "LLM.enqueue"): {"lora_request", "use_tqdm"},
    ("entrypoints/llm.py", "LLM.enqueue_chat"): {
        *("chat_template_kwargs", "lora_request", "use_tqdm"),
    },
    ("entrypoints/llm.py", "LLM.__init__"): {"chat_template"},
    ("renderers/hf.py", "resolve_chat_template"): {"model_config"},
    ("distributed/parallel_state.py", "cleanup_dist_env_and_memory"): set(),
}
BUILT = {
    "SamplingParams": "sampling_params.py",
    "StructuredOutputsParams": "sampling_params.py",
    "LoRARequest": "lora/request.py",
    "ChatCompletionRequest": "entrypoints/openai/chat_completion/protocol.py",
}


def of_our_code() -> Iterator[ast.AST]:
    for path in USERS:
        if path.is_file():
            yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def test_every_argument_is_one_of_vllms_own(oldest, newest):
    arguments = [vllm_names.arguments_of(each.package) for each in (oldest, newest)]
    current = vllm_names.PASSED_ON - vllm_names.EARLIER
    assert all(current | {"enable_lora", "max_loras", "seed"} <= each for each in arguments)
    assert arguments[0] >= vllm_names.EARLIER
    assert not vllm_names.EARLIER & arguments[1]
    assert not vllm_names.NO_LONGER.keys() & (arguments[0] | arguments[1])
    assert vllm_names.WHY_REFUSED.keys() <= arguments[0] | arguments[1]
    defaults = {*vllm_args.DEFAULTS, *vllm_args.DEFAULTS_ON_CPU}
    assert all(defaults <= each for each in arguments)


def test_every_variable_is_one_that_vllm_reads(oldest, newest):
    variables = [vllm_names.variables_of(each.package) for each in (oldest, newest)]
    current = vllm_names.VARIABLES - vllm_names.EARLIER_VARIABLES
    preset = {name for name in vllm_args.ENVIRONMENT if name.startswith("VLLM_")}
    assert all(current | preset <= each for each in variables)
    assert variables[0] >= vllm_names.EARLIER_VARIABLES
    assert not vllm_names.EARLIER_VARIABLES & variables[1]
    assert not vllm_names.NO_LONGER_VARIABLES.keys() & (variables[0] | variables[1])


def test_every_value_is_one_of_vllms_own(oldest, newest):
    sources = (oldest, newest)
    for path, name, argument in (
        ("model_executor/model_loader/__init__.py", "LoadFormats", "load_format"),
        ("config/model.py", "TokenizerMode", "tokenizer_mode"),
    ):
        accepted = set().union(*(each.values(path, name) for each in sources))
        assert accepted >= set(vllm_names.VALUES[argument])
    for each in sources:
        speculative = each.members("config/speculative.py", "SpeculativeConfig")
        assert speculative >= vllm_names.SPECULATIVE
        methods = each.values("config/speculative.py", "SpeculativeMethod")
        assert methods >= set(vllm_names.SPECULATIVE_METHODS)
        ranks = each.values("config/lora.py", "MaxLoRARanks")
        assert set(map(str, vllm_lora.RANKS)) == ranks - {"None"}
        endings = each.values("v1/engine/__init__.py", "FINISH_REASON_STRINGS")
        assert endings >= set(vllm_engine.NO_ANSWER)


def test_every_import_finds_its_name(source):
    imported = [
        (node.module, alias.name)
        for node in of_our_code()
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "vllm"
        for alias in node.names
    ]
    assert ("vllm", "LLM") in imported
    assert not [pair for pair in imported if not source.has_name(*pair)]


def test_every_method_and_field_is_there(source):
    missing = {
        (cls, name)
        for (path, cls), names in MEMBERS.items()
        for name in names - source.members(path, cls)
    }
    assert not missing
    missing = {
        (function, name)
        for (path, function), names in PARAMETERS.items()
        for name in names - source.parameters(path, function)
    }
    assert not missing


def test_everything_that_is_built_has_the_fields_that_it_is_given(source):
    arguments = {
        (node.func.id, keyword.arg)
        for node in of_our_code()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BUILT
        for keyword in node.keywords
        if keyword.arg
    }
    assert {name for name, _ in arguments} == BUILT.keys()
    assert not {(c, name) for c, name in arguments if name not in source.members(BUILT[c], c)}


def test_the_loggers_that_are_silent_are_those_of_vllms_modules(source):
    assert not [name for name in vllm_child.SILENT if source.module(name) is None]


def test_what_quotes_a_refused_message_comes_from_silent_modules(source):
    quoting = [
        path
        for path in source.package.rglob("*.py")
        if re.search("while applying chat template|Chat template rejected", path.read_text("utf-8"))
    ]
    silent = [source.package.joinpath(*name.split(".")[1:]) for name in vllm_child.SILENT]
    assert quoting
    assert not [path for path in quoting if not any(map(path.is_relative_to, silent))]


@pytest.fixture
def exceptions(source, monkeypatch) -> ModuleType:
    """The module `vllm.exceptions` of this version, the only one of its package."""
    spec = importlib.util.spec_from_file_location(
        "vllm.exceptions", source.module("vllm.exceptions")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    package = ModuleType("vllm")
    package.exceptions = module
    monkeypatch.setitem(sys.modules, "vllm", package)
    monkeypatch.setitem(sys.modules, "vllm.exceptions", module)
    return module


def test_what_a_refused_request_raises_is_one_row(exceptions):
    for error in (
        exceptions.VLLMValidationError("no", parameter="temperature"),
        exceptions.VLLMNotFoundError("no"),
        exceptions.VLLMUnprocessableEntityError("no"),
        ValueError("no"),
    ):
        assert vllm_engine._kind(error) is FailureKind.INVALID_REQUEST, type(error)
    assert vllm_engine._kind(RuntimeError("no")) is FailureKind.ENGINE_ERROR


def test_too_long_a_prompt_is_told_by_parameter_or_words(exceptions, source):
    for parameter in vllm_engine.TOO_LONG_PARAMETERS:
        error = exceptions.VLLMValidationError("no", parameter=parameter)
        assert vllm_engine._kind(error) is FailureKind.TOO_LONG
        assert f'parameter="{parameter}"' in source.text("renderers/params.py")
    assert vllm_engine.TOO_LONG_WORDS in source.text("v1/engine/input_processor.py")
