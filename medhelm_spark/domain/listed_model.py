"""ListedModel: what is known of a deployment before a run asks it anything."""

from dataclasses import dataclass

from medhelm_spark.domain.deployment import Prices


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """A deployment as `models` lists it.

    `locality` is where it runs; `is_locality_stated` is False where that is a guess, which lets
    public text alone go there. `destination` is the server's host and port, or `this job`. `origin`
    is the file that lists it, `its name` for a name that itself defines how it is reached. `key` is
    whether the keys that it refers to are set on this machine; `lacks` why it cannot be asked from
    here, empty where nothing is known to be missing. `answers` is None where it was not asked;
    `seconds` and tokens are those of the one question, and `failure` says why there is no answer.
    `memory` is, with a check, what a model of this job needs of memory, and whether this machine
    has it.
    """

    name: str
    model: str
    engine: str
    locality: str
    is_locality_stated: bool
    destination: str
    origin: str
    prices: Prices | None = None
    key: str = ""
    demo: bool = False
    lacks: str = ""
    answers: bool | None = None
    failure: str = ""
    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    memory: str = ""
