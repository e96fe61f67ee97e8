"""How runs are asked for and read: by default, with an entry's own values, and as MedHELM does."""

from pathlib import Path

import pytest

from medhelm_spark.adaptation.decoding import decoding_for
from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import (
    MEDHELM_08,
    STRICT,
    AdapterMethod,
    ExtractionMethod,
    MedhelmReading,
    MetricSpec,
)
from medhelm_spark.medhelm.reading import LEAST_TOKENS
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.stages.plan.run_specs import run_spec_of
from tests.unit.runs import SMALL, expand_one

LETTER = MedhelmReading(max_tokens=1)
READ = (ExtractionMethod.CHOICE, ExtractionMethod.YES_NO)


def reading_and_tokens(run: ResolvedRun) -> tuple[str, int, MedhelmReading | None]:
    """The way of reading, the tokens asked for, and MedHELM's own way."""
    return run_spec_of(run, "v").reading, run.adapter_spec.max_tokens, run.medhelm


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("pubmed_qa", ("yes_no", LEAST_TOKENS, LETTER)),
        ("pubmed_qa:answer_extraction=choice", ("choice", LEAST_TOKENS, LETTER)),
        ("pubmed_qa:answer_extraction=strict", ("strict", 1, None)),
        ("pubmed_qa:num_output_tokens=1", ("yes_no", 1, LETTER)),
        ("pubmed_qa:num_output_tokens=9", ("yes_no", 9, MedhelmReading(max_tokens=9))),
        ("pubmed_qa:increase_max_tokens=2", ("yes_no", 3, MedhelmReading(max_tokens=3))),
        ("pubmed_qa:temperature=0.7", ("yes_no", LEAST_TOKENS, None)),
        (
            "pubmed_qa:temperature=0.7,num_output_tokens=99",
            ("yes_no", 99, MedhelmReading(max_tokens=99)),
        ),
        ("medhallu", ("choice", LEAST_TOKENS, MedhelmReading(max_tokens=5))),
        ("mmlu_pro:subject=health", ("choice", 4096, MedhelmReading(max_tokens=4096))),
        ("medcalc_bench", ("strict", 10, None)),
        ("triage", ("strict", 5, None)),
    ],
)
def test_by_default_an_option_is_read_out_of_a_sentence(
    registry: Registry, entry: str, expected: tuple[str, int, MedhelmReading | None]
) -> None:
    run = expand_one(registry, f"{entry}{',' if ':' in entry else ':'}{SMALL}")
    assert reading_and_tokens(run) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("pubmed_qa", (MEDHELM_08, 1, LETTER)),
        ("pubmed_qa:answer_extraction=yes_no", ("yes_no", 1, None)),
        ("pubmed_qa:num_output_tokens=9", (MEDHELM_08, 9, MedhelmReading(max_tokens=9))),
        ("medhallu", (MEDHELM_08, 5, MedhelmReading(max_tokens=5))),
        ("medcalc_bench", ("strict", 10, None)),
    ],
)
def test_compat_asks_and_reads_as_medhelm_does(
    registry: Registry, entry: str, expected: tuple[str, int, MedhelmReading | None]
) -> None:
    run = expand_one(registry, f"{entry}{',' if ':' in entry else ':'}{SMALL}", compat=True)
    assert reading_and_tokens(run) == expected
    if "answer_extraction" not in entry:
        assert run.metrics == run.card.metrics
        assert run.card.answer_extraction == STRICT


def test_every_card_is_asked_in_compat_as_it_stands(registry: Registry) -> None:
    """What a card states are MedHELM's facts; only prompts for an option differ."""
    changed = set()
    for name, card in registry.cards.items():
        args = [
            f"{key}={next(iter(card.choices[key]))}" for key in card.args if key in card.choices
        ]
        entry = f"{name}:{','.join([*args, SMALL])}"
        run, compat = expand_one(registry, entry), expand_one(registry, entry, compat=True)
        assert compat.adapter_spec.max_tokens == card.adapter_spec.max_tokens
        assert compat.adapter_spec.stop_sequences == card.adapter_spec.stop_sequences
        if card.adapter_spec.max_tokens == 1:
            assert card.answer_extraction.method in READ
            assert decoding_for(compat.adapter_spec).max_tokens == 1
        if run.adapter_spec != compat.adapter_spec:
            changed.add(name)
            assert run.adapter_spec.max_tokens == LEAST_TOKENS
    assert len(changed) == 26
    assert "medhallu" in changed


def test_a_cards_stops_would_cut_a_sentence_and_an_entrys_own_may(
    registry: Registry, site: Path
) -> None:
    path = site / "scenarios" / "triage.yaml"
    path.write_text(path.read_text() + "answer_extraction: choice\n")
    registry = load_site(site)
    run = expand_one(registry, f"triage:{SMALL}")
    assert run.adapter_spec.stop_sequences == ()
    assert run.medhelm == MedhelmReading(max_tokens=5, stop_sequences=("\n",))
    own = expand_one(registry, f"triage:add_to_stop=;,{SMALL}")
    assert own.adapter_spec.stop_sequences == (";",)
    assert own.medhelm == MedhelmReading(max_tokens=5, stop_sequences=("\n", ";"))
    joint = expand_one(registry, f"pubmed_qa:{SMALL}").adapter_spec
    assert joint.method is AdapterMethod.MULTIPLE_CHOICE_JOINT
    assert decoding_for(joint).stop_sequences == ()


def test_the_two_ways_are_two_run_specs(registry: Registry) -> None:
    default, compat, strict = (
        run_spec_of(expand_one(registry, entry, compat=flag), "v")
        for entry, flag in (
            (f"pubmed_qa:{SMALL}", False),
            (f"pubmed_qa:{SMALL}", True),
            (f"pubmed_qa:answer_extraction=strict,{SMALL}", False),
        )
    )
    assert len({default.run_spec_id, compat.run_spec_id, strict.run_spec_id}) == 3
    assert (default.is_cut_for_medhelm, compat.is_cut_for_medhelm) == (True, False)
    assert MetricSpec(name="answer_unreadable") in default.metrics
    free = [
        run_spec_of(expand_one(registry, f"medcalc_bench:{SMALL}", compat=flag), "v")
        for flag in (False, True)
    ]
    assert free[0] == free[1], "what compat does not change is not asked again"
