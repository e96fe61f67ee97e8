"""`model_metadata.yaml` and `tokenizer_configs.yaml`, as MedHELM writes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.config.deployments import ClientSpec
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.deployment import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelEntry:
    name: str
    display_name: str = ""
    description: str = ""
    creator_organization_name: str = ""
    access: str = ""
    release_date: str | None = None
    num_parameters: float | None = None
    tags: tuple[str, ...] = ()
    deployment_names: tuple[str, ...] | None = None
    release: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsFile:
    """`model_metadata.yaml`."""

    models: tuple[_ModelEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _TokenizerEntry:
    name: str
    tokenizer_spec: ClientSpec | None = None
    end_of_text_token: str | None = None
    prefix_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TokenizersFile:
    tokenizer_configs: tuple[_TokenizerEntry, ...]


def load_models(path: Path) -> tuple[Model, ...]:
    """Reads model metadata; the order of the file is the order of display."""
    return tuple(_model(entry) for entry in load_yaml(path, ModelsFile).models)


def _model(entry: _ModelEntry) -> Model:
    return Model(
        name=entry.name,
        display_name=entry.display_name or entry.name,
        description=entry.description,
        creator_organization=entry.creator_organization_name or entry.name.partition("/")[0],
        access=entry.access,
        release_date=entry.release_date,
        num_parameters=None if entry.num_parameters is None else int(entry.num_parameters),
        tags=entry.tags,
    )


def load_tokenizers(path: Path) -> Mapping[str, str]:
    """Where each tokenizer's files are: its name to a folder or a hub name. Absent file: none."""
    if not path.is_file():
        return {}
    entries = load_yaml(path, _TokenizersFile).tokenizer_configs
    folders = {entry.name: _folder(entry.tokenizer_spec) for entry in entries}
    return {name: folder for name, folder in folders.items() if folder}


def _folder(spec: ClientSpec | None) -> str | None:
    folder = spec.args.get("pretrained_model_name_or_path") if spec else None
    return str(folder) if folder else None
