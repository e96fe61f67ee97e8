"""Models that no file lists, in run entries: their deployments, run names and localities."""

from pathlib import Path

import pytest
import yaml

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import BY_NAME, Deployment, Locality
from medhelm_spark.domain.policy import Decision
from medhelm_spark.engines import factory_of
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.policy.allowlist import confined
from tests.unit.runs import expand_one

LLAMA = "ollama/llama3.1:8b"
SERVED = "vllm/Org/M@http://gpu1.example.org:8000/v1"


def decided(registry: Registry, deployment: Deployment, level: AccessLevel) -> Decision:
    route = factory_of(deployment).route(deployment)
    return confined(registry.policy, level, deployment, route)


@pytest.mark.parametrize(
    ("name", "run_name", "locality"),
    [
        (LLAMA, "pubmed_qa:model=ollama_llama3.1:8b", Locality.LOCAL),
        (
            SERVED,
            "pubmed_qa:model=vllm_Org_M@http:__gpu1.example.org:8000_v1",
            Locality.EXTERNAL,
        ),
        (
            "openai/m@http://localhost.evil.org/v1",
            "pubmed_qa:model=openai_m@http:__localhost.evil.org_v1",
            Locality.EXTERNAL,
        ),
    ],
)
def test_a_name_is_a_model_and_a_deployment(
    shipped: Registry, name: str, run_name: str, locality: Locality
) -> None:
    run = expand_one(shipped, f"pubmed_qa:model={name}")
    model = run.deployment
    assert (run.name, model.name, model.model) == (run_name, name, name)
    assert (model.locality, model.is_locality_stated, model.origin) == (locality, False, BY_NAME)
    assert expand_one(shipped, "pubmed_qa", models_to_run=[name]).name == run_name
    assert expand_one(shipped, f"pubmed_qa:model_deployment={name}").deployment == model
    assert shipped.deployment(name) == model


def test_a_deployment_of_a_file_wins(shipped: Registry, write) -> None:  # type: ignore[no-untyped-def]
    ours = expand_one(shipped, "pubmed_qa:model=vllm/qwen2.5-7b-instruct").deployment
    assert ours == shipped.deployments["vllm/qwen2.5-7b-instruct"]
    text = f"model_deployments: [{{name: '{LLAMA}', engine: canned}}]"
    path = write("site/model_deployments.yaml", text)
    assert (
        expand_one(load_site(path.parent), f"pubmed_qa:model={LLAMA}").deployment.engine == "canned"
    )


@pytest.mark.attack("network", "a model that a name alone says how to reach")
@pytest.mark.parametrize("name", [LLAMA, SERVED])
def test_private_text_needs_the_lines_that_the_refusal_names(
    shipped: Registry,
    write,  # type: ignore[no-untyped-def]
    name: str,
) -> None:
    model = expand_one(shipped, f"pubmed_qa:model={name}").deployment
    assert decided(shipped, model, AccessLevel.PUBLIC).allowed
    for level in (AccessLevel.GATED, AccessLevel.PRIVATE):
        refused = decided(shipped, model, level)
        assert not refused.allowed
        assert "does not state where its model runs" in refused.rule
    line = refused.rule[refused.rule.index("- {name:") :]
    assert yaml.safe_load(line)[0]["locality"] == "PLACE"
    text = f"model_deployments:\n{line.replace('PLACE', 'local')}\n"
    site = load_site(write("site/model_deployments.yaml", text).parent)
    listed = expand_one(site, f"pubmed_qa:model={name}").deployment
    assert (listed.is_locality_stated, listed.identity) == (True, model.identity)
    assert decided(site, listed, AccessLevel.PRIVATE).allowed


def test_weights_of_a_folder_run_in_this_job(shipped: Registry, tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"")
    model = expand_one(shipped, f"pubmed_qa:model=hf/{tmp_path}").deployment
    assert (model.engine, model.locality, model.is_locality_stated) == (
        "llama_cpp",
        Locality.LOCAL,
        True,
    )
    assert decided(shipped, model, AccessLevel.PRIVATE).allowed


@pytest.mark.attack("secrets", "a login in the address of a model's name")
@pytest.mark.parametrize(
    "name",
    [
        "vllm/m@http://me:planted@h/v1",
        "openai/m@https://planted@h/v1",
        "unknown/m@http://me:planted@h/v1",
        "vllm/m@https://h/sk-planted-0123456789abcdef/v1",
        "vllm/m@https://h/v1?key=planted",
        "vllm/m@me:planted@h",
    ],
)
def test_a_login_or_key_in_an_address_is_refused_and_not_repeated(
    shipped: Registry, name: str
) -> None:
    for key in ("model", "model_deployment"):
        with pytest.raises(ConfigError) as caught:
            expand_one(shipped, f"pubmed_qa:{key}={name}")
        assert "planted" not in str(caught.value)


def test_an_unknown_name_is_told_what_works_without_a_file(shipped: Registry) -> None:
    with pytest.raises(ConfigError, match=r"unknown model 'llama3.1:8b'.* Without a file: ollama/"):
        expand_one(shipped, "pubmed_qa:model=llama3.1:8b")
