"""A suite's runs on their way into HELM's files."""

from dataclasses import dataclass

from medhelm_spark.domain.request import Annotation, PlannedRequest, Prompt, RequestResult
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.stats import PerInstanceStats


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedState:
    """One request with all that HELM's `scenario_state.json` says of it; None: it is not stored."""

    instance: Instance
    request: PlannedRequest
    prompt: Prompt | None
    result: RequestResult | None
    annotations: tuple[Annotation, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedStats:
    """The values of one instance; `source_id` is HELM's own id of it where it was imported."""

    source_id: str
    stats: PerInstanceStats


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One item of a list in a JSON file, as text."""

    text: str
