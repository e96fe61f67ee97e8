"""Model, Deployment, Locality and Judge: what can be asked, and where it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.key_source import MOST_RENEWALS
from medhelm_spark.domain.request import FailureKind


class OnFailure(StrEnum):
    """What a failure of one kind leads to.

    retry: asked again within `max_attempts`, and anew by every later run; give_up: settled at
    once, until --retry-failed; truncate: a prompt is made to fit beforehand, as MedHELM does
    (`adaptation.fit`).
    """

    RETRY = "retry"
    GIVE_UP = "give_up"
    TRUNCATE = "truncate"


CHOICES: Mapping[FailureKind, tuple[OnFailure, ...]] = {
    FailureKind.TOO_LONG: (OnFailure.GIVE_UP, OnFailure.TRUNCATE),
    FailureKind.DENIED: (OnFailure.GIVE_UP,),
    FailureKind.ENGINE_ERROR: (OnFailure.RETRY, OnFailure.GIVE_UP),
    FailureKind.TIMEOUT: (OnFailure.RETRY, OnFailure.GIVE_UP),
    FailureKind.UNREACHABLE: (OnFailure.RETRY, OnFailure.GIVE_UP),
    FailureKind.INVALID_REQUEST: (OnFailure.GIVE_UP,),
    FailureKind.INVALID_REPLY: (OnFailure.GIVE_UP,),
    FailureKind.REJECTED: (OnFailure.RETRY,),
}
"""What may be done about each kind of failure; what is done unless configured comes first."""

LEAST_FAILURES_IN_A_ROW = 4


class Locality(StrEnum):
    """Where a deployment runs, seen from the cluster that has the data.

    local: inside this job's own machines; tenant: the institution's own cloud tenant or network;
    baa: a vendor under a business associate agreement; external: anyone else.
    """

    LOCAL = "local"
    TENANT = "tenant"
    BAA = "baa"
    EXTERNAL = "external"


UNKNOWN = "unknown"
"""How tables show the locality of answers from a file where nobody stated one; none is listed."""

BY_NAME = "its name"
"""The origin of a deployment that no file lists: its name alone defines it."""


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
class Prices:
    """What a million tokens cost."""

    prompt: float
    completion: float
    as_of: str | None = None
    """The day of which the prices are known, as `2024-10-02`: a list price may have changed since.
    None for a site's own, which it answers for."""
    currency: str | None = None
    """As the site writes it, `USD`; None where it does not say."""


def _above_zero(default: int | None = None) -> Any:
    """The default of a field that a file may only give a number above 0."""
    return field(default=default, metadata={"is_above_zero": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedDeployment:
    """The fields of a deployment that are as a file states them."""

    name: str
    tokenizer_name: str | None = None
    max_sequence_length: int | None = _above_zero()
    max_request_length: int | None = _above_zero()
    max_sequence_and_generated_tokens_length: int | None = None
    deprecated: bool = False
    on_failure: Mapping[FailureKind, OnFailure] = field(default_factory=dict)
    """What differs from the first of `CHOICES`."""
    max_concurrency: int = _above_zero(16)
    max_attempts: int = _above_zero(5)
    """The most tries of a request within one run."""
    max_failures_in_a_row: int | None = _above_zero()
    """After so many requests that failed for infrastructure the run stops asking."""
    tokens_per_second: float | None = _above_zero()
    """An estimate per slot, used for the time left only."""
    prices: Prices | None = None
    demo: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment(StatedDeployment):
    """One way to reach a model."""

    model: str
    engine: str
    """An entry of `engines.ENGINES`, which `args` configure."""
    locality: Locality | None
    """None where nobody stated it, of answers from a file: no policy can list that."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """Never contain a secret: a key is given by reference (`env:NAME`, `secret:SCOPE/NAME`)."""
    serving: frozenset[str] = frozenset()
    """The arguments that the engine declares as being of where and how fast, not of what is
    answered: a moved server asks nothing again."""
    origin: str = ""
    is_locality_stated: bool = True
    """False where nobody stated where it runs and `locality` is a guess."""
    is_locality_attested: bool = False
    """Whether a person stated it with the command, and no file."""

    def action(self, kind: FailureKind) -> OnFailure:
        """What a failure of this kind leads to."""
        return self.on_failure.get(kind, CHOICES[kind][0])

    @property
    def not_retried(self) -> frozenset[FailureKind]:
        """The kinds of failure after which a request is not asked again."""
        return frozenset(kind for kind in FailureKind if self.action(kind) is not OnFailure.RETRY)

    @property
    def most_sends(self) -> int:
        """How often one run may send a request: its tries, and again with keys that are renewed."""
        key = self.args.get("api_key") or "env:"
        is_fixed = isinstance(key, str) and key.startswith("env:")
        return self.max_attempts + (0 if is_fixed else MOST_RENEWALS)

    @property
    def failures_in_a_row(self) -> int:
        """How many failures in a row are an outage: by default all that is open at once, twice."""
        twice = max(LEAST_FAILURES_IN_A_ROW, 2 * self.max_concurrency)
        return self.max_failures_in_a_row or twice

    def window(self, max_tokens: int) -> int | None:
        """Tokens that a prompt may have beside an answer of `max_tokens`; None without a limit."""
        total = (self.max_request_length, self.max_sequence_and_generated_tokens_length)
        limits = [self.max_sequence_length, *(limit and limit - max_tokens for limit in total)]
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def identity(self) -> str:
        """Hash of what decides the answer: name, model, engine and all but the serving arguments.

        Part of every request_id. An argument that the engine does not declare as serving counts as
        deciding: asking again is safe, reusing another model's answer is not.
        """
        deciding = {key: value for key, value in self.args.items() if key not in self.serving}
        return content_id(self.name, self.model, self.engine, deciding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One member of a jury; `name` is the key of its annotations, as in HELM."""

    name: str
    model: str
    model_deployment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Jury:
    """An ordered set of judges; `validated` is whether clinicians checked it (default: no)."""

    name: str
    judges: tuple[Judge, ...]
    validated: bool = False
