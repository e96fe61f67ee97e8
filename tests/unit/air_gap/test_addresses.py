"""The list of addresses: what the site's files name, and nothing that only ships."""

from pathlib import Path

import pytest
import yaml

from medhelm_spark.air_gap.addresses import by_hand, derived
from medhelm_spark.workspace.workspace import Workspace

SERVER = {
    "name": "ward/gpt",
    "model_name": "ward/gpt",
    "engine": "openai",
    "locality": "tenant",
    "client_spec": {
        "args": {
            "model": "x",
            "base_url": "https://LLM.ward.example:8443/v1",
            "api_key": {"token_url": "https://login.ward.example/token", "client_id": "env:A"},
        }
    },
}


def workspace(folder: Path, settings: dict[str, object]) -> Workspace:
    deployments = yaml.safe_dump({"model_deployments": [SERVER]})
    (folder / "model_deployments.yaml").write_text(deployments)
    (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
    return Workspace(str(folder / "lake"), folder)


def test_the_servers_of_the_sites_files_are_listed(tmp_path: Path) -> None:
    spark = {"spark.master": "spark://head.example:7077"}
    settings = {"tracking_uri": "https://u:p@mlflow.example", "spark": spark}
    listed = [str(each) for each in derived(workspace(tmp_path, settings))]
    assert listed == [
        "head.example:7077 (Spark)",
        "llm.ward.example:8443 (model ward/gpt)",
        "login.ward.example:443 (key of ward/gpt)",
        "mlflow.example:443 (MLflow)",
    ]


def test_what_only_ships_is_not_listed(tmp_path: Path) -> None:
    assert derived(Workspace(str(tmp_path), None)) == ()


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("huggingface.co", ("huggingface.co", 443)),
        ("10.0.0.7:5000", ("10.0.0.7", 5000)),
        ("https://hub.example/models", ("hub.example", 443)),
        ("[2001:db8::1]:80", ("2001:db8::1", 80)),
    ],
)
def test_addresses_as_they_are_typed(typed: str, address: tuple[str, int]) -> None:
    assert list(by_hand([typed])) == [address]
