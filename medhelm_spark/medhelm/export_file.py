"""Exports of MedHELM's scenarios: the line that a file begins with, and what its RunSpec is here.

Texts that are MedHELM's (instructions, judges' prompts) come from the export and go into the lake;
none of them is in this package.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from medhelm_spark.config.loader import validate
from medhelm_spark.config.rubrics import Scale, judge_rubric
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.run import AdapterMethod, AdapterSpec
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.metric_names import TheirMetric

PACKAGE, VERSION = "medhelm", "0.8.0"
FORM, FORM_VERSION = "medhelm-spark export", 1
METHODS = tuple(method.value for method in AdapterMethod)
LOWEST_OF_FIVE = 1.0
"""MedHELM's own rubrics go from 1 to 5, as the default score shows; other ones from 0."""

NOT_OURS = ("model", "model_deployment", "image_generation_parameters", "reeval_parameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Object:
    class_name: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirRunSpec:
    """MedHELM's RunSpec, as it writes it itself."""

    name: str
    scenario_spec: _Object
    adapter_spec: Mapping[str, Any]
    metric_specs: tuple[TheirMetric, ...]
    data_augmenter_spec: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    annotators: tuple[_Object, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirJury:
    """The prompt of MedHELM's generic jury, and the keys of each criterion."""

    name: str
    prompt_template: str
    annotation_criteria: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The first line of an export: what was read, from what, and how much there is of it.

    `without_reference` counts evaluated instances without a right answer, `left_out` those of no
    known split.
    """

    kind: str
    form: str
    form_version: int
    package: str
    package_version: str
    python: str
    name: str
    args: Mapping[str, str]
    run_spec: TheirRunSpec
    instances: int
    splits: Mapping[str, int]
    juries: tuple[TheirJury, ...] = ()
    metadata: Mapping[str, Any] | None = None
    left_out: int = 0
    without_reference: int = 0


def read_export(line: str, where: str) -> Export:
    """The first line of an export, checked.

    Raises:
        ConfigError: It is none, of another form, or of another version of MedHELM.
    """
    try:
        data = json.loads(line)
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("form") != FORM:
        raise ConfigError(f"{where}: is no export of a MedHELM scenario.")
    if data.get("form_version") != FORM_VERSION:
        raise ConfigError(
            f"{where}: is an export of form {data.get('form_version')!r}; allowed: {FORM_VERSION}. "
            "Export it again with this release's script."
        )
    export = validate(data, Export, where)
    if (export.package, export.package_version) != (PACKAGE, VERSION):
        raise ConfigError(
            f"{where}: was made by {export.package} {export.package_version}; allowed: {PACKAGE} "
            f"{VERSION}."
        )
    return export


def adapter_of(export: Export) -> AdapterSpec:
    """MedHELM's AdapterSpec, every text as it is.

    Raises:
        ConfigError: It asks in a way that is not supported here.
    """
    theirs = {k: v for k, v in export.run_spec.adapter_spec.items() if k not in NOT_OURS}
    if theirs.get("method") not in METHODS:
        raise ConfigError(unsupported_method(export.name, theirs.get("method")))
    letters = theirs.get("reference_prefix_characters")
    theirs["reference_prefix_characters"] = "".join(letters) if letters else None
    theirs["eval_splits"] = theirs.get("eval_splits") or []
    theirs["temperature"] = float(theirs.get("temperature", 1))
    return validate(theirs, AdapterSpec, f"MedHELM's scenario {export.name!r}: adapter_spec")


def unsupported_method(name: str, method: object) -> str:
    """The sentence about a scenario that is asked in another way than with text."""
    return (
        f"MedHELM's scenario {name!r} asks by the adapter method {method!r}, which is not "
        f"supported; allowed: {', '.join(METHODS)}. Images and audio are not evaluated here."
    )


def rubric_of(export: Export, name: str) -> Rubric | None:
    """The rubric of MedHELM's generic jury in its own words; None where no such jury judges."""
    if not export.juries:
        return None
    defaults = {spec.args.get("default_score") for spec in export.run_spec.metric_specs}
    scale = Scale(minimum=LOWEST_OF_FIVE) if LOWEST_OF_FIVE in defaults else Scale()
    jury = export.juries[0]
    criteria = {key: list(keys) for key, keys in jury.annotation_criteria.items()}
    return judge_rubric(name, jury.prompt_template, criteria, scale, f"jury of {name}")
