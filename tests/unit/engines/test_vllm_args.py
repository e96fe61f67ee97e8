"""How vLLM is started, and what `check` prints without it."""

import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.engines import preflight, slots, vllm_args, vllm_names
from medhelm_spark.engines.vllm_names import PASSED_ON, SERVING
from medhelm_spark.errors import ConfigError, SetupError, UnknownNameError
from tests.unit.engines.nouns import deployment

ROOT = Path(__file__).resolve().parents[3]
KNOWN = frozenset(
    {"trust_remote_code", "otlp_traces_endpoint", "kv_transfer_config", "worker_cls"}
    | {"logits_processors", "hf_overrides", "distributed_executor_backend", "load_format"}
    | {"dtype", "hf_token", "max_model_len", "max_num_seqs", "model", "tensor_parallel_size"}
    | {"enable_prefix_caching", "pipeline_parallel_size", "quantization", "performance_mode"}
    | {"enable_lora", "max_loras", "max_lora_rank", "reasoning_parser", "speculative_config"}
    | {"logging_config", "reasoning_parser_plugin"}
)


def plan(gpus=1, max_sequence_length=None, **args):
    target = deployment("vllm", max_sequence_length=max_sequence_length, **{"model": "a/b", **args})
    return vllm_args.plan(target, KNOWN, gpus)


def test_defaults_and_what_the_deployment_says():
    assert plan(max_sequence_length=8192, dtype="half").engine == {
        "model": "a/b",
        "dtype": "half",
        "max_model_len": 8192,
        "enable_prefix_caching": True,
        "disable_log_stats": True,
        "tensor_parallel_size": 1,
    }


def test_a_cpu_compiles_nothing_unless_told_to():
    assert plan(0).engine["enforce_eager"] is True
    assert "enforce_eager" not in plan(1).engine


def test_how_a_plain_text_is_sent_is_the_models_choice_unless_given():
    assert plan().api is None
    assert plan(api="completions").api == "completions"
    with pytest.raises(ConfigError, match=r"args\.api is 'respond'; allowed: chat, completions"):
        plan(api="respond")


def test_arguments_go_before_defaults():
    found = plan(2, 8192, max_model_len=4096, enable_prefix_caching=False, tensor_parallel_size=1)
    assert found.engine["max_model_len"] == 4096
    assert found.engine["enable_prefix_caching"] is False
    assert found.engine["tensor_parallel_size"] == 1


@pytest.mark.parametrize(
    ("gpus", "args", "tensor"),
    [(1, {}, 1), (4, {}, 4), (4, {"pipeline_parallel_size": 2}, 2), (0, {}, 1)],
)
def test_the_gpus_of_the_slot_are_used_in_parallel(gpus, args, tensor):
    assert plan(gpus, **args).engine["tensor_parallel_size"] == tensor


@pytest.mark.parametrize(
    ("gpus", "args", "own"),
    [
        (1, {}, True),
        (0, {}, False),
        (0, {"own_process": True}, True),
        (1, {"own_process": False}, False),
    ],
)
def test_vllm_has_a_process_of_its_own_on_a_gpu(gpus, args, own):
    found = plan(gpus, **args)
    assert found.own_process is own
    assert found.env["VLLM_ENABLE_V1_MULTIPROCESSING"] == str(int(own))
    assert found.env["VLLM_PLUGINS"] == ("medhelm_spark" if own else "")
    assert "own_process" not in found.engine


def test_without_the_package_s_metadata_vllm_runs_in_this_process(monkeypatch):
    monkeypatch.setattr("medhelm_spark.engines.vllm_child.entry_points", lambda **_: ())
    assert plan(1, own_process=True).env["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"


def test_own_process_is_a_boolean():
    with pytest.raises(ConfigError, match=r"args\.own_process is no boolean; allowed: true, false"):
        plan(own_process="yes")


def test_vllm_is_silent_and_without_telemetry():
    env = plan().env
    assert env["VLLM_NO_USAGE_STATS"] == env["DO_NOT_TRACK"] == "1"
    assert env["VLLM_LOGGING_LEVEL"] == "ERROR"
    assert "HF_HUB_OFFLINE" not in env


def test_a_cpu_engine_computes_on_all_its_cpus_whatever_spark_told_the_worker():
    target = deployment("vllm", model="a/b")
    assert vllm_args.plan(target, KNOWN, 0, cpus=16).env["OMP_NUM_THREADS"] == "16"
    fewer = deployment("vllm", model="a/b", env={"OMP_NUM_THREADS": 4})
    assert vllm_args.plan(fewer, KNOWN, 0, cpus=16).env["OMP_NUM_THREADS"] == "4"
    assert "OMP_NUM_THREADS" not in vllm_args.plan(target, KNOWN, 1, cpus=16).env


def test_weights_on_this_machine_need_no_hub(tmp_path):
    found = plan(model=str(tmp_path))
    assert (found.folder, found.env["HF_HUB_OFFLINE"]) == (tmp_path, "1")
    assert found.env["TRANSFORMERS_OFFLINE"] == "1"
    assert plan(model="/Volumes/main/models/qwen").folder is not None
    assert plan(model="qwen/qwen2.5").folder is None


def test_variables_of_vllm_may_be_set():
    found = plan(env={"VLLM_BATCH_INVARIANT": 1, "OMP_NUM_THREADS": "4"})
    assert found.env["VLLM_BATCH_INVARIANT"] == "1"
    assert found.env["OMP_NUM_THREADS"] == "4"
    assert "env" not in found.engine


@pytest.mark.parametrize(
    "name",
    ["CUDA_VISIBLE_DEVICES", "PATH", "VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_LOGGING_LEVEL"],
)
def test_variables_that_others_rely_on_may_not(name):
    with pytest.raises(ConfigError, match=rf"'test/model': args.env sets {name}; allowed are"):
        plan(env={name: "1"})


@pytest.mark.attack("network", "arguments and variables of vLLM that lead out or run other code")
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"trust_remote_code": True}, "it runs code that comes with the weights"),
        ({"otlp_traces_endpoint": "http://127.0.0.2:1"}, "it sends traces to another server"),
        ({"kv_transfer_config": {}}, "it sends what was read to another server"),
        ({"worker_cls": "a.B"}, "it runs code of others"),
        ({"logits_processors": ["a.B"]}, "it runs code of others"),
        ({"hf_overrides": {}}, "it may run code of others or open connections"),
        ({"distributed_executor_backend": "a.B"}, "'a.B'; allowed: mp, ray, uni"),
        ({"load_format": "tensorizer"}, "'tensorizer'; allowed: auto"),
        ({"reasoning_parser_plugin": "/a.py"}, "it runs code of others"),
        ({"logging_config": {}}, "it decides what is logged"),
        ({"speculative_config": {"method": "custom_class"}}, "needs a method: one of draft_model"),
        ({"speculative_config": {"model": "a.Proposer"}}, "needs a method: one of draft_model"),
        ({"env": {"VLLM_PLUGINS": "a"}}, "args.env sets VLLM_PLUGINS"),
        ({"env": {"VLLM_LOGGING_CONFIG_PATH": "/a"}}, "args.env sets VLLM_LOGGING_CONFIG_PATH"),
        ({"env": {"VLLM_USAGE_STATS_SERVER": "h"}}, "args.env sets VLLM_USAGE_STATS_SERVER"),
        ({"env": {"VLLM_USE_MODELSCOPE": "1"}}, "args.env sets VLLM_USE_MODELSCOPE"),
        ({"env": {"NCCL_NET_PLUGIN": "a"}}, "args.env sets NCCL_NET_PLUGIN"),
        ({"env": {"TORCH_TRACE": "/a"}}, "args.env sets TORCH_TRACE"),
    ],
)
def test_what_leads_out_of_vllm_is_refused(args, words):
    with pytest.raises(ConfigError, match=words):
        plan(**args)
    target = deployment("vllm", **{"model": "/weights", **args})
    if not set(args) & {"hf_overrides"}:  # without vLLM its arguments are unknown
        with pytest.raises(ConfigError, match=words):
            vllm_args.check_arguments(target)


@pytest.mark.attack("network", "vLLM's plug-ins, statistics and logging by the machine's variables")
def test_the_environment_of_the_machine_is_overruled():
    env = plan(0).env
    assert env["VLLM_PLUGINS"] == ""
    assert env["VLLM_LOGGING_CONFIG_PATH"] == env["VLLM_MODEL_REDIRECT_PATH"] == ""
    assert env["VLLM_USE_MODELSCOPE"] == "False"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (
            {"swap_space": 4},
            r"vLLM 0\.26 and newer have no argument swap_space; in its place",
        ),
        ({"calculate_kv_scales": True}, "is of earlier versions of vLLM; remove it"),
        ({"env": {"VLLM_ATTENTION_BACKEND": "X"}}, r"do not read; in its place is args\.attention"),
        ({"env": {"VLLM_CPU_SGL_KERNEL": "1"}}, "which this vLLM does not read"),
    ],
)
def test_what_another_version_has_is_told_and_not_ignored(args, words):
    target = deployment("vllm", model="a/b", **args)
    with pytest.raises(ConfigError, match=words):
        vllm_args.plan(target, KNOWN, variables={"VLLM_BATCH_INVARIANT"})


def test_what_an_older_vllm_still_has_is_passed_on():
    target = deployment("vllm", model="a/b", calculate_kv_scales=True, env={"OMP_WAIT_POLICY": "x"})
    found = vllm_args.plan(target, KNOWN | {"calculate_kv_scales"}, variables={"VLLM_PLUGINS"})
    assert found.engine["calculate_kv_scales"] is True


def test_how_fast_is_not_what_is_answered():
    base = replace(deployment("vllm", model="a/b"), serving=SERVING)
    faster = replace(base, args={**base.args, "performance_mode": "throughput", "numa_bind": True})
    assert faster.identity == base.identity
    for args in (
        {"chat_template_kwargs": {"enable_thinking": False}},
        {"lora": "/adapters/ward"},
        {"reasoning_parser": "qwen3"},
        {"speculative_config": {"method": "ngram", "num_speculative_tokens": 3}},
    ):
        assert replace(base, args={**base.args, **args}).identity != base.identity


def test_what_the_template_is_given_is_a_mapping_of_its_own_names():
    assert plan(chat_template_kwargs={"enable_thinking": False}).template_kwargs == {
        "enable_thinking": False
    }
    with pytest.raises(ConfigError, match="has tokenize, which the engine itself gives"):
        plan(chat_template_kwargs={"tokenize": True})
    with pytest.raises(ConfigError, match="is no mapping of names to values"):
        plan(chat_template_kwargs=["enable_thinking"])


def test_an_adapter_makes_room_for_its_own_rank(tmp_path):
    config = {"r": 12, "rank_pattern": {"q_proj": 24}}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    found = plan(lora=str(tmp_path))
    assert (found.lora, found.engine["enable_lora"]) == (str(tmp_path), True)
    assert (found.engine["max_loras"], found.engine["max_lora_rank"]) == (1, 32)
    assert plan(lora=str(tmp_path), max_lora_rank=64).engine["max_lora_rank"] == 64
    assert "max_lora_rank" not in plan(lora="/absent").engine


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"lora": "org/adapter"}, "args.lora is no path"),
        ({"enable_lora": True}, "because it follows from args.lora"),
        (
            {"speculative_config": {"method": "ngram", "rejection_sample_method": "fly"}},
            "unknown key of speculative_config 'rejection_sample_method'",
        ),
    ],
)
def test_adapters_and_drafts_say_what_they_need(args, words):
    with pytest.raises((ConfigError, UnknownNameError), match=words):
        plan(**args)


def test_the_lists_of_names_do_not_contradict_each_other():
    assert not PASSED_ON & (vllm_names.NO_LONGER.keys() | vllm_names.WHY_REFUSED.keys())
    assert not (PASSED_ON | vllm_names.WHY_REFUSED.keys()) & vllm_args.OWN
    assert vllm_names.EARLIER | vllm_names.VALUES.keys() <= PASSED_ON
    assert not vllm_names.VARIABLES & vllm_names.NO_LONGER_VARIABLES.keys()
    assert not any(map(vllm_names.is_variable, vllm_args.ENVIRONMENT))


def test_the_page_names_every_argument_and_no_other():
    page = (ROOT / "docs" / "vllm.md").read_text(encoding="utf-8")
    listed = page.partition("It refuses all")[2].partition("A run refuses what")[0]
    assert set(re.findall(r"`(\w+)`", listed.partition(":\n")[2])) == PASSED_ON
    table = page.partition("## Arguments")[2].partition("It refuses all")[0]
    assert set(re.findall(r"`(\w+)`", table)) >= vllm_args.OWN


def test_names_of_a_hub_are_told_from_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qwen").mkdir()
    found = vllm_args.hub_names({"model": "qwen", "tokenizer": "/t", "generation_config": "vllm"})
    assert found == ("model=qwen",)
    assert vllm_args.hub_names({"model": "./qwen", "tokenizer": "a/b"}) == ("tokenizer=a/b",)
    draft = {"model": "/m", "speculative_config": {"method": "eagle", "model": "a/draft"}}
    assert vllm_args.hub_names(draft) == ("speculative_config.model=a/draft",)


def test_an_unknown_argument_is_refused_with_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"'max_num_seq'.*Did you mean 'max_num_seqs'"):
        plan(max_num_seq=8)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"model": ""}, "args.model is missing"),
        ({"model": None}, "args.model is missing"),
        ({"hf_token": "hf_planted"}, "args.hf_token is written out; set HF_TOKEN"),
        ({"env": "A=1"}, "args.env is no mapping"),
    ],
)
def test_what_makes_no_sense_is_refused(args, words):
    with pytest.raises(ConfigError, match=words) as caught:
        plan(**args)
    assert "hf_planted" not in str(caught.value)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({}, None),
        ({"tensor_parallel_size": 4}, 4),
        ({"tensor_parallel_size": 4, "pipeline_parallel_size": 2}, 8),
        ({"pipeline_parallel_size": 2}, 2),
    ],
)
def test_how_many_gpus_the_arguments_ask_for(args, expected, monkeypatch):
    monkeypatch.setattr(vllm_args, "is_cpu_build", lambda: False)
    assert vllm_args.gpus_requested(deployment("vllm", model="a/b", **args)) == expected
    monkeypatch.setattr(vllm_args, "is_cpu_build", lambda: True)
    assert vllm_args.gpus_requested(deployment("vllm", model="a/b", **args)) == 0


@pytest.fixture
def installed(monkeypatch):
    """As if vLLM for GPUs were installed, on a machine without one."""
    monkeypatch.setattr(vllm_args, "is_installed", lambda: True)
    monkeypatch.setattr(vllm_args, "known_arguments", lambda: KNOWN)
    monkeypatch.setattr(vllm_args, "is_cpu_build", lambda: False)
    monkeypatch.setattr(slots, "listed_gpus", lambda: "")
    monkeypatch.delenv(slots.VISIBLE, raising=False)


def test_a_laptop_without_a_gpu_is_told_so(installed, monkeypatch):
    with pytest.raises(SetupError, match=r"needs 2 GPUs, but this machine shows none; or install"):
        preflight(deployment("vllm", model="a/b", tensor_parallel_size=2))
    monkeypatch.setattr(slots, "listed_gpus", lambda: "0, GPU-aa\n1, GPU-bb\n")
    preflight(deployment("vllm", model="a/b", tensor_parallel_size=2))
    monkeypatch.setenv(slots.VISIBLE, "1")
    with pytest.raises(SetupError, match=r"machine shows 1 \(CUDA_VISIBLE_DEVICES is '1'\)"):
        preflight(deployment("vllm", model="a/b", tensor_parallel_size=2))


def test_a_cpu_build_needs_no_gpu(installed, monkeypatch):
    monkeypatch.setattr(vllm_args, "is_cpu_build", lambda: True)
    preflight(deployment("vllm", model="a/b"))


def test_a_folder_without_a_model_is_told_so(installed, tmp_path):
    with pytest.raises(SetupError, match=r"args.model names the folder .*no config.json in it"):
        preflight(deployment("vllm", model=str(tmp_path / "absent")))


def test_arguments_and_variables_are_read_from_vllms_source(tmp_path, monkeypatch):
    (tmp_path / "vllm" / "engine").mkdir(parents=True)
    (tmp_path / "vllm" / "__init__.py").touch()
    source = (
        "class Other:\n    x: int = 1\n\n\nclass EngineArgs:\n    model: str = 'm'\n    y = 2\n"
    )
    (tmp_path / "vllm" / "engine" / "arg_utils.py").write_text(source)
    variables = 'environment_variables: dict[str, object] = {\n    "VLLM_A": lambda: 1,\n}\n'
    (tmp_path / "vllm" / "envs.py").write_text(variables)
    monkeypatch.syspath_prepend(tmp_path)
    vllm_args.known_arguments.cache_clear()
    vllm_args.known_variables.cache_clear()
    try:
        assert vllm_args.known_arguments() == {"model"}
        assert vllm_args.known_variables() == {"VLLM_A"}
    finally:
        vllm_args.known_arguments.cache_clear()
        vllm_args.known_variables.cache_clear()


STAND_IN = """
import json, os, subprocess, sys

SHOWN = "import json, os; print(json.dumps(dict(os.environ)))"
child = json.loads(subprocess.check_output([sys.executable, "-c", SHOWN]))
print(json.dumps([dict(os.environ), child]))


class LLM:
    def __init__(self, **arguments):
        assert arguments["model"] == "/weights"
"""
"""A package in vLLM's place: it prints what it and the processes that it starts would read."""

LOADED = """
from medhelm_spark.engines import vllm_args, vllm_engine
from tests.unit.engines.nouns import deployment

given = deployment("vllm", model="/weights")
vllm_engine._loaded(given, vllm_args.plan(given, {"model"}))
"""


@pytest.mark.attack("network", "vLLM and its workers report home or load plug-ins, as told to")
def test_vllm_and_its_workers_see_the_environment_that_the_engine_sets(tmp_path):
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text(STAND_IN)
    environment = {
        **dict.fromkeys(("VLLM_NO_USAGE_STATS", "DO_NOT_TRACK", "VLLM_DO_NOT_TRACK"), "0"),
        **dict.fromkeys(("HF_HUB_DISABLE_TELEMETRY", "HF_HUB_OFFLINE"), "0"),
        "VLLM_LOGGING_CONFIG_PATH": "/elsewhere.json",
        "VLLM_PLUGINS": "one_that_sends",
        "VLLM_USE_MODELSCOPE": "True",
    }
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
    )
    seen = json.loads(done.stdout)
    assert len(seen) == 2
    for environ in seen:
        target = {**vllm_args.ENVIRONMENT, **vllm_args.OWN_PROCESS, **vllm_args.OFFLINE}
        for name, value in target.items():
            assert environ[name] == value, name
    assert environment.keys() <= vllm_args.ENVIRONMENT.keys() | vllm_args.OFFLINE.keys()


# Pages that a block of 40 MB takes when it is asked for a second time, counted by the kernel.
TWICE = """
import resource
from medhelm_spark.engines.vllm_args import keep_memory

if KEEP:
    assert keep_memory()
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = bytearray(40_000_000)
    block[::4096] = bytes(len(block[::4096]))
    del block
    found = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(found)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is glibc that is told")
def test_freed_memory_is_used_again() -> None:
    def pages(keep: bool) -> int:
        code = TWICE.replace("KEEP", str(keep))
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    # Allocated and touched anew without it, or the test would show nothing.
    assert pages(keep=False) > 1000
    assert pages(keep=True) < 100
