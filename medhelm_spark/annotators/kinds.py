"""`ANNOTATORS`, the kinds of rubrics, by the name that a rubric gives as its `kind`.

Each is declared in the mapping `ANNOTATORS` of a module of this folder.
"""

from collections.abc import Mapping

from medhelm_spark.annotators.annotator import Annotator
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.ids import content_id
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.plugins import PluginRegistry

ANNOTATORS: Mapping[str, Annotator] = PluginRegistry(
    "ANNOTATORS", Annotator, "medhelm_spark.annotators"
)


def kind_of(rubric: Rubric) -> Annotator:
    """The annotator that applies a rubric.

    Raises:
        UnknownNameError: there is no annotator of the rubric's kind.
    """
    if rubric.kind not in ANNOTATORS:
        raise UnknownNameError("kind", rubric.kind, ANNOTATORS, where=f"rubric {rubric.name!r}")
    return ANNOTATORS[rubric.kind]


def version_of(rubric: Rubric) -> str:
    """Changes with the rubric and with the annotator that applies it."""
    version = kind_of(rubric).version
    return content_id(rubric.version, version) if version else rubric.version
