"""What a card and the makers of model and judges state of a run."""

from dataclasses import replace

import pytest

from medhelm_spark.domain.declared import OTHER_MAKERS, SAME_MAKER, declared_of
from medhelm_spark.domain.deployment import Model
from medhelm_spark.medhelm.site import load_site

CARD = load_site().cards["medcalc_bench"]
OURS, THEIRS, NOBODYS = (
    Model(name=f"{maker}/model", creator_organization=maker) for maker in ("ours", "theirs", "")
)


def test_what_nobody_says_has_no_entry() -> None:
    assert declared_of(replace(CARD, licence=""), OURS, ()) == {}
    declaring = replace(CARD, data_holder="The hospital", contamination="published in 2024")
    assert declared_of(declaring, OURS, ()) == {
        "data_holder": "The hospital",
        "licence": CARD.licence,
        "contamination": "published in 2024",
    }


@pytest.mark.parametrize(
    ("judges", "says"),
    [
        ((THEIRS,), OTHER_MAKERS),
        ((THEIRS, OURS), SAME_MAKER),
        ((NOBODYS, OURS), SAME_MAKER),
        ((THEIRS, NOBODYS), None),
    ],
)
def test_judges_are_independent_where_every_maker_is_known_and_another(
    judges: tuple[Model, ...], says: str | None
) -> None:
    assert declared_of(CARD, OURS, judges).get("judge_independence") == says
    assert "judge_independence" not in declared_of(CARD, NOBODYS, judges)
