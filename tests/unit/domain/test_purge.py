"""What is left of a row whose text was purged: a note, and all that is no text."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.purge import (
    WrittenAnnotation,
    WrittenInstance,
    WrittenPrompt,
    WrittenQuarantined,
    WrittenResult,
    WrittenSuiteRun,
)
from medhelm_spark.domain.request import (
    Completion,
    CriterionScore,
    FinishReason,
    TokenLogprob,
    VerdictStatus,
)
from medhelm_spark.domain.run import (
    AdapterSpec,
    AnswerExtraction,
    Attestation,
    ExtractionMethod,
    MedhelmReading,
    PromptVariant,
    RunSpec,
    Substitution,
)
from medhelm_spark.domain.sampling import Condition, Sampling
from medhelm_spark.domain.scenario import Message, Reference
from medhelm_spark.domain.split import Split
from medhelm_spark.lake.columnar import fields_of
from medhelm_spark.lake.tables import TABLES, WRITE_ID

WORD, NOTE = "zebrafinch", "[purged]"
NOW = datetime(2026, 3, 2, tzinfo=UTC)
TURNS = (Message(role="user", content=WORD),)
PRIVATE = AccessLevel.PRIVATE
ADAPTER = AdapterSpec(
    **dict.fromkeys(
        [
            *("global_prefix", "global_suffix", "instructions", "input_prefix", "input_suffix"),
            *("reference_prefix", "reference_suffix", "reference_prefix_characters"),
            *("chain_of_thought_prefix", "chain_of_thought_suffix", "output_prefix"),
            *("output_suffix", "instance_prefix", "output_mapping_pattern"),
        ],
        WORD,
    ),
    substitutions=(Substitution(source=WORD, target=WORD),),
    stop_sequences=(WORD,),
    max_tokens=7,
)
ROWS: dict[str, Any] = {
    "instances": WrittenInstance(
        instance_id="i1",
        scenario_name="ward",
        data_version="v1",
        source_id=WORD,
        source_index=3,
        split=Split.TEST,
        input=WORD,
        references=(Reference(text=WORD, tags=("correct",)),),
        access_level=PRIVATE,
        messages=TURNS,
        extra_data={WORD: WORD},
        text_hashes=(1, 2),
        cluster_id="c1",
        write_id="w",
    ),
    "quarantine": WrittenQuarantined(
        scenario_name="ward",
        data_version="v1",
        source_file=WORD,
        source_row=4,
        reason=WORD,
        access_level=PRIVATE,
        write_id="w",
    ),
    "prompts": WrittenPrompt(
        prompt_id="p1",
        render_id="r1",
        subject_id="i1",
        access_level=PRIVATE,
        messages=TURNS,
        text=WORD,
        output_mapping={"A": WORD},
        write_id="w",
    ),
    "request_results": WrittenResult(
        request_id="q1",
        model_deployment="acme/a",
        access_level=PRIVATE,
        completed_at=NOW,
        engine_fingerprint="f",
        completions=(
            Completion(
                text=WORD,
                finish_reason=FinishReason.STOP,
                thinking=WORD,
                tokens=(TokenLogprob(text=WORD, logprob=-1.0),),
            ),
        ),
        reason=WORD,
        destination="models.example.org:443",
        write_id="w",
    ),
    "annotations": WrittenAnnotation(
        run_spec_id="s1",
        instance_id="i1",
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        annotator="a",
        judge="j",
        status=VerdictStatus.OK,
        access_level=PRIVATE,
        scores=(CriterionScore(criterion="accuracy", score=4, explanation=WORD),),
        write_id="w",
    ),
    "run_specs": WrittenSuiteRun(
        suite="s",
        name="ward:model=acme_a",
        run_spec_id="s1",
        planned_at=NOW,
        locality="local",
        engine="canned",
        is_jury_validated=None,
        run_spec=RunSpec(
            run_spec_id="s1",
            name="ward:model=acme_a",
            scenario_name="ward",
            data_version="v1",
            model="acme/a",
            model_deployment="acme/a",
            deployment_fingerprint="f",
            adapter_spec=ADAPTER,
            metrics=(),
            annotators=(),
            groups=(),
            access_level=PRIVATE,
            main_metric="exact_match",
            main_split="test",
            answer_extraction=AnswerExtraction(
                method=ExtractionMethod.REGEX, pattern=WORD, options=(WORD,)
            ),
            prompt_variants=(PromptVariant(name="short", adapter_spec={"instructions": WORD}),),
            sampling=Sampling(filter={"extra.id": Condition(values=(WORD,))}),
            medhelm=MedhelmReading(max_tokens=1, stop_sequences=(WORD,)),
        ),
        as_imported=WORD,
        prompt_attested=Attestation(stated_by="amy", stated_at=NOW, note=WORD),
        write_id="w",
    ),
}
"""A row of each table of the stages, with a word in every field that can have text."""

KEPT = {
    "instances": ("instance_id", "split", "cluster_id", "source_index"),
    "quarantine": ("source_row", "scenario_name"),
    "prompts": ("prompt_id", "render_id", "subject_id"),
    "request_results": ("request_id", "destination", "completed_at", "failure"),
    "annotations": ("judge", "status", "instance_id"),
    "run_specs": ("name", "run_spec_id", "planned_at"),
}


@pytest.mark.parametrize("table", sorted(KEPT))
def test_no_text_of_a_row_is_left_and_the_rest_is(table: str) -> None:
    purging, row = TABLES[table].purging, ROWS[table]
    assert purging and WORD in text_of(row)
    after = purging.purged(row, NOTE)
    assert WORD not in text_of(after) and NOTE in text_of(after)
    assert [getattr(after, name) for name in KEPT[table]] == [
        getattr(row, name) for name in KEPT[table]
    ]
    assert purging.purged(after, NOTE) == after, "twice is once"
    assert after.write_id == row.write_id
    assert replace(row, **{name: getattr(after, name) for name in KEPT[table]}) == row


def text_of(row: Any) -> str:
    return json.dumps(asdict(row), default=str)


def test_every_table_with_text_says_how_a_purge_finds_and_clears_its_rows() -> None:
    with_text = {name for name, table in TABLES.items() if table.has_text}
    purged = {name: table.purging for name, table in TABLES.items() if table.purging}
    assert purged.keys() == with_text | {"stats_by_group", "watch_results"}, "names of groups"
    for name, purging in purged.items():
        assert issubclass(purging.row, TABLES[name].row)
        assert {purging.by, WRITE_ID} <= set(fields_of(purging.row))
        assert purging.by in ("data_version", "run_spec_id", "request_id", "prompt_id")


@pytest.mark.parametrize("table", ["instance_groups", "stats_by_group", "watch_results"])
def test_a_purge_unnames_groups_and_keeps_them_apart(table: str) -> None:
    purging = TABLES[table].purging
    assert purging

    def after(value: str, column: str = "unit") -> str:
        named = {"group_column": column, "group_value": value}
        row = purging.row(**{**dict.fromkeys(fields_of(purging.row)), **named})
        return str(purging.purged(row, NOTE).group_value)

    assert "stroke" not in after("stroke") and after("stroke").startswith(NOTE)
    assert after("stroke") != after("surgery") and after(after("stroke")) == after("stroke")
    assert after("") == "" and after("original", "perturbation:gender") == "original"


def test_a_manifest_hashes_rows_by_the_column_that_a_purge_finds_them_by() -> None:
    from medhelm_spark.releases.values import OF_DATA, OF_REQUESTS, OF_RUNS

    for name, entry in {**OF_DATA, **OF_REQUESTS, **OF_RUNS}.items():
        if purging := TABLES[name].purging:
            assert purging.by == entry.key
