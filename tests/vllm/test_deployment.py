"""What a deployment adds to a model: an adapter, arguments of the template, a reasoning parser."""

import json
import logging
from pathlib import Path

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines import build_engine, preflight
from medhelm_spark.engines.vllm_reasoning import Reasoning
from medhelm_spark.errors import EngineError
from tests.unit.engines.nouns import allow, conversation
from tests.vllm.nouns import questions, small

TEMPLATE = (
    "{% if messages[0]['role'] == 'assistant' %}"
    "{{ raise_exception('not this: ' + messages[0]['content']) }}{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m['role'] }} {{ tone }}\n{{ m['content'] }}<|im_end|>\n"
    "{% endfor %}<|im_start|>assistant\n"
)
RANK = 4


def adapter(folder: Path, model: str) -> Path:
    """An adapter that changes what the model answers: large numbers in the first layer."""
    import torch
    from safetensors.torch import save_file

    config = json.loads((Path(model) / "config.json").read_text())
    hidden = config["hidden_size"]
    torch.manual_seed(0)
    name = "base_model.model.model.layers.0.self_attn.o_proj"
    tensors = {
        f"{name}.lora_A.weight": torch.randn(RANK, hidden),
        f"{name}.lora_B.weight": torch.randn(hidden, RANK),
    }
    folder.mkdir()
    save_file(tensors, folder / "adapter_model.safetensors")
    settings = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "",
        "r": RANK,
        "lora_alpha": RANK,
        "target_modules": ["o_proj"],
        "bias": "none",
    }
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture(scope="module")
def ward_deployment(model, tmp_path_factory):
    return small(
        model,
        lora=str(adapter(tmp_path_factory.mktemp("adapters") / "ward", model)),
        chat_template=TEMPLATE,
        chat_template_kwargs={"tone": "kind"},
        reasoning_parser="granite",
        performance_mode="throughput",
    )


@pytest.fixture(scope="module")
def engine(ward_deployment):
    preflight(ward_deployment)
    built = build_engine(ward_deployment)
    yield built
    built.close()


def ask(engine, *requests):
    found = {result.request_id: result for result in engine.answer(requests, allow)}
    return [found[one.request_id] for one in requests]


def test_every_answer_is_the_adapters(engine):
    prompts = questions(4, max_tokens=8)
    ours = ask(engine, *prompts)
    adapted, engine._lora = engine._lora, None
    plain = ask(engine, *prompts)
    engine._lora = adapted
    texts = [[one.completions[0].text for one in found] for found in (ours, plain)]
    assert all(a != b for a, b in zip(*texts, strict=True))
    assert [one.completions[0].text for one in ask(engine, *prompts)] == texts[0]


def test_the_fingerprint_says_adapter_template_and_parser(engine):
    fingerprint = json.loads(engine.fingerprint)
    assert len(fingerprint["lora_sha256"]) == 64
    assert fingerprint["chat_template_kwargs"] == {"tone": "kind"}
    assert fingerprint["reasoning_parser"] == "granite"


@pytest.mark.parametrize("content", ["Fever?", "Fever <|im_end|> of a marker?"])
def test_the_template_is_given_the_deployments_arguments(engine, monkeypatch, content):
    """Both where vLLM renders and where markers in the text are kept apart."""
    sent = []
    process = engine._llm.llm_engine.add_request

    def add(request_id, prompt, *args, **kwargs):
        sent.append(prompt)
        return process(request_id, prompt, *args, **kwargs)

    monkeypatch.setattr(engine._llm.llm_engine, "add_request", add)
    (found,) = ask(engine, conversation(("user", content)))
    assert found.is_answer
    (prompt,) = sent
    tokenizer = engine._llm.get_tokenizer()
    assert "user kind\nFever" in tokenizer.decode(prompt["prompt_token_ids"])


@pytest.mark.parametrize("content", ["PLANTED", "<|im_end|> PLANTED"])
def test_what_the_template_refuses_is_a_row_and_in_no_log(engine, caplog, capfd, content):
    caplog.set_level(logging.DEBUG)
    (found,) = ask(engine, conversation(("assistant", content)))
    assert (found.failure, found.reason) == (FailureKind.INVALID_REQUEST, None)
    output = capfd.readouterr()
    assert "PLANTED" not in output.out + output.err + caplog.text


def test_thinking_is_split_by_vllms_own_parser(engine):
    written = "Here is my thought process: A rash. Here is my response: Yes"
    reply = engine._reasoning.split(written, [1])
    assert (reply.text.strip(), reply.thinking.strip()) == ("Yes", "A rash.")
    assert engine._reasoning.split("Yes", [1]).text == "Yes"


def test_a_parser_that_only_finds_the_end_leaves_the_text(engine):
    parser = Reasoning("openai_gptoss", engine._llm, {})
    assert parser.split("<|channel|>analysis", [1]).text == "<|channel|>analysis"


@pytest.mark.parametrize("name", ["none_such", "deepseek_r1"])
def test_a_parser_that_does_not_fit_the_model_is_told_at_the_start(engine, name):
    with pytest.raises(EngineError, match=f"'{name}' does not fit this model"):
        Reasoning(name, engine._llm, {})


def test_another_adapter_than_promised_is_refused(ward_deployment):
    from dataclasses import replace

    with pytest.raises(EngineError, match=r"args\.lora_sha256 promises ff"):
        build_engine(replace(ward_deployment, args={**ward_deployment.args, "lora_sha256": "ff"}))
