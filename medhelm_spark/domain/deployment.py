"""Model, Deployment, Locality and Judge: what can be asked, and where it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from medhelm_spark.domain.ids import content_id


class Locality(StrEnum):
    """Where a deployment runs, seen from the cluster that holds the data.

    local: inside this job's own machines; tenant: the institution's own cloud tenant or network;
    baa: a vendor under a business associate agreement; external: anyone else.
    """

    LOCAL = "local"
    TENANT = "tenant"
    BAA = "baa"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model's metadata, HELM's `model_metadata.yaml`."""

    name: str
    display_name: str = ""
    description: str = ""
    creator_organization: str = ""
    access: str = ""
    release_date: str | None = None
    num_parameters: int | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One way to reach a model. `engine` names an entry of `engines.ENGINES`, `args` configure it.

    `args` never hold a secret: a key is given by reference (`env:NAME`, `secret:SCOPE/NAME`).
    `tokens_per_second` is an estimate per slot, used for wave sizes and time left only.
    """

    name: str
    model: str
    engine: str
    locality: Locality
    args: Mapping[str, Any] = field(default_factory=dict)
    tokenizer_name: str | None = None
    max_sequence_length: int | None = None
    max_request_length: int | None = None
    max_concurrency: int = 16
    max_attempts: int = 5
    tokens_per_second: float | None = None
    demo: bool = False
    deprecated: bool = False
    origin: str = ""

    @property
    def identity(self) -> str:
        """Hash of what decides the answer: name, model, engine, weights, quantisation, adapter.

        Part of every request_id. Serving details (URL, concurrency, device) are left out, so a
        moved server does not ask everything again.
        """
        keys = (
            "api",
            "revision",
            "quantization",
            "dtype",
            "adapter",
            "weights_sha256",
            "chat_template",
        )
        deciding = {key: self.args[key] for key in keys if key in self.args}
        return content_id(self.name, self.model, self.engine, deciding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One member of a jury; `name` is the key of its annotations, as in HELM."""

    name: str
    model: str
    model_deployment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Jury:
    """An ordered set of judges; `validated` says whether clinicians checked it (default: no)."""

    name: str
    judges: tuple[Judge, ...]
    validated: bool = False
