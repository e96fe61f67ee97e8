"""Deployments: ours, MedHELM's own, and what is refused."""

from typing import Any

import pytest

from medhelm_spark.domain.deployment import Deployment, Locality, OnFailure
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines import preflight
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.site import load_site


def _site(write, text: str, **files: str):
    path = write("site/model_deployments.yaml", "model_deployments:\n" + text)
    for name, content in files.items():
        write(f"site/{name}", content)
    return path.parent


def _helm(class_name: str, args: str = "{}", more: str = "", name: str = "host/x") -> str:
    return (
        f"  - name: {name}\n    model_name: acme/x\n    max_sequence_length: 2048\n{more}"
        f"    client_spec: {{class_name: helm.clients.{class_name}, args: {args}}}\n"
    )


def test_the_shipped_deployments(shipped) -> None:
    deployments = shipped.deployments
    small = deployments["huggingface/smollm2-135m-instruct"]
    assert (small.engine, small.locality, small.demo) == ("llama_cpp", Locality.LOCAL, True)
    assert small.max_sequence_length == small.args["n_ctx"] == 4096
    vendor = deployments["openai/gpt-4o"]
    assert (vendor.engine, vendor.locality) == ("openai", Locality.EXTERNAL)
    assert vendor.args["api_key"] == "env:OPENAI_API_KEY"
    vendors = [each for each in deployments.values() if each.locality is Locality.EXTERNAL]
    assert all(each.prices.as_of for each in vendors if each.prices)
    assert deployments["huggingface/qwen2.5-7b-instruct"].engine == "vllm"
    assert deployments["canned/judge"].args == {"mode": "judge", "score": 3}
    for name in ("vllm/qwen2.5-7b-instruct", "ollama/qwen2.5-7b-instruct"):
        assert deployments[name].engine == "openai"
        assert deployments[name].locality is Locality.LOCAL
    assert {one.origin.rsplit("/", 1)[1] for one in deployments.values()} == {
        "model_deployments.yaml"
    }


@pytest.mark.parametrize(
    ("entry", "locality"),
    [
        ("engine: openai, client_spec: {args: {model: m}}", Locality.EXTERNAL),
        ("engine: openai", Locality.EXTERNAL),
        (
            "engine: openai, client_spec: {args: {base_url: 'http://127.0.0.1:1/v1'}}",
            Locality.LOCAL,
        ),
        ("engine: openai, client_spec: {args: {base_url: 'http://[::1]:1/v1'}}", Locality.LOCAL),
        (
            "engine: openai, client_spec: {args: {base_url: 'http://10.0.0.1/v1'}}",
            Locality.EXTERNAL,
        ),
        (
            "engine: openai, client_spec: {args: {base_url: 'http://localhost.evil.org/v1'}}",
            Locality.EXTERNAL,
        ),
        (
            "engine: openai, client_spec: {args: {azure: {endpoint: 'https://a.example.org'}}}",
            Locality.EXTERNAL,
        ),
        (
            "engine: openai, client_spec: {args: {base_url: 'http://127.0.0.1:1/v1',"
            " proxy: 'http://proxy.example.org:3128'}}",
            Locality.EXTERNAL,
        ),
        (
            "engine: openai, locality: tenant, client_spec: {args: {base_url: 'https://a.org'}}",
            Locality.TENANT,
        ),
        ("engine: vllm", Locality.LOCAL),
        ("engine: canned", Locality.LOCAL),
    ],
)
def test_locality_is_external_unless_it_provably_stays(write, entry: str, locality) -> None:
    site = _site(write, f"  - {{name: a/b, {entry}}}")
    assert load_site(site).deployments["a/b"].locality is locality


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "max_attempts: 2",
            "add engine: with one of canned, imported, llama_cpp, openai, vllm",
        ),
        ("engine: openai, locality: moon", "allowed: 'local', 'tenant', 'baa' or 'external'"),
        ("engine: openai, client_spec: {args: {base_url: localhost}}", "allowed: http(s)://HOST"),
        ("engine: canned, max_concurrency: 0", "max_concurrency is 0; allowed: a number above 0"),
        ("engine: canned, max_sequence_length: -1", "max_sequence_length is -1"),
        ("engine: canned, tokens_per_second: 0", "tokens_per_second is 0"),
        ("engine: canned, prices: {prompt: -1, completion: 1}", "allowed: numbers from 0"),
        (
            "engine: canned, prices: {prompt: 1, completion: 1, as_of: May 2026}",
            "prices.as_of is 'May 2026'; allowed: a day, as 2024-10-02",
        ),
        ("engine: canned, max_concurency: 3", "did you mean 'max_concurrency'?"),
        ("engine: canned, demo: yes", "demo is 'yes'; allowed: true or false"),
    ],
)
def test_bad_entries_name_file_and_deployment_or_key(write, entry: str, message: str) -> None:
    site = _site(write, f"  - {{name: a/b, {entry}}}")
    with pytest.raises(ConfigError) as caught:
        load_site(site)
    assert str(caught.value).startswith(str(site / "model_deployments.yaml"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("tgi", "unknown engine 'tgi'. Known: canned, imported, llama_cpp, openai, vllm."),
        ("llamacpp", "unknown engine 'llamacpp'. Did you mean 'llama_cpp'?"),
        ("ours", "Known: canned, imported, llama_cpp, openai, vllm. One of your own is loaded by"),
    ],
)
def test_an_unknown_engine_is_refused_only_when_used(write, engine: str, message: str) -> None:
    """So that a board of answers by a plug-in's engine needs no plug-in."""
    site = _site(write, f"  - {{name: a/b, engine: {engine}}}")
    with pytest.raises(ConfigError) as caught:
        load_site(site).resolve_model("a/b")
    where = f"{site / 'model_deployments.yaml'}: deployment 'a/b': "
    assert str(caught.value).startswith(where)
    assert message in str(caught.value)


@pytest.mark.parametrize("engine", ["openai", "ours"])
@pytest.mark.parametrize(
    "args",
    [
        "{api_key: sk-12345}",
        "{headers: {Authorization: Bearer sk-12345}}",
        "{headers: {api-key: sk-12345}}",
    ],
)
def test_a_written_out_key_is_refused_and_not_repeated(write, engine: str, args: str) -> None:
    site = _site(write, f"  - {{name: a/b, engine: {engine}, client_spec: {{args: {args}}}}}")
    with pytest.raises(ConfigError, match="env:NAME, file:PATH or secret:SCOPE/KEY") as caught:
        load_site(site)
    assert "sk-12345" not in str(caught.value)


PLANTED = "sk-planted-0123456789abcdef"


@pytest.mark.attack("secrets", "a key written out in headers, extra_body or an address")
@pytest.mark.parametrize(
    "args",
    [
        f"{{headers: {{x-unit: {PLANTED}}}}}",
        "{headers: {Ocp-Apim-Subscription-Key: planted}}",
        "{headers: {x-gateway-token: planted}}",
        "{headers: {Cookie: planted}}",
        "{headers: {x-unit: Bearer planted}}",
        "{headers: {x-unit: planted0123456789abcdef}}",
        "{headers: {x-auth: 12345678}}",
        f"{{extra_body: {{note: {PLANTED}}}}}",
        "{extra_body: {api_key: planted}}",
        "{extra_body: {api_key: 'env:A'}}",
        "{extra_body: {options: [{password: planted}]}}",
        f"{{model: {PLANTED}}}",
        "{proxy_login: 'me:planted'}",
        "{base_url: 'https://a.org/v1?key=planted'}",
        "{base_url: 'https://a.org/v1?code=planted0123456789abcdef'}",
        f"{{base_url: 'https://a.org/{PLANTED}/v1'}}",
        "{base_url: 'https://me:planted@a.org/v1'}",
        "{base_url: 'https:/me:planted@a.org/v1'}",
        "{base_url: 'https://[planted/v1'}",
        "{base_url: 'http://a.org/v1', proxy: 'http://me:planted@b.org:3128'}",
        "{azure: {endpoint: 'https://a.org?sig=planted', api_version: '1'}}",
        f"{{azure: {{endpoint: 'https://a.org', api_version: {PLANTED}}}}}",
    ],
)
def test_a_key_is_refused_wherever_it_stands(write, args: str) -> None:
    site = _site(write, f"  - {{name: a/b, engine: openai, client_spec: {{args: {args}}}}}")
    with pytest.raises(ConfigError) as caught:
        load_site(site)
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize(
    "args",
    [
        {"headers": {"Authorization": "Bearer planted"}},
        {"extra_body": {"api_key": "planted"}},
        {"base_url": "https://me:planted@a.org/v1"},
        {"base_url": "http://a.org/v1", "proxy": "http://me:planted@b.org:3128"},
        {"base_url": "file:///planted"},
    ],
)
@pytest.mark.attack("secrets", "a key written out in a deployment that a program makes")
def test_a_deployment_of_a_program_is_held_to_what_a_files_is(args: dict[str, Any]) -> None:
    deployment = Deployment(name="a/b", model="a/b", engine="openai", locality=None, args=args)
    with pytest.raises(ConfigError, match="deployment 'a/b'") as caught:
        load_site(deployments=[deployment])
    assert "file:" in str(caught.value) or "planted" not in str(caught.value)


@pytest.mark.parametrize(
    "args",
    [
        "{headers: {x-unit: cardiology-2, api-key: 'env:A', x-tenant: 'secret:llm/tenant'}}",
        "{extra_body: {stop_token_ids: [1, 2], prompt_cache_key: a, top_k: 20, add_special: true}}",
        "{extra_body: {chat_template_kwargs: {enable_thinking: false}}}",
        "{azure: {endpoint: 'https://a.org', api_version: 2026-01-01-preview}}",
        "{base_url: 'https://a.org/v1?api-version=2026-01-01', model: skywork-13b-hf_chat}",
        "{base_url: 'https://a.org/v1', proxy: 'http://b.org:3128', proxy_login: 'env:LOGIN'}",
    ],
)
def test_what_is_no_key_may_be_written_out(write, args: str) -> None:
    site = _site(write, f"  - {{name: a/b, engine: openai, client_spec: {{args: {args}}}}}")
    assert load_site(site).deployments["a/b"].engine == "openai"


@pytest.mark.attack("secrets", "a key where a mapping belongs")
@pytest.mark.parametrize(
    "keys",
    [
        "client_spec: planted",
        "client_spec: {args: planted}",
        "client_spec: [planted]",
        "client_spec: {args: [planted]}",
        "client_spec: {args: {headers: planted}}",
        "client_spec: {args: {extra_body: planted}}",
    ],
)
def test_a_key_in_place_of_a_mapping_is_not_repeated(write, keys: str) -> None:
    site = _site(write, f"  - {{name: a/b, engine: openai, {keys}}}")
    with pytest.raises(ConfigError) as caught:
        preflight(load_site(site).deployments["a/b"])
    assert "planted" not in str(caught.value)


def test_an_address_with_a_password_is_refused_and_not_repeated(write) -> None:
    args = "{base_url: 'https://user:sk-12345@a.org/v1'}"
    site = _site(write, f"  - {{name: a/b, engine: openai, client_spec: {{args: {args}}}}}")
    with pytest.raises(ConfigError, match="env:NAME, file:PATH or secret:SCOPE/KEY") as caught:
        load_site(site)
    assert "sk-12345" not in str(caught.value)


def test_a_deployment_given_twice_is_refused(write) -> None:
    site = _site(write, "  - {name: a/b, engine: canned}\n  - {name: a/b, engine: canned}")
    with pytest.raises(ConfigError, match="deployment 'a/b' is given twice"):
        load_site(site)


def test_hugging_face_clients_become_vllm(write) -> None:
    args = (
        "{pretrained_model_name_or_path: /models/x, torch_dtype: torch.bfloat16, revision: r1,"
        " apply_chat_template: true, device: cuda}"
    )
    tokenizers = (
        "tokenizer_configs:\n  - name: acme/tok\n    end_of_text_token: ''\n    tokenizer_spec:\n"
        "      {class_name: helm.X, args: {pretrained_model_name_or_path: /models/tok}}\n"
    )
    client = _helm("huggingface_client.HuggingFaceClient", args, "    tokenizer_name: acme/tok\n")
    site = _site(write, client, **{"tokenizer_configs.yaml": tokenizers})
    found = load_site(site).deployments["host/x"]
    assert (found.engine, found.locality, found.model) == ("vllm", Locality.LOCAL, "acme/x")
    assert found.max_request_length == 2048
    assert found.args == {
        "model": "/models/x",
        "dtype": "bfloat16",
        "revision": "r1",
        "api": "chat",
        "tokenizer": "/models/tok",
    }


def test_a_hugging_face_client_without_a_path_loads_the_models_name(write) -> None:
    site = _site(write, _helm("huggingface_client.HuggingFaceClient"))
    assert load_site(site).deployments["host/x"].args == {"model": "acme/x"}


LOOPBACK = "{base_url: 'http://127.0.0.1:8000/v1'}"


@pytest.mark.parametrize(
    ("class_name", "args", "expected", "locality"),
    [
        (
            "vllm_client.VLLMClient",
            LOOPBACK,
            {"api": "completions", "model": "acme/x", "base_url": "http://127.0.0.1:8000/v1"},
            Locality.LOCAL,
        ),
        (
            "vllm_client.VLLMChatClient",
            "{base_url: 'http://gpu.example.org/v1', vllm_model_name: served}",
            {"api": "chat", "model": "served", "base_url": "http://gpu.example.org/v1"},
            Locality.EXTERNAL,
        ),
        (
            "openai_client.OpenAIClient",
            "{openai_model_name: gpt-x, reasoning_effort: low, org_id: org-1}",
            {
                "api": "chat",
                "model": "gpt-x",
                "organization": "org-1",
                "extra_body": {"reasoning_effort": "low"},
                "reasoning": True,
                "api_key": "env:OPENAI_API_KEY",
            },
            Locality.EXTERNAL,
        ),
        (
            "openai_client.OpenAILegacyCompletionsClient",
            LOOPBACK,
            {"api": "completions", "model": "x", "base_url": "http://127.0.0.1:8000/v1"},
            Locality.LOCAL,
        ),
        (
            "openrouter_client.OpenRouterClient",
            "{base_url: 'https://router.example.org/v1'}",
            {"api": "chat", "model": "x", "base_url": "https://router.example.org/v1"},
            Locality.EXTERNAL,
        ),
    ],
)
def test_server_clients_become_openai(write, class_name, args, expected, locality) -> None:
    found = load_site(_site(write, _helm(class_name, args))).deployments["host/x"]
    assert found.engine == "openai"
    assert found.args == expected
    assert found.locality is locality


def test_the_file_may_state_the_locality_of_a_client(write) -> None:
    args = "{base_url: 'https://gpu.hospital.example/v1'}"
    text = _helm("vllm_client.VLLMChatClient", args, "    locality: tenant\n")
    assert load_site(_site(write, text)).deployments["host/x"].locality is Locality.TENANT


def test_credentials_give_key_and_address_by_reference(write) -> None:
    conf = 'hostApiKey: "sk-12345"\nhostBaseUrl: "https://gateway.example.org/v1"'
    text = _helm("openai_client.OpenAIClient")
    site = _site(write, text, **{"credentials.conf": conf})
    found = load_site(site).deployments["host/x"]
    assert found.args["base_url"] == "https://gateway.example.org/v1"
    assert found.args["api_key"] == f"credentials:{site / 'credentials.conf'}#hostApiKey"
    assert found.locality is Locality.EXTERNAL
    assert "sk-12345" not in repr(found)


@pytest.mark.parametrize(
    ("class_name", "args", "message"),
    [
        (
            "anthropic_client.AnthropicClient",
            "{}",
            "'helm.clients.anthropic_client.AnthropicClient' has no engine here; if an OpenAI-"
            "compatible server offers the model, write instead of its client_spec: "
            "`engine: openai`",
        ),
        ("grok_client.GrokChatClient", "{}", "add `base_url` to its args"),
        ("openai_client.OpenAIClient", "{output_processor: a.b}", "'output_processor' of helm"),
        ("huggingface_client.HuggingFaceClient", "{openvino: true}", "write the entry with `engin"),
        ("openai_client.OpenAIClient", "{api_key: sk-12345}", "api_key is written out"),
    ],
)
def test_what_has_no_engine_is_refused_only_when_used(write, class_name, args, message) -> None:
    site = _site(write, _helm(class_name, args))
    registry = load_site(site)
    assert "host/x" not in registry.deployments
    assert "host/x" in registry.refusals
    for names in ({"model_deployment": "host/x"}, {"model": "acme/x"}):
        with pytest.raises(ConfigError) as caught:
            registry.resolve_model(**names)
        start = f"{site / 'model_deployments.yaml'}: deployment 'host/x': "
        assert str(caught.value).startswith(start)
        assert message in str(caught.value)
        assert "sk-12345" not in str(caught.value)


def test_engine_wins_over_a_client_class(write) -> None:
    spec = "{class_name: helm.clients.anthropic_client.AnthropicClient, args: {mode: echo}}"
    site = _site(write, f"  - {{name: a/b, engine: canned, client_spec: {spec}}}")
    assert load_site(site).deployments["a/b"].args == {"mode": "echo"}


def test_what_a_failure_leads_to_is_configured_by_kind(write) -> None:
    site = _site(
        write,
        "  - {name: a/b, engine: canned, on_failure: {too_long: truncate, timeout: give_up},"
        " max_sequence_and_generated_tokens_length: 900}\n",
    )
    found = load_site(site).deployments["a/b"]
    assert found.action(FailureKind.TOO_LONG) is OnFailure.TRUNCATE
    assert found.action(FailureKind.TIMEOUT) is OnFailure.GIVE_UP
    assert found.action(FailureKind.ENGINE_ERROR) is OnFailure.RETRY
    assert found.window(100) == 800


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("{denied: retry}", r"on_failure\.denied is 'retry'; allowed: give_up\."),
        ("{timeout: truncate}", r"on_failure\.timeout is 'truncate'; allowed: retry, give_up\."),
        ("{timeout: sometimes}", "on_failure"),
        ("{slow: retry}", "on_failure"),
    ],
)
def test_an_impossible_action_is_refused(write, action: str, message: str) -> None:
    site = _site(write, f"  - {{name: a/b, engine: canned, on_failure: {action}}}\n")
    with pytest.raises(ConfigError, match=message):
        load_site(site)
