"""Prompt variants: the same instances asked with another wording of the prompt."""

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
"""The AdapterSpec fields that a variant may replace: the text fields that shape the prompt."""

IS_VARIANT_SQL = f"startswith(i.perturbation, '{PROMPT}')"
"""Whether row `i` of `instances` is a copy that only a prompt variant asks."""


def check_variants(variants: Iterable[PromptVariant], where: str) -> None:
    """Check the names and fields of variants.

    Raises:
        ConfigError: A name is malformed or occurs twice, or a field is not one of TEXT_FIELDS.
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
    """The adapter with the variant's texts."""
    changes: dict[str, Any] = dict(variant.adapter_spec)
    return replace(spec, **changes)


def copy_for(variant: PromptVariant, instance: Instance) -> Instance:
    """The instance that a variant asks, with the text of the variant's template if it has one."""
    text = instance.extra_data.get(variant.perturbation, instance.input)
    return replace(instance, input=text, perturbation=variant.perturbation)
