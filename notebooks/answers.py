# Databricks notebook source
# %% [markdown]
# # Look at the answers behind a number
#
# A mean is made of scored answers. This notebook opens one: the prompt as it was sent, the answer
# as it came back, and its score.

# %%
from medhelm_spark import Evaluation, demo_benchmark, fetch_model

fetch_model()  # the small model, once
LAKE = "benchmark_output"  # where the tables are; on Databricks a catalog.schema: "main.medhelm"
MODEL = "huggingface/smollm2-135m-instruct"
BENCHMARK = demo_benchmark("triage_choice")

# COMMAND ----------

# %% [markdown]
# A board to start from. Answers that are in the lake already are not asked for again.

# %%
evaluation = Evaluation(LAKE, spark=globals().get("spark"), tracking=False)
done = evaluation.run(BENCHMARK, models_to_run=[MODEL], suite="answers", max_eval_instances=8)
print(done.board)

# COMMAND ----------

# %% [markdown]
# Every answer behind the number, the lowest score first. This table has no text.

# %%
page = evaluation.instances("TRIAGE-CHOICE", MODEL, suite="answers", order="lowest")
print(page.to_pandas().to_string(index=False))

# COMMAND ----------

# %% [markdown]
# All that is stored of the first three. **This prints prompts and answers**: with patient data, do
# so only where that text may be shown, and do not save the output.

# %%
for score in page.page.scores[:3]:
    detail = page.detail(score.key)
    print("=" * 80)
    turns = [f"{message.role}: {message.content}" for message in detail.prompt.messages]
    print(detail.prompt.text or "\n".join(turns))  # a conversation has turns, other prompts text
    print("answer   ", repr(detail.result.completions[0].text))
    print("right    ", [ref.text for ref in detail.instance.references if ref.is_correct])
    print("score    ", score.value)
