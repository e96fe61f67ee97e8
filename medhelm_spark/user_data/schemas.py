"""JSON Schemas of a site's YAML files, by which editors complete and check them.

They are made of the classes that the files are read into, and shipped in `conf/schemas`:

    python -m medhelm_spark.user_data.schemas

What values have to do with each other is checked when a file is read. A key that has a short form
takes any value in its schema.
"""

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

from medhelm_spark.config.benchmark_file import BenchmarkFile
from medhelm_spark.config.deployments import DeploymentsFile
from medhelm_spark.config.loader import json_schema
from medhelm_spark.config.models import ModelsFile
from medhelm_spark.config.policy import PolicyFile
from medhelm_spark.config.resources import conf_path
from medhelm_spark.medhelm.suites import SuiteFile

BENCHMARK = "benchmark"
FILES = MappingProxyType(
    {
        BENCHMARK: BenchmarkFile,
        "model_deployments": DeploymentsFile,
        "model_metadata": ModelsFile,
        "policy": PolicyFile,
        "suite": SuiteFile,
    }
)
"""By the name of the file without its ending; a suite's file has the suite's name."""

SHORT_FORMS = frozenset({"answer_extraction", "networks", "sampling", "sources"})
"""The keys of FILES that have a short form."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS = "schemas"


def schema_file(name: str) -> str:
    """The name of a file's schema: it is beside the file, or in `conf/schemas`."""
    return f"{name}.schema.json"


def schema_of(name: str) -> str:
    """The schema of a file of FILES, as JSON."""
    of_type = FILES[name]
    made = json_schema(of_type)
    properties: dict[str, Any] = made["$defs"][of_type.__name__]["properties"]
    for key in SHORT_FORMS & properties.keys():
        properties[key] = {"anyOf": [properties[key], {}]}
    document = {"$schema": DIALECT, "title": f"{name}.yaml", **made}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def shipped_schema(name: str) -> Path:
    """Where the schema of a file is shipped."""
    return conf_path(SCHEMAS, schema_file(name))


def names_schema(text: str, name: str) -> str:
    """A file with a first line by which editors find the schema beside it."""
    return f"# yaml-language-server: $schema={schema_file(name)}\n{text}"


if __name__ == "__main__":
    for each in FILES:
        (conf_path(SCHEMAS) / schema_file(each)).write_text(schema_of(each), encoding="utf-8")
