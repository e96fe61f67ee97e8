"""Reading GPT-4's own replies to MedCalc-Bench, as its authors published them."""

import json
from pathlib import Path

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

TAGGED = AnswerExtraction(method=ExtractionMethod.REGEX, pattern=r"<answer>\s*(\S.*?)\s*<")


def test_a_pattern_reads_what_the_authors_read(real_data: Path) -> None:
    """The three others hold the tag twice, once as an example of how to write it."""
    lines = (real_data / "medcalc_bench" / "code_exec_gpt_4.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    same = 0
    for row in rows:
        turns = [turn["content"] for turn in row["LLM Chat History"] if turn["role"] == "assistant"]
        read = read_answer(turns[-1], TAGGED, output_mapping={})
        same += (read or "None") == str(row["LLM Answer"])
    assert (len(rows), same) == (353, 350)
