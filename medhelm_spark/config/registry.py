"""Registry: every named thing of a configuration, and which file each came from.

Shipped files are read first, then the site folder (`--local-path`), whose entries override by name
and whose `judges.yaml` and `policy.yaml` replace the shipped ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medhelm_spark.config.augmentation import word_list_files
from medhelm_spark.config.credentials import load_credentials
from medhelm_spark.config.deployments import Refusal, load_deployments
from medhelm_spark.config.extraction import check_extraction
from medhelm_spark.config.helm_clients import translator
from medhelm_spark.config.juries import DEFAULT_JURY, load_jury
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.config.models import load_models, load_tokenizers
from medhelm_spark.config.policy import load_policy
from medhelm_spark.config.resolve import resolve_deployment
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import load_rubric
from medhelm_spark.config.sampling import check_sampling
from medhelm_spark.config.shelves import Load, Origin, Shelves
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
    local_path: Path | None = None, *, deployments: Iterable[Deployment] = ()
) -> Registry:
    """Reads the shipped files and a site's folder; an absent folder is an empty one.

    `deployments` are added last, for what a command defines itself (imported answers).

    Raises:
        ConfigError: If any file is wrong.
    """
    shelves = Shelves(local_path)
    taxonomy = load_taxonomy(conf_path("taxonomy.yaml"))
    usable, refused = _deployments(shelves, local_path)
    word_lists = word_list_files(shelves)
    read_card, read_rubric = _card_reader(taxonomy), lambda path: [load_rubric(path)]
    return Registry(
        cards=shelves.read("scenario", shelves.folder("scenarios", "*.yaml"), read_card),
        deployments={**usable, **{one.name: one for one in deployments}},
        models=shelves.read("model", shelves.files("model_metadata.yaml"), load_models),
        juries=_juries(shelves),
        rubrics=shelves.read("rubric", shelves.folder("rubrics", "*.md"), read_rubric),
        policy=_policy(shelves),
        taxonomy=taxonomy,
        refusals=refused,
        origins=shelves.origins(),
        word_list_files=word_lists,
    )


def _deployments(
    shelves: Shelves, local_path: Path | None
) -> tuple[dict[str, Deployment], dict[str, Refusal]]:
    site = local_path or conf_path()  # neither file ships
    credentials = load_credentials(site / "credentials.conf")
    translate = translator(credentials, load_tokenizers(site / "tokenizer_configs.yaml"))
    files = shelves.files("model_deployments.yaml")
    found = shelves.read("deployment", files, lambda path: load_deployments(path, translate))
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


def _juries(shelves: Shelves) -> dict[str, Jury]:
    """Every jury by its name; the last file's is the default one, whatever its name."""
    paths = shelves.files("judges.yaml")
    juries = shelves.read("jury", paths, lambda path: [load_jury(path)])
    default = list(juries.values())[-1]
    if default.name != DEFAULT_JURY:
        shelves.note("jury", DEFAULT_JURY, paths[-1])
    return {**juries, DEFAULT_JURY: default}


def policy_of(local_path: Path | None) -> Policy:
    """The policy alone: the site's, else the shipped one."""
    return _policy(Shelves(local_path))


def _policy(shelves: Shelves) -> Policy:
    paths = shelves.files("policy.yaml")
    for path in paths:
        shelves.note("policy", "policy", path)
    return load_policy(paths[-1])
