"""Arguments of engines: typed, and refused where unknown."""

import pytest

from medhelm_spark.engines.canned import CannedSettings
from medhelm_spark.engines.engine import read_settings
from medhelm_spark.engines.llama_cpp import LlamaCppSettings
from medhelm_spark.engines.openai_client import OpenAISettings
from medhelm_spark.errors import ConfigError, UnknownNameError
from tests.unit.engines.nouns import deployment


def test_arguments_become_settings():
    target = deployment("openai", base_url="http://h/v1", timeout=30, extra_body={"top_k": 1})
    settings = read_settings(OpenAISettings, target)
    assert (settings.base_url, settings.timeout, settings.api) == ("http://h/v1", 30.0, "chat")
    assert settings.extra_body == {"top_k": 1}


def test_a_list_of_yaml_becomes_a_tuple():
    target = deployment("canned", mode="choice", choices=["yes", "no"])
    assert read_settings(CannedSettings, target).choices == ("yes", "no")


def test_an_unknown_argument_is_refused_with_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"test/model.*'n_thread'.*Did you mean 'n_threads'"):
        read_settings(LlamaCppSettings, deployment("llama_cpp", n_thread=2))


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("n_ctx", "4096", "int or NoneType"),
        ("n_threads", True, "int"),
        ("n_threads", 1.5, "int"),
        ("path", None, "str"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_but_not_shown(name, value, allowed):
    with pytest.raises(
        ConfigError, match=f"args.{name} is of type .*allowed is {allowed}"
    ) as caught:
        read_settings(LlamaCppSettings, deployment("llama_cpp", **{name: value}))
    assert "4096" not in str(caught.value)


@pytest.mark.parametrize(
    ("cls", "args", "words"),
    [
        (LlamaCppSettings, {"api": "respond"}, "args.api is 'respond'; allowed: chat, completions"),
        (LlamaCppSettings, {"n_parallel": 0}, "at least 1"),
        (OpenAISettings, {"timeout": 0}, "args.timeout is 0"),
        (OpenAISettings, {"azure": {"endpoint": "https://h"}}, "endpoint and api_version"),
        (CannedSettings, {"mode": "guess"}, "args.mode is 'guess'"),
        (CannedSettings, {"failure": "bad luck"}, "too_long, denied, engine_error, timeout"),
        (CannedSettings, {"mode": "choice", "choices": []}, "args.choices is empty"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(cls, args, words):
    with pytest.raises(ConfigError, match=f"deployment 'test/model'.*{words}"):
        read_settings(cls, deployment("any", **args))
