"""Rubrics: the prompt of a judge, and which criteria it must score.

A shipped rubric is a markdown file, `conf/rubrics/NAME.md`: YAML between two `---` lines gives
`criteria` and `max_tokens`, the rest is the prompt, in which {CRITERIA} is replaced by the criteria
with their scales and anchors (`config.criteria`). With `kind: rubric` it has no criteria of its
own: it is asked once per rubric item of each instance, which replaces {CRITERION}. A benchmark of
a user's own has MedHELM's form instead: a text file with a `<rubric_criteria>` block that is a
JSON object, each criterion with the keys that a verdict must give. The prompt may speak of the tag
before: the block is where `{` follows it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.config.criteria import (
    SCORE,
    CriterionEntry,
    check_scale,
    criterion_of,
    shown_to_judges,
)
from medhelm_spark.config.loader import described, validate
from medhelm_spark.config.yaml_text import parse_yaml, read_text
from medhelm_spark.domain.annotation import JURY, PER_ITEM, Rubric
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.domain.ids import content_id
from medhelm_spark.errors import ConfigError

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*\n(.*)\Z", re.DOTALL)
BLOCK = re.compile(r"<rubric_criteria>\s*(\{.*?)</rubric_criteria>", re.DOTALL)
NO_OBJECT = re.compile(r".*<rubric_criteria>(.*?)</rubric_criteria>", re.DOTALL)
"""What a prompt without a block has in its place, if anything: for the message about it."""
RESPONSE = "{RESPONSE}"
CRITERION, CRITERIA = "{CRITERION}", "{CRITERIA}"
MAX_TOKENS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class _RubricFile:
    criteria: tuple[CriterionEntry, ...] = ()
    max_tokens: int = MAX_TOKENS
    kind: str = JURY


@dataclass(frozen=True, slots=True, kw_only=True)
class _FrontMatter:
    criteria: tuple[Criterion, ...] = ()
    max_tokens: int = MAX_TOKENS
    kind: str = JURY


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The range of a criterion's score; MedHELM's documentation gives 0 to 5 for own benchmarks.

    `whole` where the prompt asks for whole numbers.
    """

    minimum: float = 0.0
    maximum: float = 5.0
    whole: bool = False


def load_rubric(path: Path) -> Rubric:
    """Reads a markdown rubric; its name is the file's.

    Raises:
        ConfigError: If it has no front matter, no criteria or no placeholder for the answer.
    """
    match = FRONT_MATTER.match(read_text(path))
    if not match:
        raise ConfigError(f"{path}: must begin with YAML between two lines of ---.")
    where = str(path)
    file = validate(parse_yaml(match[1], where), _RubricFile, where)
    criteria = tuple(criterion_of(entry, where) for entry in file.criteria)
    front = _FrontMatter(criteria=criteria, max_tokens=file.max_tokens, kind=file.kind)
    template = match[2].strip("\n").replace(CRITERIA, shown_to_judges(criteria))
    return build_rubric(path.stem, template, front, where)


def load_judge_prompt(path: Path, name: str, scale: Scale, max_tokens: int = MAX_TOKENS) -> Rubric:
    """Reads a judge prompt in MedHELM's form; the block stays in the prompt.

    Raises:
        ConfigError: If it has no block, no criteria or no placeholder for the answer.
    """
    text = read_text(path)
    match = BLOCK.search(text) or NO_OBJECT.match(text)
    if not match:
        raise ConfigError(f"{path}: has no <rubric_criteria>...</rubric_criteria> block.")
    try:
        parsed = json.loads(match[1])
    except ValueError as error:
        raise ConfigError(f"{path}: <rubric_criteria> is not valid JSON: {error}.") from None
    if not isinstance(parsed, Mapping):
        raise ConfigError(
            f"{path}: <rubric_criteria> is {described(parsed)}; allowed: a JSON object."
        )
    criteria = tuple(_criterion(key, value, scale, path) for key, value in parsed.items())
    front = _FrontMatter(criteria=criteria, max_tokens=max_tokens)
    return build_rubric(name, text, front, str(path))


def judge_rubric(name: str, template: str, criteria: object, scale: Scale, where: str) -> Rubric:
    """A rubric of MedHELM's form whose criteria, each with its keys, are known already.

    Raises:
        ConfigError: If it has no criteria or no placeholder for the answer.
    """
    if not isinstance(criteria, Mapping):
        raise ConfigError(f"{where}: its criteria are {described(criteria)}; allowed: an object.")
    scored = tuple(_criterion(key, value, scale, where) for key, value in criteria.items())
    return build_rubric(name, template, _FrontMatter(criteria=scored), where)


def _criterion(name: str, keys: object, scale: Scale, path: Path | str) -> Criterion:
    """A criterion whose keys are a list, or the keys of an object that describes them."""
    names = tuple(keys) if isinstance(keys, (list, Mapping)) else ()
    if not all(isinstance(key, str) for key in names) or SCORE not in names:
        allowed = f'a list of keys with "{SCORE}" among them'
        raise ConfigError(f"{path}: criterion {name!r} is {described(keys)}; allowed: {allowed}.")
    return Criterion(
        name=name,
        keys=names,
        minimum=scale.minimum,
        maximum=scale.maximum,
        whole=scale.whole,
    )


def build_rubric(name: str, template: str, front: _FrontMatter, where: str) -> Rubric:
    """A checked rubric; its version is the content id of template, criteria and kind."""
    _check_kind(front, template, where)
    criteria = front.criteria
    names = [criterion.name for criterion in criteria]
    if len(set(names)) < len(names):
        raise ConfigError(f"{where}: a criterion is named twice (criteria: {', '.join(names)}).")
    for criterion in criteria:
        check_scale(criterion, f"{where}: criterion {criterion.name!r}")
    if front.max_tokens < 1:
        raise ConfigError(f"{where}: max_tokens is {front.max_tokens}; allowed: 1 or more.")
    if RESPONSE not in template:
        raise ConfigError(f"{where}: has no {RESPONSE}, so the judge would not see the answer.")
    kind = () if front.kind == JURY else (front.kind,)
    return Rubric(
        name=name,
        template=template,
        criteria=criteria,
        version=content_id(template, criteria, *kind),
        max_tokens=front.max_tokens,
        kind=front.kind,
    )


def _check_kind(front: _FrontMatter, template: str, where: str) -> None:
    """What the package's own kinds need; a plug-in's kind needs what it likes."""
    if front.kind == JURY and not front.criteria:
        raise ConfigError(
            f"{where}: a rubric without criteria scores nothing; name at least one, or give "
            f"`kind: {PER_ITEM}` where instances bring their own."
        )
    if front.kind == PER_ITEM and (front.criteria or CRITERION not in template):
        raise ConfigError(
            f"{where}: a rubric of kind {PER_ITEM} names no criteria, and its text has "
            f"{CRITERION}, which an instance's own replace."
        )
