"""Registry: every named thing of a configuration, and which file each came from.

Shipped files are read first, then the site folder (`--local-path`), whose entries override by name
and whose `judges.yaml` and `policy.yaml` replace the shipped ones.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medhelm_spark.config.augmentation import word_list_files
from medhelm_spark.config.deployments import Engines, Refusal, Translate, load_deployments
from medhelm_spark.config.extraction import check_extraction
from medhelm_spark.config.juries import DEFAULT_JURY, load_jury
from medhelm_spark.config.layers import LayeredFiles, Load, Origin
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.config.models import load_models
from medhelm_spark.config.policy import load_policy
from medhelm_spark.config.resolve import resolve_deployment
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import load_rubric
from medhelm_spark.config.sampling import check_sampling
from medhelm_spark.config.short_forms import spelled_out
from medhelm_spark.config.taxonomy import Taxonomy, check_card, load_taxonomy
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Deployment, Jury, Model
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """All that run entries can name. Deployments are in the order of their registration.

    Word lists are files until a run perturbs its instances. `imported` are the lake's, where an
    entry names one.
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

    def resolve_model(
        self, model: str | None = None, model_deployment: str | None = None
    ) -> Deployment:
        """The deployment that a model's name, a deployment's name or both stand for.

        Raises:
            UnknownNameError: If nothing of that name is registered.
            ConfigError: If the two do not belong together, or the deployment cannot run here.
        """
        return resolve_deployment(self.deployments, self.refusals, model, model_deployment)

    def model(self, name: str) -> Model:
        """A model's metadata; of a model without any, its name and its organisation."""
        organization = name.partition("/")[0]
        placeholder = Model(name=name, display_name=name, creator_organization=organization)
        return self.models.get(name, placeholder)


def load_registry(
    local_path: Path | None = None,
    *,
    engines: Engines,
    translator: Callable[[Path], Translate],
    deployments: Iterable[Deployment] = (),
) -> Registry:
    """Reads the shipped files and a site's folder; an absent folder is an empty one.

    `engines` are those that deployments may name. `translator` makes, of a site's folder, what
    reads deployments with a foreign client class.
    `deployments` are added last, for what a command defines itself (imported answers).

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
    read_card, read_rubric = _card_reader(taxonomy), lambda path: [load_rubric(path)]
    return Registry(
        cards=layers.read("scenario", layers.folder("scenarios", "*.yaml"), read_card),
        deployments={**usable, **{one.name: one for one in deployments}},
        models=layers.read("model", layers.files("model_metadata.yaml"), load_models),
        juries=_juries(layers),
        rubrics=layers.read("rubric", layers.folder("rubrics", "*.md"), read_rubric),
        policy=_policy(layers),
        taxonomy=taxonomy,
        refusals=refused,
        origins=layers.origins(),
        word_list_files=word_lists,
    )


def _deployments(
    layers: LayeredFiles, translate: Translate, engines: Engines
) -> tuple[dict[str, Deployment], dict[str, Refusal]]:
    files = layers.files("model_deployments.yaml")
    found = layers.read(
        "deployment", files, lambda path: load_deployments(path, translate, engines)
    )
    usable = {name: one for name, one in found.items() if isinstance(one, Deployment)}
    return usable, {name: one for name, one in found.items() if isinstance(one, Refusal)}


def _card_reader(taxonomy: Taxonomy) -> Load[ScenarioCard]:
    seen: dict[tuple[Path, str], Path] = {}

    def read(path: Path) -> Iterable[ScenarioCard]:
        card = load_yaml(path, ScenarioCard, spelled_out)
        check_card(card, taxonomy, str(path))
        check_extraction(card.answer_extraction, card.metrics, str(path))
        check_sampling(card.sampling, str(path))
        _check_parts(card, path)
        first = seen.setdefault((path.parent, card.name), path)
        if first != path:
            raise ConfigError(f"{path}: scenario {card.name!r} is already defined in {first}.")
        return [card]

    return read


def _check_parts(card: ScenarioCard, path: Path) -> None:
    """Refuse parts by an argument that chooses no data: its runs would be means of the same."""
    allowed = [arg for arg in card.args if arg in card.choices]
    for arg in card.parts.args:
        if arg not in allowed:
            raise UnknownNameError("argument", arg, allowed, where=f"{path}: parts.args")


def _juries(layers: LayeredFiles) -> dict[str, Jury]:
    """Every jury by its name; the last file's is the default one, whatever its name."""
    paths = layers.files("judges.yaml")
    juries = layers.read("jury", paths, lambda path: [load_jury(path)])
    default = list(juries.values())[-1]
    if default.name != DEFAULT_JURY:
        layers.note("jury", DEFAULT_JURY, paths[-1])
    return {**juries, DEFAULT_JURY: default}


def policy_of(local_path: Path | None) -> Policy:
    """The policy alone: the site's, else the shipped one."""
    return _policy(LayeredFiles(local_path))


def _policy(layers: LayeredFiles) -> Policy:
    paths = layers.files("policy.yaml")
    for path in paths:
        layers.note("policy", "policy", path)
    return load_policy(paths[-1])
