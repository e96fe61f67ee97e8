# Databricks notebook source
# %% [markdown]
# # Add your own benchmark
#
# Three files make a benchmark: a prompt, the data and a configuration. All keys are in
# `docs/own-benchmark.md`.

# %%
import csv
import json
import tempfile
from pathlib import Path

from medhelm_spark import Evaluation, fetch_model

fetch_model()  # the small model, once
LAKE = "benchmark_output"  # where the tables are; on Databricks a catalog.schema: "main.medhelm"
MODEL = "huggingface/smollm2-135m-instruct"
folder = Path(tempfile.mkdtemp())  # on a cluster one that every machine can read, as in /Volumes

# COMMAND ----------

# %% [markdown]
# The prompt. `{letter}` is filled from the column of that name.

# %%
PROMPT = """\
Read the letter. Does the patient need an appointment within two weeks?

Letter: {letter}

Answer yes or no.
"""

# COMMAND ----------

# %% [markdown]
# The data: a csv file with an id, the prompt's columns and the right answer. These letters are made
# up.

# %%
LETTERS = [
    ("58-year-old with black stools and a loss of 6 kg in three months.", "yes"),
    ("30-year-old with hay fever, well controlled on a nasal spray.", "no"),
    ("66-year-old with painless blood in the urine for two weeks.", "yes"),
    ("24-year-old asks about foot hygiene before a holiday.", "no"),
]
with (folder / "data.csv").open("w", newline="", encoding="utf-8") as stream:
    writer = csv.writer(stream)
    writer.writerow(["id", "letter", "correct_answer", "incorrect_answers"])
    for number, (letter, answer) in enumerate(LETTERS, start=1):
        wrong = json.dumps(["no" if answer == "yes" else "yes"])
        writer.writerow([f"letter-{number}", letter, answer, wrong])

# COMMAND ----------

# %% [markdown]
# The configuration. `access_level` is `private` where it is left out: then only models on this
# job's own machines may see the text. `yes_no` finds the answer in a sentence.

# %%
CONFIGURATION = """\
name: REFERRAL
description: Does a letter ask for an appointment within two weeks?
access_level: public
prompt_file: prompt.txt
dataset_file: data.csv
answer_extraction: yes_no
max_tokens: 64
metrics:
  - name: exact_match
"""

for name, text in (("prompt.txt", PROMPT), ("benchmark.yaml", CONFIGURATION)):
    (folder / name).write_text(text, encoding="utf-8")

# COMMAND ----------

# %% [markdown]
# Evaluate it. Edited files are noticed: the next run reads them again.

# %%
evaluation = Evaluation(LAKE, spark=globals().get("spark"), tracking=False)
entry = f"medhelm_configurable_benchmark:config_path={folder}/benchmark.yaml,model={MODEL}"
done = evaluation.run(entry, suite="own-benchmark")
print(done.board)
