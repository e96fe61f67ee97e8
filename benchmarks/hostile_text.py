"""Time against length for texts that are made to be slow to read: it doubles where length does.

python -m benchmarks.hostile_text > benchmarks/results/hostile_text.md
"""

import time
from collections.abc import Callable, Mapping

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod
from medhelm_spark.scenarios.records import BadRecord
from medhelm_spark.scenarios.shapes.multiple_choice import choices_inside

LENGTHS = (5_000, 10_000, 20_000, 40_000)
OPTIONS = {"A": "aspirin", "B": "no heparin", "C": "none", "D": "yes"}
CHOICE = AnswerExtraction(method=ExtractionMethod.CHOICE)
UNITS: Mapping[str, str] = {
    "newlines": "\n",
    "`{`": "{",
    '`{"`': '{"',
    "`(A) `": "(A) ",
    "`not A `": "not A ",
    "`'A': \"`": "'A': \"",
    "newlines and `'A'`": "\n\n\n'A'",
    "lines of labels": "A\n",
    "`the answer is A. `": "the answer is A. ",
    "accents out of order": "\u0301\u0323",
}
INSIDE = ("'A': \"", "\n\n\n'A'")
"""Units for questions with options inside."""


def read(text: str) -> object:
    """An answer by `choice`."""
    return read_answer(text, CHOICE, output_mapping=OPTIONS)


def options_inside(text: str) -> object:
    """Options written inside a question, which ends in none."""
    try:
        return choices_inside("Which?" + text)
    except BadRecord:
        return None


def milliseconds(function: Callable[[str], object], text: str) -> float:
    """Processor time of the fastest of three calls."""
    seconds = []
    for _ in range(3):
        started = time.process_time()
        function(text)
        seconds.append(time.process_time() - started)
    return min(seconds) * 1000


def main() -> None:
    """Print the table."""
    print("# Texts made to be slow\n")
    print("Processor time in milliseconds by length in characters (`benchmarks.hostile_text`),")
    print("on two cores that other work shared.\n")
    print(f"| What is read | Repeated | {' | '.join(f'{length:,}' for length in LENGTHS)} |")
    print(f"|---|---|{'---|' * len(LENGTHS)}")
    rows = [
        ("options inside a question", options_inside, name)
        if unit in INSIDE
        else ("answer, `choice`", read, name)
        for name, unit in UNITS.items()
    ]
    for subject, function, unit in rows:
        times = [
            milliseconds(function, "x " + (UNITS[unit] * length)[:length] + "x")
            for length in LENGTHS
        ]
        print(f"| {subject} | {unit} | {' | '.join(f'{each:.1f}' for each in times)} |")


if __name__ == "__main__":
    main()
