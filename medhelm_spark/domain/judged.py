"""JudgedInstance: what a judge gets beside the answer to a request."""

from collections.abc import Mapping
from dataclasses import dataclass

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.scenario import Message, Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedInstance:
    """The instance that a request is about, for one annotator of one RunSpec.

    `subject_id` names the answer together with its instance, as the prompts to judges do.
    """

    request_id: str
    run_spec_id: str
    annotator: str
    subject_id: str
    question: str
    messages: tuple[Message, ...]
    references: tuple[Reference, ...]
    extra_data: Mapping[str, str]
    access_level: AccessLevel
