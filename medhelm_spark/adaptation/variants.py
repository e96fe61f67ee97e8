"""Prompt variants: the same instances asked in other words."""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from medhelm_spark.adaptation.decoding import RENDER_FIELDS
from medhelm_spark.domain.run import PROMPT, AdapterSpec, PromptVariant
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.errors import ConfigError

NAME = re.compile(r"[A-Za-z0-9_-]+")
TEXT_FIELDS = tuple(
    field.name
    for field in fields(AdapterSpec)
    if field.name in RENDER_FIELDS and field.type in (str, str | None)
)
"""The AdapterSpec fields that a variant may replace: those that are text and shape the prompt."""

IS_VARIANT_SQL = f"startswith(i.perturbation, '{PROMPT}')"
"""Whether the row `i` of `instances` is asked by a prompt variant only."""


def check_variants(variants: Iterable[PromptVariant], where: str) -> None:
    """Refuse variants that cannot be asked.

    Raises:
        ConfigError: A name is no name or given twice, or a field is none that shapes a prompt.
    """
    seen: set[str] = set()
    for variant in variants:
        if not NAME.fullmatch(variant.name) or variant.name in seen:
            raise ConfigError(
                f"{where}: prompt_variants has the name {variant.name!r}; allowed: letters, "
                "digits, _ and -, each name once."
            )
        seen.add(variant.name)
        for key in variant.adapter_spec:
            if key not in TEXT_FIELDS:
                raise ConfigError(
                    f"{where}: prompt variant {variant.name!r} sets {key!r}; allowed: "
                    f"{', '.join(TEXT_FIELDS)}."
                )


def adapter_of(spec: AdapterSpec, variant: PromptVariant) -> AdapterSpec:
    """The adapter as a variant words it."""
    changes: dict[str, Any] = dict(variant.adapter_spec)
    return replace(spec, **changes)


def copy_for(variant: PromptVariant, instance: Instance) -> Instance:
    """The instance as a variant asks it: its own, or the text of the variant's own template."""
    text = instance.extra_data.get(variant.perturbation, instance.input)
    return replace(instance, input=text, perturbation=variant.perturbation)
