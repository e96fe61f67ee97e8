"""Registry: every named thing of a configuration, and which file each came from.

Shipped files are read first, then the site folder (`--local-path`), whose entries override by name
and whose `judges.yaml` and `policy.yaml` replace the shipped ones.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medhelm_spark.config.cards import Taxonomy, card_reader, load_taxonomy
from medhelm_spark.config.deployments import (
    Engines,
    Refusal,
    Translate,
    check_deployment,
    load_deployments,
    load_entries,
)
from medhelm_spark.config.juries import DEFAULT_JURY, load_jury
from medhelm_spark.config.layers import LayeredFiles, Load, Origin
from medhelm_spark.config.models import load_models
from medhelm_spark.config.policy import policy_in_force
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import load_rubric
from medhelm_spark.config.settings import Settings, named_policy
from medhelm_spark.config.word_lists import word_list_files
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Deployment, Jury, Model, Prices
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.policy_table import PolicyTable
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, UnknownNameError

PolicyTables = Callable[[str], PolicyTable]
"""Reads the policy in a catalog's table, by its name."""

ByName = Callable[[str], Deployment | None]
"""The deployment that a name alone defines, without a file; None where it defines none."""

MODEL_GROUPS = ("all", "text", "code", "text_code", "instruction_following", "vlm", "audiolm")
"""Names that HELM accepts as a model and that mean several."""


def _nothing(name: str) -> None:
    """No deployment, for callers that use files alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """All that run entries can name. Deployments are in the order of their registration.

    Word lists are files until a run perturbs its instances. `imported` are the lake's, where an
    entry names one. `shipped` are the cards without the site's. `by_name` is called last, for names
    that no file lists.
    """

    cards: Mapping[str, ScenarioCard]
    deployments: Mapping[str, Deployment]
    models: Mapping[str, Model]
    juries: Mapping[str, Jury]
    rubrics: Mapping[str, Rubric]
    policy: Policy
    taxonomy: Taxonomy
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    origins: tuple[Origin, ...] = ()
    word_list_files: Mapping[str, Path] = field(default_factory=dict)
    imported: tuple[ImportedScenario, ...] = ()
    shipped: Mapping[str, ScenarioCard] = field(default_factory=dict)
    by_name: ByName = _nothing

    def resolve_model(
        self, model: str | None = None, model_deployment: str | None = None
    ) -> Deployment:
        """The deployment that a model's name, a deployment's name or both mean.

        By HELM's rules (facts section 2.4): a deployment's name means itself; a model's for
        the deployment of the same name, else for the last one registered for it that is not
        deprecated; a model of three parts, `host/org/model`, names deployment and model at once.
        A name that no file lists may itself define how a model is reached (`ollama/llama3.1:8b`).

        Raises:
            UnknownNameError: If nothing of that name is registered.
            ConfigError: If the two do not belong together, or the deployment cannot run here.
        """
        if model_deployment:
            deployment = self._deployment(model_deployment)
            return _serving(deployment, model) if model else deployment
        if not model:
            raise ConfigError("neither a model nor a deployment is named.")
        if model.count("/") == 2 and (model in self.deployments or model in self.refusals):
            return _serving(self._deployment(model), model.partition("/")[2])
        return self._deployment_of_model(model)

    def _deployment(self, name: str) -> Deployment:
        if name in self.refusals:
            raise ConfigError(self.refusals[name].reason)
        deployment = self.deployments.get(name) or self.by_name(name)
        if deployment is None:
            raise UnknownNameError("deployment", name, self.deployments)
        return deployment

    def deployment(self, name: str) -> Deployment | None:
        """The deployment of this name, listed or by its name alone; None where there is none."""
        try:
            return self._deployment(name)
        except ConfigError:  # no longer there, or refused: no reason to end what asks
            return None

    def _deployment_of_model(self, model: str) -> Deployment:
        same = self.deployments.get(model)
        if same and not same.deprecated:
            return same
        serving = [each for each in self.deployments.values() if each.model == model]
        if serving:
            current = [deployment for deployment in serving if not deployment.deprecated]
            return (current or serving)[-1]
        if same or model in self.refusals:
            return self._deployment(model)
        refused = [refusal for refusal in self.refusals.values() if refusal.model == model]
        if refused:
            raise ConfigError(refused[-1].reason)
        if model in MODEL_GROUPS:
            raise ConfigError(
                f"model={model} is a group of HELM's; name the models by --models-to-run instead."
            )
        named = self.by_name(model)
        if named:
            return named
        known = {deployment.model for deployment in self.deployments.values()}
        raise UnknownNameError(
            "model",
            model,
            known | set(self.deployments),
            also="Answers that were made elsewhere are added by import-responses.",
        )

    def model(self, name: str) -> Model:
        """A model's metadata; of a model without any, its name and its organisation."""
        organization = name.partition("/")[0]
        placeholder = Model(name=name, display_name=name, creator_organization=organization)
        return self.models.get(name, placeholder)


def _serving(deployment: Deployment, model: str) -> Deployment:
    """The deployment, if the model is the one that it serves."""
    if model in (deployment.model, deployment.name):
        return deployment
    raise ConfigError(
        f"deployment {deployment.name!r} serves model {deployment.model!r}, not {model!r}."
    )


def load_registry(
    local_path: Path | None = None,
    *,
    engines: Engines,
    translator: Callable[[Path], Translate],
    deployments: Iterable[Deployment] = (),
    tables: PolicyTables | None = None,
    by_name: ByName = _nothing,
) -> Registry:
    """Reads the shipped files and a site's folder; an absent folder is an empty one.

    `engines` are those that deployments may name. `translator` makes, of a site's folder, what
    reads deployments with a foreign client class.
    `deployments` are added last, for what a command defines itself (imported answers). `tables`
    reads a policy that the platform keeps in a catalog. `by_name` makes deployments of names that
    no file lists.

    Raises:
        ConfigError: If any file is wrong.
    """
    layers = LayeredFiles(local_path)
    taxonomy = load_taxonomy(conf_path("taxonomy.yaml"))
    usable, refused = _deployments(
        layers,
        translator(local_path or conf_path()),  # no client class in what ships
        engines,
    )
    word_lists = word_list_files(layers)
    shipped: dict[str, ScenarioCard] = {}
    return Registry(
        cards=_cards(layers, taxonomy, shipped),
        shipped=shipped,
        deployments={
            **usable,
            **{
                deployment.name: check_deployment(deployment, engines) for deployment in deployments
            },
        },
        models=layers.read("model", layers.files("model_metadata.yaml"), load_models),
        juries=_juries(layers),
        rubrics=layers.read("rubric", layers.folder("rubrics", "*.md"), _read_rubric),
        policy=_policy(layers, tables),
        taxonomy=taxonomy,
        refusals=refused,
        origins=layers.origins(),
        word_list_files=word_lists,
        by_name=by_name,
    )


def _read_rubric(path: Path) -> list[Rubric]:
    return [load_rubric(path)]


def cards_of(local_path: Path | None) -> dict[str, ScenarioCard]:
    """The cards by scenario name, those that ship and a site's, where nothing else is needed.

    Raises:
        ConfigError: If a card is wrong.
    """
    return _cards(LayeredFiles(local_path), load_taxonomy(conf_path("taxonomy.yaml")), {})


def prices_of(local_path: Path | None) -> dict[str, Prices]:
    """Prices by deployment, of the shipped files and the site's; those without one are left out.

    Raises:
        ConfigError: If a file of deployments is broken.
    """
    layers = LayeredFiles(local_path)
    entries = layers.read("deployment", layers.files("model_deployments.yaml"), load_entries)
    return {name: entry.prices for name, entry in entries.items() if entry.prices}


def _cards(
    layers: LayeredFiles, taxonomy: Taxonomy, shipped: dict[str, ScenarioCard]
) -> dict[str, ScenarioCard]:
    read = _keeping_levels(card_reader(taxonomy), shipped)
    return layers.read("scenario", layers.folder("scenarios", "*.yaml"), read)


def _keeping_levels(
    read: Load[ScenarioCard], shipped: dict[str, ScenarioCard]
) -> Load[ScenarioCard]:
    """Reads cards as `read`, those that ship into `shipped`, and refuses a site's lower level."""
    folder = conf_path("scenarios")

    def checked(path: Path) -> Iterable[ScenarioCard]:
        cards = list(read(path))
        if path.parent == folder:
            shipped.update({card.name: card for card in cards})
        for card in cards:
            known = shipped.get(card.name, card).access_level
            if card.access_level.strictness < known.strictness:
                raise ConfigError(
                    f"{path}: access_level is {card.access_level}, and the card of {card.name!r} "
                    f"that ships has {known}; a site's card may be stricter, never looser "
                    "(medhelm-spark level lower records another level)."
                )
        return cards

    return checked


def _deployments(
    layers: LayeredFiles, translate: Translate, engines: Engines
) -> tuple[dict[str, Deployment], dict[str, Refusal]]:
    files = layers.files("model_deployments.yaml")
    entries = layers.read(
        "deployment", files, lambda path: load_deployments(path, translate, engines)
    )
    usable = {name: entry for name, entry in entries.items() if isinstance(entry, Deployment)}
    return usable, {name: entry for name, entry in entries.items() if isinstance(entry, Refusal)}


def _juries(layers: LayeredFiles) -> dict[str, Jury]:
    """Every jury by its name; the last file's is the default one, whatever its name."""
    paths = layers.files("judges.yaml")
    juries = layers.read("jury", paths, lambda path: [load_jury(path)])
    default = list(juries.values())[-1]
    if default.name != DEFAULT_JURY:
        layers.note("jury", DEFAULT_JURY, paths[-1])
    return {**juries, DEFAULT_JURY: default}


def policy_of(local_path: Path | None, tables: PolicyTables | None = None) -> Policy:
    """The policy alone: the site's, else the shipped one."""
    return _policy(LayeredFiles(local_path), tables)


def _policy(layers: LayeredFiles, tables: PolicyTables | None) -> Policy:
    shipped, *site = layers.files("policy.yaml")
    named = named_policy()
    source, why_chosen = (_read(named.location, tables), named.reason) if named else (None, None)
    policy = policy_in_force(shipped, source, site[0] if site else None, why_chosen=why_chosen)
    kind = f"policy ({policy.summary})"
    files = (shipped, *([named.location] if named else []), *site)
    for path in sorted(files, key=lambda path: str(path) == policy.origin):  # the last one counts
        layers.note("policy", kind, path)
    return policy


def _read(location: Path | str, tables: PolicyTables | None) -> Path | PolicyTable:
    """A file as it is named; the table of a name."""
    if isinstance(location, Path):
        return location
    if tables is None:
        raise ConfigError(
            f"policy {location}: a table is read through Spark, which is not at hand."
        )
    return tables(location)


def explain(registry: Registry, settings: Settings | None = None) -> tuple[Origin, ...]:
    """One row per scenario, deployment, model, jury, rubric, policy and settings file."""
    return (*registry.origins, *_settings_rows(settings))


def _settings_rows(settings: Settings | None) -> Iterator[Origin]:
    if settings:
        winner, *overridden = reversed(settings.origins)
        name = str(settings.platform)
        yield Origin(kind="settings", name=name, file=winner, overridden=tuple(overridden))
