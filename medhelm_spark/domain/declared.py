"""What configuration files declare of a run's data and judges: stored with the run, by name."""

from collections.abc import Iterable

from medhelm_spark.domain.deployment import Model
from medhelm_spark.domain.scenario import ScenarioCard

DATA_HOLDER, LICENCE, CONTAMINATION = "data_holder", "licence", "contamination"
JUDGE_INDEPENDENCE = "judge_independence"
OTHER_MAKERS, SAME_MAKER = "other makers", "same maker"


def declared_of(card: ScenarioCard, model: Model, judges: Iterable[Model]) -> dict[str, str]:
    """What files state of a run of this model that these judges grade; no entry where none does.

    Judges are of other makers where the creator of the model and of each judge is known.
    """
    statements = {
        DATA_HOLDER: card.data_holder,
        LICENCE: card.licence,
        CONTAMINATION: card.contamination,
        JUDGE_INDEPENDENCE: _independence(model, tuple(judges)),
    }
    return {name: value for name, value in statements.items() if value}


def _independence(model: Model, judges: tuple[Model, ...]) -> str:
    makers = {judge.creator_organization for judge in judges}
    if not judges or not model.creator_organization:
        return ""
    if model.creator_organization in makers:
        return SAME_MAKER
    return "" if "" in makers else OTHER_MAKERS
