"""What a report prints about a benchmark."""

from dataclasses import replace

from medhelm_spark.board.cells import PROMPT_ON_RECORD, PROMPT_UNKNOWN
from medhelm_spark.board.render.benchmark_facts import (
    MADE_ELSEWHERE,
    PROMPT_DECLARED,
    benchmark_facts,
)
from tests.unit.board.planted import run_spec
from tests.unit.statistics.cells import CELL, board_of


def facts_of(imported: str) -> dict[str, str]:
    cell = replace(CELL, run_spec_ids=("r",), imported=imported)
    spec = run_spec("r", "a", "triage_choice")
    return dict(benchmark_facts(board_of([cell]).columns[0], [cell], [spec], None, []))


def answers_of(imported: str) -> str:
    return facts_of(imported)["Answers"]


def test_a_prompt_of_answers_made_elsewhere_is_the_declared_one() -> None:
    assert facts_of(PROMPT_UNKNOWN)["Prompt"].endswith(f"({PROMPT_DECLARED})")
    assert facts_of("")["Prompt"] == facts_of(PROMPT_ON_RECORD)["Prompt"]
    assert "declared" not in facts_of("")["Prompt"]


def test_settings_are_those_of_answers_that_were_asked_for_by_them() -> None:
    limits = "at most 16 tokens, temperature 0"
    assert answers_of("") == answers_of(PROMPT_ON_RECORD) == limits
    assert answers_of(PROMPT_UNKNOWN) == MADE_ELSEWHERE
