"""How a run was made, setting by setting, in words that tell it from another run of its model."""

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum

from medhelm_spark.domain.comparability import EXTRACTION, JURY
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import STRICT, RunSpec
from medhelm_spark.domain.sampling import Sampling
from medhelm_spark.statistics.comparison import ADAPTER, OTHER

MAX_CHARACTERS = 24
"""Of a setting's value; a longer one is told apart by its hash and not said."""


def configuration_of(spec: RunSpec) -> dict[str, str]:
    """A RunSpec's settings by name, without those that are the scenario's or the model's name."""
    return {
        EXTRACTION: _extraction(spec),
        "sampling": _sampling(spec.sampling) if spec.sampling else "",
        "prompt_variants": _said([one.name for one in spec.prompt_variants or ()]),
        "perturbations": _said([one.name for one in spec.perturbations or ()]),
        "data": OTHER + spec.data_version,
        "metrics": OTHER + content_id(spec.metrics),
        JURY: _said(sorted({one.jury for one in spec.annotators})),
        "deployment settings": OTHER + spec.deployment_fingerprint,
        **dict(_adapter(spec)),
    }


def _adapter(spec: RunSpec) -> Iterator[tuple[str, str]]:
    for field in fields(spec.adapter_spec):
        value = getattr(spec.adapter_spec, field.name)
        yield ADAPTER + field.name, _said(value)


def _said(value: object) -> str:
    """A value as it is where it is a short word or number, else its hash."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, list):
        return ", ".join(value)
    if value is None:
        return ""
    text = str(value)
    plain = isinstance(value, int | float) or (text.isprintable() and text == text.strip())
    is_short = isinstance(value, str | int | float) and len(text) <= MAX_CHARACTERS and plain
    return text if is_short else OTHER + content_id(value)


def _extraction(spec: RunSpec) -> str:
    """`choice`, `json_field answer`; what it counts as wrong where that is not the default."""
    reading = spec.answer_extraction or STRICT
    more = [reading.field] if reading.field else []
    if reading.pattern:
        more.append(content_id(reading.pattern)[:6])
    if reading.unreadable is not STRICT.unreadable:
        more.append(f"unreadable {reading.unreadable.value}")
    return " ".join([spec.reading, *more])


def _sampling(sampling: Sampling) -> str:
    """`order source`, `seed 3`, `filter f00ba1`: what is not the default."""
    default = Sampling()
    said = [f"order {sampling.order.value}"] if sampling.order is not default.order else []
    said += [f"seed {sampling.seed}"] if sampling.seed != default.seed else []
    said += [f"filter {content_id(sampling.filter)[:6]}"] if sampling.filter else []
    return " ".join(said)


def part_name(scenario_name: str, whole: str) -> str:
    """What names a part within its scenario.

    >>> part_name("ehrshot:subject=icu,max_length=50", "ehrshot:max_length=50")
    'subject=icu'
    """
    own = set(_arguments(whole))
    return ",".join(name for name in _arguments(scenario_name) if name not in own)


def _arguments(scenario_name: str) -> list[str]:
    return [name for name in scenario_name.partition(":")[2].split(",") if name]
