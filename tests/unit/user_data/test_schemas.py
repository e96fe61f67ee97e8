"""JSON Schemas of a site's files: current, shipped, and true of the files that are shipped."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.yaml_text import parse_yaml
from medhelm_spark.user_data.schemas import BENCHMARK, FILES, schema_of, shipped_schema

CONF = conf_path()
SHIPPED = {
    "model_deployments": [CONF / "model_deployments.yaml"],
    "model_metadata": [CONF / "model_metadata.yaml"],
    "policy": [CONF / "policy.yaml"],
    "suite": sorted(CONF.glob("suites/*.yaml")),
    BENCHMARK: sorted(CONF.glob("demos/**/benchmark.yaml")),
}


def errors(name: str, document: Any) -> list[str]:
    validator = Draft202012Validator(json.loads(schema_of(name)))
    return [error.message for error in validator.iter_errors(document)]


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_shipped_schemas_are_of_the_classes_that_files_are_read_into(name: str) -> None:
    made = schema_of(name)
    assert shipped_schema(name).read_text("utf-8") == made, (
        "run: python -m medhelm_spark.user_data.schemas"
    )
    Draft202012Validator.check_schema(json.loads(made))


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_shipped_files_follow_them(name: str) -> None:
    assert SHIPPED[name], f"no {name} is shipped"
    for path in SHIPPED[name]:
        assert errors(name, parse_yaml(path.read_text("utf-8"), path.name)) == [], path


def test_a_mistyped_key_and_a_wrong_type_are_errors_in_an_editor() -> None:
    written = {
        "name": "own",
        "description": "d",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "metrics": [{"name": "exact_match"}],
        "answer_extraction": "choice",
        "sampling": {"count": 5},
    }
    assert errors(BENCHMARK, written) == []
    (message,) = errors(BENCHMARK, {**written, "max_token": 5})
    assert "max_token" in message
    (message,) = errors(BENCHMARK, {**written, "max_tokens": "many"})
    assert "'many' is not of type 'integer'" in message
