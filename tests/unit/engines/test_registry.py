"""ENGINES, those of plug-ins among them, preflight and the engines a process keeps."""

import multiprocessing
import os
from dataclasses import fields

import pytest

from medhelm_spark import plugins
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.network import Route
from medhelm_spark.engines import ENGINES, build_engine, factory_of, preflight
from medhelm_spark.engines.canned import CannedSettings
from medhelm_spark.engines.engine import IN_THIS_JOB, UNKNOWN
from medhelm_spark.engines.engine_pool import close_engines, engine_for
from medhelm_spark.engines.llama_cpp import LlamaCppSettings
from medhelm_spark.engines.openai_client import OpenAISettings
from medhelm_spark.errors import ConfigError, EngineError, SetupError, UnknownNameError
from medhelm_spark.medhelm.clients import CLIENTS
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.policy.allowlist import confined
from tests.spark.pages import page, write_files
from tests.unit.engines.nouns import REFUSED, allow, deployment, request


@pytest.fixture(autouse=True)
def clean_process():
    yield
    close_engines()


def test_the_names_of_engines():
    assert {"llama_cpp", "openai", "vllm", "canned", "imported"} <= set(ENGINES)


@pytest.mark.parametrize(
    ("engine", "settings"),
    [("canned", CannedSettings), ("llama_cpp", LlamaCppSettings), ("openai", OpenAISettings)],
)
def test_what_only_serves_is_an_argument_of_the_engine(engine, settings):
    assert ENGINES[engine].serving <= {field.name for field in fields(settings)}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The site of docs/plugins.md, with its engine loaded."""
    write_files(page("docs/plugins.md"), tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.activate(["hospital_engine"])
    yield tmp_path / "prod_env"
    plugins.activate()


@pytest.mark.attack("network", "an engine of a plug-in without destinations, called local")
def test_an_engine_of_a_plug_in_says_where_it_sends(site):
    rewriter = load_site(site).deployments["hospital/rewriter"]
    factory = factory_of(rewriter)
    assert factory.route(rewriter) == Route()
    assert factory.destination(rewriter) == IN_THIS_JOB
    module = site.parent / "hospital_engine" / "__init__.py"
    stated = module.read_text(encoding="utf-8")
    module.write_text(
        stated.replace(", destinations=Destinations.IN_PROCESS", ""), encoding="utf-8"
    )
    plugins.activate(["hospital_engine"])
    factory = factory_of(rewriter)
    assert factory.route(rewriter) == Route(is_known=False)
    assert factory.destination(rewriter) == UNKNOWN
    assert not confined(
        load_site().policy, AccessLevel.PRIVATE, rewriter, factory.route(rewriter)
    ).allowed


def test_the_packages_own_engines_all_say_where_they_send():
    assert all(factory.states_destinations for factory in ENGINES.values())


def test_a_site_names_an_engine_of_its_plug_in(site):
    rewriter = load_site(site).deployments["hospital/rewriter"]
    assert (rewriter.engine, rewriter.locality) == ("rewriter", Locality.LOCAL)
    preflight(rewriter)
    results = engine_for(rewriter).answer([request("Come in May.")], allow)
    assert [row.completions[0].text for row in results] == ["Come in May.\nWith kind Regards"]
    (refused,) = engine_for(rewriter).answer([request("Come in May.")], lambda item: REFUSED)
    assert not refused.is_answer
    plugins.activate()
    with pytest.raises(ConfigError, match="'hospital/rewriter': unknown engine 'rewriter'"):
        load_site(site).resolve_model("hospital/rewriter")


def test_an_engine_of_a_plug_in_is_external_unless_the_site_says_so(site):
    path = site / "model_deployments.yaml"
    path.write_text(path.read_text().replace("    locality: local\n", ""))
    assert load_site(site).deployments["hospital/rewriter"].locality is Locality.EXTERNAL


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("{close: Yours}", "unknown argument of engine 'rewriter' 'close'"),
        ("{words: x}", "args.words is of type str; allowed is dict"),
    ],
)
def test_an_engine_of_a_plug_in_checks_its_arguments(site, args, words):
    path = site / "model_deployments.yaml"
    path.write_text(path.read_text().replace("\n        closing: With kind Regards", f" {args}"))
    with pytest.raises(ConfigError, match=words):
        preflight(load_site(site).deployments["hospital/rewriter"])


def test_medhelms_clients_become_engines_that_exist():
    assert {client.engine for client in CLIENTS.values()} <= set(ENGINES)


def test_an_unknown_engine_is_refused_with_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"test/model.*'lama_cpp'.*Did you mean 'llama_cpp'"):
        preflight(deployment("lama_cpp"))


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (
            "vllm",
            "needs the package vllm, which is not installed here; install medhelm-spark[vllm]",
        ),
        ("imported", "cannot be asked"),
    ],
)
def test_engines_that_cannot_run_here_say_so_in_one_sentence(engine, words):
    for attempt in (preflight, build_engine, engine_for):
        with pytest.raises(SetupError) as caught:
            attempt(deployment(engine))
        assert words in str(caught.value)
        assert "test/model" in str(caught.value)


def test_preflight_names_a_missing_model_file(monkeypatch, tmp_path):
    monkeypatch.delenv("MEDHELM_SPARK_SMOLLM2", raising=False)
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path))
    with pytest.raises(SetupError, match="medhelm-spark fetch-model"):
        preflight(deployment("llama_cpp"))
    with pytest.raises(SetupError, match=r"absent\.gguf"):
        preflight(deployment("llama_cpp", path=str(tmp_path / "absent.gguf")))


def test_preflight_names_a_missing_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SetupError, match="env:OPENAI_API_KEY"):
        preflight(deployment("openai", model="gpt-4o", api_key="env:OPENAI_API_KEY"))
    with pytest.raises(SetupError, match=r"args\.api_key is missing"):
        preflight(deployment("openai", model="gpt-4o"))
    with pytest.raises(SetupError, match=r"args\.headers\.x-api-key: no key found for env:ABSENT"):
        preflight(deployment("openai", base_url="http://h/v1", headers={"x-api-key": "env:ABSENT"}))


def test_preflight_passes_where_nothing_is_missing(monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-x")
    preflight(deployment("canned"))
    preflight(deployment("openai", base_url="http://localhost:8000/v1"))
    preflight(deployment("openai", model="gpt-4o", api_key="env:A_KEY"))


def test_a_file_that_is_no_model_is_one_sentence(tmp_path):
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF" + bytes(64))
    with pytest.raises(EngineError, match=r"could not load the model file .*broken\.gguf"):
        build_engine(deployment("llama_cpp", path=str(file)))


def test_weights_other_than_promised_are_refused(tmp_path):
    file = tmp_path / "other.gguf"
    file.write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    with pytest.raises(EngineError, match=f"has sha256 {empty}; args.weights_sha256 promises ff"):
        build_engine(deployment("llama_cpp", path=str(file), weights_sha256="ff"))


def test_a_process_keeps_its_engine_until_the_configuration_differs():
    first = engine_for(deployment("canned", text="A"))
    assert engine_for(deployment("canned", text="A")) is first
    assert engine_for(deployment("canned", text="B")) is not first
    assert engine_for(deployment("canned", text="A")) is first
    assert engine_for(deployment("canned", text="A"), max_in_flight=3) is not first
    close_engines()
    assert engine_for(deployment("canned", text="A")) is not first


def _engine_of_child(queue):
    engine = engine_for(deployment("canned"))
    queue.put((os.getpid(), id(engine)))


def test_a_forked_child_builds_its_own_engine():
    parent = engine_for(deployment("canned"))
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_engine_of_child, args=(queue,))
    child.start()
    pid, identity = queue.get()
    child.join()
    assert pid != os.getpid()
    assert identity != id(parent)
