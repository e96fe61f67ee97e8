"""What has to be equal before the means of two runs may be compared, part by part.

Every function returns the text of one part: words that a person can read, and the first characters
of a content id for what is too long.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod, RunSpec

DATA = "data"
"""The instances that were drawn, with their references: their data version and the draw."""

PROMPT = "prompt"
"""How instances became prompts and how answers were decoded: the adapter and prompt variants."""

EXTRACTION = "extraction"
"""How answers were read: the declared method and the version of the code that reads."""

METRIC = "metric"
"""The metric behind the stat: its name, arguments and version."""

JURY = "jury"
"""The judges, the rubric's text and the rule for incomplete juries; empty where none judges."""

ORIGIN = "origin"
"""`native` for answers that this system asked for, `imported` for answers made elsewhere,
or both."""

PARTS = (DATA, PROMPT, EXTRACTION, METRIC, JURY, ORIGIN)
"""The keys of `Stat.comparability`, in the order in which differences are named to a person."""

UNKNOWN = "unknown"
"""A part that was not noted when the scores were written: the lake is older than it."""

NATIVE, IMPORTED, MIXED = "native", "imported", "native and imported"
"""The values of `ORIGIN`."""

SHORT = 8
NEVER_ZERO = 1e-4
"""The temperature that replaces 0 where a model's interface refuses 0, as in HELM."""


def _short(*parts: object) -> str:
    return content_id(*parts)[:SHORT]


def data_part(spec: RunSpec, num_instances: int, instances: str) -> str:
    """Which instances were drawn: `n=24 1f0c9a7d`.

    An instance's id covers its content, references and all, so that `instances`, a digest of the
    ids, changes with a corrected label. With train rows in the prompt the data version counts too.
    """
    train = spec.data_version if spec.adapter_spec.max_train_instances else ""
    return f"n={num_instances} {_short(spec.scenario_name, num_instances, instances, train)}"


def prompt_part(spec: RunSpec, *, is_changed: bool = False) -> str:
    """How the instances are asked; with `is_changed` also how their copies were changed.

    Their number belongs to the data part. What HELM changes for a model whose interface refuses
    a setting (`medhelm.expanders.MODEL_TAGS`) is left out: it asks the same.
    """
    adapter = spec.adapter_spec
    counted = replace(
        adapter,
        max_eval_instances=None,
        eval_splits=(),
        stop_sequences=tuple(stop for stop in adapter.stop_sequences if stop.strip()),
        temperature=0.0 if adapter.temperature == NEVER_ZERO else adapter.temperature,
    )
    if not is_changed:
        return _short(counted)
    perturbations = [perturbation.identity for perturbation in spec.perturbations or ()]
    return _short(counted, perturbations, spec.prompt_variants or ())


def extraction_part(how: AnswerExtraction, version: str) -> str:
    """How answers are read, and by which version of the code that reads: `choice v1`.

    >>> extraction_part(AnswerExtraction(method=ExtractionMethod.JSON_FIELD, field="note"), "1")
    'json_field note, unreadable wrong, v1'
    """
    if how.method is ExtractionMethod.STRICT:
        return f"{how.method.value} v{version}"
    pattern = _short(how.pattern) if how.pattern else ""
    options = f"of {_short(how.options)}" if how.options else ""
    named = " ".join(filter(None, (how.method.value, how.field, pattern, options)))
    return f"{named}, unreadable {how.unreadable.value}, v{version}"


def metric_part(name: str, version: str, args: Mapping[str, str], reads: Iterable[str] = ()) -> str:
    """A metric, its version and arguments; of a whole run's metric also of what it `reads`.

    >>> metric_part("classification", "2", {}, ["classes v1"])
    'classification v2 of classes v1'
    """
    own = f"{name} v{version}" + (f" {_short(dict(args))}" if args else "")
    inputs = ", ".join(reads)
    return f"{own} of {inputs}" if inputs else own


def jury_part(rubric: str, rubric_version: str, judges: Sequence[str], method: object) -> str:
    """A rubric and who applied it; `method` is what decides how the judges are asked and read."""
    names = ", ".join(judges)
    return f"{rubric} {_short(rubric_version)} by {names} {_short(method)}"


def origin_part(answered: int, imported: int) -> str:
    """Where the answers come from, by their number and how many of them were imported."""
    if not imported:
        return NATIVE
    return IMPORTED if imported >= answered else MIXED
