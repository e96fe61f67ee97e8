"""Benchmarks in the very form of MedHELM's page on configurable benchmarks, files and keys."""

from pathlib import Path

from tests.spark.conftest import Site

DATA = """\
id,question,context,correct_answer,incorrect_answers
1,Is the wound infected?,"Red, warm margins; pus.",yes,"[""no""]"
2,Is the patient febrile?,"Temperature 36.8 °C, ""feels fine"".",no,"[""yes""]"
"""
PROMPT = """\
Read the note and answer the question with yes or no.

Note: {context}
Question: {question}
Answer:"""
JUDGE = """\
You are a physician who grades the answer of a language model.

You are given the question, the answer and a reference. Give a score from 0 to 5 and a reason for
each criterion inside <rubric_criteria>:

<user_request>
{QUESTION}
</user_request>

<response>
{RESPONSE}
</response>

<gold_response>
{GOLD_RESPONSE}
</gold_response>

<rubric_criteria>
{
    "accuracy": ["score", "explanation"],
    "clarity": ["score", "explanation"]
}
</rubric_criteria>

Reply with nothing but JSON of this form:
{
    "accuracy": {"score": 0, "explanation": "why"},
    "clarity": {"score": 0, "explanation": "why"}
}
"""
EXACT = """\
name: WOUND
description: Is a wound infected, from a short note.
prompt_file: prompt.txt
dataset_file: dataset.csv
max_tokens: 1
metrics:
  - name: exact_match
"""
JURY = """\
name: WOUND-JURY
description: The same questions, graded by two judges.
prompt_file: prompt.txt
dataset_file: dataset.csv
max_tokens: 100
metrics:
  - name: jury_score
    prompt_file: judge_prompt.txt
    judges:
      - name: clinic/kind
        model_name: clinic/kind
      - name: clinic/stern
        model_name: clinic/stern
  - name: rouge_l
"""
ENTRIES = """\
entries: [
  {description: "medhelm_configurable_benchmark:config_path=exact.yaml", priority: 1},
  {description: "medhelm_configurable_benchmark:config_path=jury.yaml", priority: 1},
]
"""


def test_an_exact_match_and_a_jury_benchmark_as_they_stand_there(site: Site) -> None:
    site.deploy("clinic/yes", text="yes")
    for name, score in (("kind", 5), ("stern", 2)):
        site.deploy(f"clinic/{name}", mode="judge", score=score)
    files = {
        "dataset.csv": DATA,
        "prompt.txt": PROMPT,
        "judge_prompt.txt": JUDGE,
        "exact.yaml": EXACT,
        "jury.yaml": JURY,
        "run_entries.conf": ENTRIES,
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    assert site.run("-c", "run_entries.conf", "--models-to-run", "clinic/yes") == 0
    means = {cell["main_metric"]: (cell["mean"], cell["count"]) for cell in site.board()}
    assert means["exact_match"] == (0.5, 2)
    assert means["jury_score"] == (3.5, 2)
    texts = [
        text
        for row in site.rows("prompts")
        for text in (row["text"], *(message["content"] for message in row["messages"]))
    ]
    prompt_start = JUDGE.split("<user_request>")[0]
    assert sum(text.startswith(prompt_start) for text in texts) == 2
