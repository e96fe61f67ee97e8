"""A ward's questions, answered by two models, judged by a scripted judge and rated by people."""

import csv
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from medhelm_spark import Evaluation
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.judge_checks.results import JudgeCheck
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.ratings.tables import Rating
from tests.unit.board.planted import append
from tests.unit.judge_checks.judges import FAVOURED, PROMPT, facts

MODELS = ("acme/good", "team/poor")
JUDGE = "court/judge"
"""The judge by default; a test may name another, of the maker of a model."""
QUESTIONS = 40
RUBRIC = "decision"
RATERS = ("rater-a", "rater-b", "rater-c")
PLUGIN = "tests.unit.judge_checks.judges"


def gold_of(case: int) -> str:
    """Eight sentences, one with a dose."""
    facts = [f"Sign {letter} of case {case} calls for step {letter}" for letter in "abcdefg"]
    return ". ".join([f"Give {case + 5} mg of the drug for case {case}", *facts]) + "."


def question_of(case: int) -> str:
    return (
        f"Case {case:03d}: Greg is a {30 + case % 30}-year-old man and he is going to the ward "
        "with this, that and the other thing. What does he need?"
    )


def answer_of(case: int, model: str, chance: random.Random) -> str:
    """The dose, some of the other sentences, and filler of any length, with or without markdown."""
    dose, *others = gold_of(case).rstrip(".").split(". ")
    num_facts = chance.randint(4, 6) if model == MODELS[0] else chance.randint(2, 4)
    mark = "**" if chance.random() < 0.3 else ""
    filler = [f"{mark}Well{mark} then"] * chance.randint(5, 60)
    house = [FAVOURED] if model.startswith("acme/") else []
    return ". ".join([dose, *chance.sample(others, num_facts), *house, *filler]) + "."


class Ward:
    """A site, its lake, and its commands in this process."""

    def __init__(
        self,
        folder: Path,
        defect: str = "",
        *,
        judge: str = JUDGE,
        others: Sequence[str] = (),
        prompt: str = PROMPT,
        rubric: str = "",
        patients: int = 0,
        args: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.others, self.prompt, self.rubric = others, prompt, rubric
        self.args = args
        self.patients = patients
        """How many patients share the questions; 0: no column names a patient."""
        self.judge, self.folder, self.lake = judge, folder, folder / "lake"
        self.site, self.log = folder / "prod_env", folder / "judge.log"
        self.shift = folder / "shift.txt"
        self.site.mkdir(parents=True)
        chance = random.Random(7)
        self.answers = {
            (model, case): answer_of(case, model, chance)
            for model in MODELS
            for case in range(QUESTIONS)
        }
        self._write_benchmark()
        self._write_deployments(
            {"defect": defect, "log_file": str(self.log), "shift_file": str(self.shift)}
        )
        self.entry = f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"

    def _write_benchmark(self) -> None:
        (self.folder / "prompt.txt").write_text("{question}")
        (self.folder / "judge.txt").write_text(self.prompt)
        with (self.folder / "data.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            patient_id = ["patient_id"] if self.patients else []
            writer.writerow(["question", "correct_answer", *patient_id])
            writer.writerows(
                [question_of(i), gold_of(i), *(f"p{i % self.patients}" for _ in patient_id)]
                for i in range(QUESTIONS)
            )
        names = (self.judge, *self.others)
        judges = [{"name": name, "model_name": name} for name in names]
        rubric_fields = {"rubric": RUBRIC} if self.rubric else {"prompt_file": "judge.txt"}
        if self.rubric:
            (self.site / "rubrics").mkdir()
            (self.site / "rubrics" / f"{RUBRIC}.md").write_text(self.rubric)
        jury = {"name": "jury_score", **rubric_fields, "judges": judges}
        jury |= {"args": dict(self.args)} if self.args else {}
        config = {
            "name": "ward",
            "description": "Made for a test.",
            "prompt_file": "prompt.txt",
            "dataset_file": "data.csv",
            "access_level": "public",
            "metrics": [jury],
            "answer_extraction": "strict",
        }
        if self.patients:
            config["cluster_column"] = "patient_id"
        (self.folder / "benchmark.yaml").write_text(yaml.safe_dump(config))

    def _write_deployments(self, judge: dict[str, Any]) -> None:
        models = [
            {
                "name": model,
                "engine": "canned",
                "locality": "local",
                "client_spec": {
                    "args": {
                        "mode": "script",
                        "replies": {
                            f"Case {case:03d}:": text
                            for (name, case), text in self.answers.items()
                            if name == model
                        },
                    }
                },
            }
            for model in MODELS
        ]
        judges = [
            {
                "name": name,
                "engine": "scripted_judge",
                "locality": "local",
                "client_spec": {"args": args},
            }
            for name, args in ((self.judge, judge), *((other, {}) for other in self.others))
        ]
        path = self.site / "model_deployments.yaml"
        path.write_text(yaml.safe_dump({"model_deployments": [*models, *judges]}))

    @property
    def evaluation(self) -> Evaluation:
        return Evaluation(
            self.lake, site=self.site, tracking=False, plugins=PLUGIN, say=lambda line: None
        )

    def run(self) -> "Ward":
        self.evaluation.run(self.entry, suite="s", models_to_run=list(MODELS))
        return self

    def rate(
        self,
        number: int = QUESTIONS,
        *,
        model: str = "",
        per_item: int = len(RATERS),
        criteria: Sequence[str] = ("accuracy", "clarity"),
    ) -> "Ward":
        """Three raters rate by the facts, each with an error of his own; all models, or one.

        With `per_item` each question has so many of the raters, in turn.
        """
        specs = self.rows("run_specs")
        numbers = {
            row["instance_id"]: int(row["input"].split()[1].rstrip(":"))
            for row in self.rows("instances")
        }
        chance = random.Random(3)
        rows = [
            Rating(
                run_spec_id=spec["run_spec_id"],
                instance_id=instance,
                trial_index=0,
                rater=rater,
                criterion=criterion,
                value=self._rated(spec["run_spec"]["model"], case, chance),
                comment="",
                access_level=AccessLevel.PUBLIC,
                rated_at=datetime(2026, 4, 1, tzinfo=UTC),
                source="file",
            )
            for spec in specs
            if model in ("", spec["run_spec"]["model"])
            for instance, case in sorted(numbers.items())
            for turn, rater in enumerate(RATERS)
            for criterion in criteria
            if f'"{criterion}"' in self.prompt
            if case < number and (case + turn) % len(RATERS) < per_item
        ]
        append(self.lake, "ratings", rows, "rated")
        return self

    def _rated(self, model: str, case: int, chance: random.Random) -> float:
        share = facts(self.answers[model, case], gold_of(case))
        return min(5.0, max(0.0, 5 * share + chance.choice([-1.0, -0.5, 0.0, 0.5, 1.0])))

    def rows(self, table: str) -> list[dict[str, Any]]:
        found = open_reader(str(self.lake)).query(f"SELECT * FROM {{{table}}}")
        rows: list[dict[str, Any]] = found.to_pylist()
        return rows

    @property
    def asked(self) -> list[str]:
        """The ids of the requests that reached the judge."""
        return self.log.read_text().split() if self.log.exists() else []

    def check(self, **more: Any) -> JudgeCheck:
        more = {"entries": self.entry, "models_to_run": list(MODELS), "items": 60} | more
        return self.evaluation.judges.check(scenario="ward", suite="s", **more)
