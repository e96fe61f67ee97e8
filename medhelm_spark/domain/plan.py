"""What configuration hands to the stages: everything of a run but its data version."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Deployment, Jury
from medhelm_spark.domain.run import (
    AdapterSpec,
    AnnotatorSpec,
    MedhelmReading,
    MetricSpec,
    PerturbationSpec,
    RunFacts,
)
from medhelm_spark.domain.scenario import ScenarioCard


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedAnnotator:
    """An annotator with its rubric and jury looked up; `deployments[i]` serves `jury.judges[i]`."""

    spec: AnnotatorSpec
    rubric: Rubric
    jury: Jury
    deployments: tuple[Deployment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryEndpoint:
    """What a suite is run to learn, declared before it is run: a scenario, and by which stat.

    Without `metric` it is the scenario's main metric. `margin` is a difference too small to matter,
    in the metric's own units.
    """

    scenario: str
    metric: str | None = None
    margin: float | None = None


WordList = Mapping[str, tuple[str, ...]]
"""What a perturbation replaces, or the name of a group, and the words for it."""

WordLists = Mapping[str, WordList]
"""Word lists by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRun(RunFacts):
    """A run entry after expansion: one scenario, one adapter, one deployment.

    `name` is HELM's run name; `where` is the entry and the file that it comes from.
    `word_lists` has every list that its perturbations may read. `medhelm` is the RunSpec's.
    `prompt_attested` are the words in which a person states that its imported answers were given to
    its own prompt. `asked_again` is the RunSpec's.
    """

    name: str
    card: ScenarioCard
    adapter_spec: AdapterSpec
    deployment: Deployment
    metrics: tuple[MetricSpec, ...]
    annotators: tuple[ResolvedAnnotator, ...]
    groups: tuple[str, ...]
    where: str = ""
    perturbations: tuple[PerturbationSpec, ...] = ()
    word_lists: WordLists = field(default_factory=dict)
    medhelm: MedhelmReading | None = None
    prompt_attested: str | None = None
    asked_again: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Runs to be asked anew: of one model or deployment, or all; `day` names the new answers."""

    day: str
    model: str | None = None

    def means(self, deployment: Deployment) -> bool:
        """Whether this deployment is asked anew."""
        return self.model in (None, deployment.name, deployment.model)


def deployments_of(runs: Iterable[ResolvedRun]) -> dict[str, Deployment]:
    """The models of these runs and their judges, by name."""
    runs = list(runs)
    models = [run.deployment for run in runs]
    judges = [judge for run in runs for judged in run.annotators for judge in judged.deployments]
    return {each.name: each for each in (*models, *judges)}
