"""What both sides are asked: real texts where they are, and texts made to distinguish two rules.

A row is JSON: `completions` (text, logprob, tokens, ended), `references` (text, whether right),
`input`, `extra_data`, `output_mapping`. Everything made comes from one seed.
"""

import csv
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_PIECES = re.findall(
    r"\S+",
    r"""
    the The THE a A an. patient Patient's don't don’t a-the the/a an,an anthem theatre yes no. No!
    120/80 mmHg HbA1c 7.5% 1,250 -3.2 1e5 .5 38.5C 0 007 1. 1.0 I10 E11.9 S72.001A follow-up p.o.
    µg β-blocker Ångström naïve NAÏVE İstanbul ß ǅ １２ ² Ⅳ ﬁbrosis هذا 日本語 😷 👩‍⚕️ é é — … « » ¿
    <b>note</b> &nbsp; <br/> { } {} [1] (A) A. B) **bold** `code` # _x_ \n " ' \'\' $
    """,
)
_SPACES = (" ", " ", " ", "  ", "\n", "\n\n", "\t", "\r\n")
_GAPS = (*_SPACES, "\u00a0", "\u200b", "\u2028", "\x0b", "\x1c", "")


def chooser(name: str) -> random.Random:
    """The random numbers of one test, the same on every machine."""
    return random.Random(f"parity {name}")


def noise(rng: random.Random, max_pieces: int = 12) -> str:
    """A text of up to so many odd pieces; empty and blank ones among them."""
    return "".join(
        rng.choice(_PIECES) + rng.choice(_GAPS) for _ in range(rng.randint(0, max_pieces))
    ) or rng.choice(["", " ", "\n", "\u00a0"])


def variant_of(rng: random.Random, text: str) -> str:
    """A text like this one: equal to it by one rule or another, or by none."""
    words = text.split(" ")
    index = rng.randint(0, len(words))
    variants = (
        lambda: text,
        lambda: f"  {text}\n",
        lambda: text.swapcase(),
        lambda: text.upper(),
        lambda: f"{text}.",
        lambda: f"{text} {noise(rng, 3)}",
        lambda: f"{noise(rng, 3)} {text}",
        lambda: " ".join(
            [*words[:index], rng.choice(["the", "A", "an", "--", ""]), *words[index:]]
        ),
        lambda: "\n".join(words),
        lambda: f"<p>{text}</p>",
        lambda: f"{{{text}}}",
        lambda: f"The answer is {text}",
        lambda: text[: len(text) // 2],
        lambda: " ".join(words[:index]),
        lambda: " ".join(rng.sample(words, len(words))),
        lambda: (text + " ") * rng.randint(2, 40),
        lambda: "".join(char + rng.choice(["", "", "", ",", "\u0301"]) for char in text),
        lambda: noise(rng),
        lambda: "",
    )
    return rng.choice(variants)()


def row(answer: str, golds: Sequence[str], wrong: Sequence[str] = (), **fields: Any) -> Row:
    """One completion against right and wrong references."""
    references = [*([gold, True] for gold in golds), *([other, False] for other in wrong)]
    return {"completions": [{"text": answer}], "references": references, **fields}


def generated_rows(name: str, count: int, golds: Sequence[str] = ()) -> list[Row]:
    """Rows of which most answers are near a reference: one of `golds`, or noise."""
    rng = chooser(name)

    def random_row() -> Row:
        texts = [rng.choice(golds) if golds and rng.random() < 0.5 else noise(rng) for _ in "123"]
        right = texts[: rng.randint(1, 3)]
        answer = variant_of(rng, rng.choice(texts))
        return row(answer, right, texts[len(right) :], input=" ".join([*texts, noise(rng, 40)]))

    return [random_row() for _ in range(count)]


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a csv file."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))


def json_lines(path: Path) -> list[Any]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def written_rows(real_data: Path) -> list[Row]:
    """Notes and summaries that models wrote, with their inputs and the experts' own."""
    files = sorted((real_data / "aci_bench" / "predictions").glob("*.csv"))
    notes = chain.from_iterable(table(path)[:25] for path in files)
    folder = real_data / "human_rated" / "mts_dialog"
    summaries = table(folder / "MTS-Dialog-Automatic-Summaries-ValidationSet.csv")
    return [
        *(row(one["note"], [one["Reference Summaries"]], input=one["Dialogues"]) for one in notes),
        *(
            row(one["Automatic Summary"], [one["Reference Summary"]], input=one["Dialogue"])
            for one in summaries
        ),
    ]


def calculation_rows(real_data: Path) -> list[Row]:
    """What GPT-4o-mini answered to MedCalc-Bench, and what GPT-4's programs gave."""
    folder = real_data / "medcalc_bench"
    data = {one["Row Number"]: one for one in table(folder / "test_data_v1.0_20240626.csv")}
    names = ("openai_gpt-4o-mini_direct_answer.jsonl", "code_exec_gpt_4.jsonl")

    def rows() -> Iterator[Row]:
        for reply in chain.from_iterable(json_lines(folder / name) for name in names):
            question = data[str(reply["Row Number"])]
            extra = {
                "category": question["Category"],
                "output_type": question["Output Type"],
                "lower_limit": question["Lower Limit"],
                "upper_limit": question["Upper Limit"],
            }
            yield row(reply["LLM Answer"], [question["Ground Truth Answer"]], extra_data=extra)

    return list(rows())


def corrections(real_data: Path) -> list[str]:
    """The references of MEDEC: CORRECT, or the number of a sentence and how it should read."""
    rows = table(real_data / "medec" / "MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv")
    return [
        "CORRECT"
        if correction["Error Flag"] == "0"
        else f"{correction['Error Sentence ID']} {correction['Corrected Sentence']}"
        for correction in rows
        if correction["Text ID"]
    ]


def questions(real_data: Path) -> list[tuple[list[str], int]]:
    """Options of HEAD-QA's questions, and the index of the right one."""
    exams = json.loads((real_data / "headqa" / "test_HEAD_EN.json").read_text("utf-8"))["exams"]
    return [
        ([answer["atext"] for answer in exam_question["answers"]], int(exam_question["ra"]) - 1)
        for exam in exams.values()
        for exam_question in exam["data"]
    ]


def choice_rows(
    name: str, count: int, exam_questions: Sequence[tuple[list[str], int]]
) -> list[Row]:
    """Answers to multiple choice: a letter, a letter in words, the option's text, noise."""
    rng = chooser(name)

    def random_row() -> Row:
        texts, right = rng.choice(exam_questions)
        mapping = dict(zip("ABCDEFGHIJ", texts, strict=False))
        letter = rng.choice([*mapping, "F", "a", "A.", "(A)", "A B", ""])
        answer_texts = [
            letter,
            f" {letter}\n",
            f"The answer is {letter}.",
            rng.choice(texts),
            noise(rng, 4),
        ]
        completions = [
            {"text": rng.choice(answer_texts), "logprob": rng.choice([-0.1, -0.5, -2.0])}
            for _ in range(rng.randint(1, 3))
        ]
        references = [[text, index == right] for index, text in enumerate(texts)]
        return {"completions": completions, "references": references, "output_mapping": mapping}

    return [random_row() for _ in range(count)]
