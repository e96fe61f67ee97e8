"""Reading what models really wrote: GPT-4 on MedCalc-Bench, a very small model on PubMedQA."""

import json
from pathlib import Path

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

WORDS = AnswerExtraction(method=ExtractionMethod.YES_NO)
TAGGED = AnswerExtraction(method=ExtractionMethod.REGEX, pattern=r"<answer>\s*(\S.*?)\s*<")


def test_a_pattern_reads_what_the_authors_read(real_data: Path) -> None:
    """The three others have the tag twice, once as an example of how to write it."""
    lines = (real_data / "medcalc_bench" / "code_exec_gpt_4.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    same = 0
    for row in rows:
        turns = [turn["content"] for turn in row["LLM Chat History"] if turn["role"] == "assistant"]
        read = read_answer(turns[-1], TAGGED, output_mapping={})
        same += (read or "None") == str(row["LLM Answer"])
    assert (len(rows), same) == (353, 350)


def test_a_small_models_words_are_read_where_strict_reads_none(real_data: Path) -> None:
    """Of 15 unreadable replies 13 name several words ("Yes, no"), two go on and do not end."""
    (path,) = (real_data / "helm_output_sample" / "runs" / "sample").glob("*smollm2/*_state.json")
    strict = right = unreadable = 0
    for state in json.loads(path.read_text("utf-8"))["request_states"]:
        text = state["result"]["completions"][0]["text"]
        references = state["instance"]["references"]
        texts = [reference["output"]["text"] for reference in references]
        (gold,) = (
            reference["output"]["text"]
            for reference in references
            if "correct" in reference["tags"]
        )
        read = read_answer(text, WORDS, output_mapping={}, references=texts)
        strict += text.strip() == gold
        right += read == gold
        unreadable += read is None
    assert (strict, right, unreadable) == (2, 14, 15)
