"""Run names as HELM writes them (facts section 2.5)."""

from collections.abc import Mapping

from medhelm_spark.config.expanders import EXPANDERS
from medhelm_spark.config.extraction import KEY as ANSWER_EXTRACTION
from medhelm_spark.config.sampling import KEY as SAMPLING
from medhelm_spark.config.scenario_args import DEPLOYMENT, MODEL, is_named
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.domain.scenario import ScenarioCard

COMMA_AFTER_NAME = ("med_dialog",)
"""Scenarios whose own arguments HELM joins by a comma instead of a colon."""

ALWAYS_NAMED: Mapping[str, Mapping[str, str]] = {"head_qa": {"language": "en", "category": "None"}}
"""Arguments of scenarios that HELM names even where an entry leaves them out."""


def run_name(card: ScenarioCard, entry: RunEntry, models: Mapping[str, str]) -> str:
    """The name of a run: scenario, its arguments, then expanders as written, models, groups.

    Arguments that name files are left out, `/` in values becomes `_`, and the deployment stands
    there if the entry gives one or the model's default is another.
    """
    name = card.name
    given = {**ALWAYS_NAMED.get(card.name, {}), **entry.args}
    for key in card.args:
        if key in given and is_named(card, key, given[key]):
            separator = "," if card.name in COMMA_AFTER_NAME else None
            name = _joined(name, key, given[key], separator)
    known = {*EXPANDERS, *models, ANSWER_EXTRACTION, SAMPLING}
    keys = [key for key in entry.args if key in known]
    for key in (*keys, *(key for key in (MODEL, DEPLOYMENT) if key in models and key not in keys)):
        if key in models:
            name = _joined(name, key, models[key], None)
        else:
            expander = EXPANDERS.get(key)
            name = _joined(name, key, entry.args[key], expander.separator if expander else None)
    if entry.groups:
        name += f",groups={'-'.join(sorted(entry.groups))}"
    return name


def _joined(name: str, key: str, value: object, separator: str | None) -> str:
    separator = separator or ("," if ":" in name else ":")
    return f"{name}{separator}{key}={str(value).replace('/', '_')}"
