"""Every notebook as it is, with the real small model, in one Spark session and one lake."""

import re
import runpy
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
# In this order each finds answers in the lake that an earlier one asked for.
NAMES = ("quickstart", "own_benchmark", "compare_models", "answers")
MODEL = "huggingface/smollm2-135m-instruct"

Ran = dict[str, tuple[dict[str, Any], str]]
"""The variables of a notebook and what it printed, by its name."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """The first needs no Spark; the second starts it; the others are given it, as on Databricks."""
    results: Ran = {}
    with chdir(tmp_path_factory.mktemp("notebooks")), pytest.MonkeyPatch.context() as patch:
        for name in NAMES:
            session = SparkSession.getActiveSession()
            with redirect_stdout(StringIO()) as printed:
                variables = runpy.run_path(
                    str(NOTEBOOKS / f"{name}.py"), {"spark": session} if session else {}
                )
            results[name] = variables, printed.getvalue()
            patch.setenv("MEDHELM_SPARK_SMALL_RUN_REQUESTS", "0")
        yield results
    session = SparkSession.getActiveSession()
    assert session
    session.stop()


def cells_of(ran: Ran, name: str) -> list[dict[str, Any]]:
    frame = ran[name][0]["done"].board.to_pandas()
    return frame.to_dict("records")


def test_all_notebooks_are_run() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.py")} == set(NAMES)


def test_few_requests_are_sent(ran: Ran) -> None:
    calls = {name: variables["done"].model_calls for name, (variables, _) in ran.items()}
    # Compare asks four more instances, and the baseline all twelve.
    assert calls == {"quickstart": 8, "own_benchmark": 4, "compare_models": 16, "answers": 0}


def test_the_quickstart_ends_with_a_board_and_asks_nobody_again(ran: Ran) -> None:
    variables, printed = ran["quickstart"]
    (cell,) = cells_of(ran, "quickstart")
    assert (cell["model_deployment"], cell["count"]) == (MODEL, 8)
    assert variables["plan"].to_pandas()["allowed"].tolist() == [True]
    assert str(variables["done"].board) in printed
    assert printed.endswith("\n0 model calls\n")


def test_an_own_benchmark_has_a_board(ran: Ran) -> None:
    (cell,) = cells_of(ran, "own_benchmark")
    assert (cell["scenario_name"], cell["access_level"]) == ("REFERRAL", "public")
    assert cell["count"] + cell["num_unscored"] == 4


def test_two_models_are_compared_on_the_same_instances(ran: Ran) -> None:
    means = {cell["model_deployment"]: cell["mean"] for cell in cells_of(ran, "compare_models")}
    (row,) = ran["compare_models"][0]["comparison"].to_pandas().to_dict("records")
    assert row["n"] == 12
    assert row["mean_difference"] == pytest.approx(means[MODEL] - means["baseline/routine"])
    assert row["ci_low"] < row["mean_difference"] < row["ci_high"]
    printed = ran["compare_models"][1]
    assert f"\n{row['decision']}, difference " in printed
    assert "\nPrefer on these instances: " in printed


def test_the_answers_are_those_behind_the_mean(ran: Ran) -> None:
    variables, printed = ran["answers"]
    (cell,) = cells_of(ran, "answers")
    values = variables["page"].to_pandas()["value"]
    assert (values.mean(), len(values)) == (pytest.approx(cell["mean"]), cell["count"])
    assert list(values) == sorted(values)
    assert printed.count("\nanswer   ") == printed.count("\nright    ") == 3
    assert "A caller describes a health problem." in printed


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_opens_in_jupyter_and_on_databricks(name: str) -> None:
    source = (NOTEBOOKS / f"{name}.py").read_text(encoding="utf-8")
    assert source.startswith("# Databricks notebook source\n# %% [markdown]\n# # ")
    cells = re.split(r"^# %%(.*)\n", source, flags=re.MULTILINE)[1:]
    kinds, bodies = cells[::2], cells[1::2]
    assert kinds == [" [markdown]", ""] * (len(kinds) // 2)
    texts, code = bodies[::2], bodies[1::2]
    assert not [
        line for text in texts for line in text.splitlines() if not line.startswith("#") and line
    ]
    assert not [text for text in texts if "COMMAND" in text]
    assert all(body.endswith("\n\n# COMMAND ----------\n\n") for body in code[:-1])
    assert "COMMAND" not in code[-1]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_uses_public_names_alone(name: str) -> None:
    source = (NOTEBOOKS / f"{name}.py").read_text(encoding="utf-8")
    imports = re.findall(r"^(?:from|import) (medhelm_spark\S*)", source, re.MULTILINE)
    assert imports == ["medhelm_spark"]
