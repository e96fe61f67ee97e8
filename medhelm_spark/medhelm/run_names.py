"""Run names as HELM writes them (facts section 2.5)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from medhelm_spark.config.extraction import KEY as ANSWER_EXTRACTION
from medhelm_spark.config.sampling import KEY as SAMPLING
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.medhelm.expanders import EXPANDERS
from medhelm_spark.medhelm.run_entries import MODEL_KEYS
from medhelm_spark.medhelm.scenario_args import is_named, spelled


@dataclass(frozen=True, slots=True, kw_only=True)
class _Naming:
    """How HELM names a scenario's own arguments.

    `always` are named with these values even where an entry leaves them out, `called` have
    another name, and `flags` are named as `True` or not at all. `separator` precedes each
    where HELM writes no colon before the first.
    """

    always: Mapping[str, str] = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    separator: str | None = None


_PLAIN = _Naming()
_NAMINGS: Mapping[str, _Naming] = {
    "head_qa": _Naming(always={"language": "en", "category": "None"}),
    "med_dialog": _Naming(separator=","),
    "mmlu": _Naming(always={"method": "multiple_choice_joint"}),
    "mmlu_pro": _Naming(
        always={"subject": "all", "use_chain_of_thought": "true", "use_few_shot": "false"},
        called={"subject": "subset"},
    ),
    "sct_bench": _Naming(flags=("reason", "few_shot")),
}


def run_name(card: ScenarioCard, entry: RunEntry, models: Mapping[str, str]) -> str:
    """The name of a run: scenario, its arguments, then expanders as written, models, groups.

    Arguments that name files are left out, `/` in values becomes `_`, and the deployment is
    named if the entry gives one or the model's default is another.
    """
    name = card.name
    naming = _NAMINGS.get(card.name, _PLAIN)
    for key, value in _own_args(card, entry, naming):
        name = _joined(name, key, value, naming.separator)
    known = {*EXPANDERS, *models, ANSWER_EXTRACTION, SAMPLING}
    keys = [key for key in entry.args if key in known]
    for key in (*keys, *(key for key in MODEL_KEYS if key in models and key not in keys)):
        if key in models:
            name = _joined(name, key, models[key], None)
        else:
            expander = EXPANDERS.get(key)
            name = _joined(name, key, entry.args[key], expander.separator if expander else None)
    if entry.groups:
        name += f",groups={'-'.join(sorted(entry.groups))}"
    return name


def entry_name(entry: RunEntry, models: Mapping[str, str]) -> str:
    """The name of a run whose card is not known: as the entry says, with these model keys.

    >>> entry_name(RunEntry(name="a@medhelm-0.8", args={"k": "v"}), {"model": "acme/m"})
    'a@medhelm-0.8:k=v,model=acme_m'
    """
    name = entry.name
    for key, value in {**entry.args, **models}.items():
        name = _joined(name, key, value, None)
    return name


def _own_args(card: ScenarioCard, entry: RunEntry, naming: _Naming) -> Iterator[tuple[str, str]]:
    """The scenario's own arguments that a name has, in the card's order."""
    values = {**naming.always, **entry.args}
    for key in card.args:
        if key not in values or not is_named(card, key, values[key]):
            continue
        value = spelled(card, key, str(values[key]))
        if key not in naming.flags:
            yield naming.called.get(key, key), value
        elif value == "true":
            yield key, "True"


def _joined(name: str, key: str, value: object, separator: str | None) -> str:
    separator = separator or ("," if ":" in name else ":")
    return f"{name}{separator}{key}={str(value).replace('/', '_')}"
