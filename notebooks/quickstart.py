# Databricks notebook source
# %% [markdown]
# # Quickstart
#
# Evaluate a small model on a benchmark that ships with the package, and look at its board. It takes
# a minute without a GPU. How to open this file in Jupyter or on Databricks: `notebooks/README.md`.

# %%
from medhelm_spark import Evaluation, demo_benchmark, fetch_model

LAKE = "benchmark_output"  # where the tables are; on Databricks a catalog.schema: "main.medhelm"
MODEL = "huggingface/smollm2-135m-instruct"
BENCHMARK = demo_benchmark("triage_choice")

# COMMAND ----------

# %% [markdown]
# The small model is downloaded once; it is too small for medicine, and runs anywhere. An
# `Evaluation` is a lake and a site's configuration. Databricks gives its own `spark`; elsewhere a
# session is started when one is needed.

# %%
fetch_model()
evaluation = Evaluation(LAKE, spark=globals().get("spark"), tracking=False)

# COMMAND ----------

# %% [markdown]
# What would run, and where the policy allows the text to go. Nothing is written or sent.

# %%
plan = evaluation.dry_run(
    BENCHMARK, models_to_run=[MODEL], suite="quickstart", max_eval_instances=8
)
print(plan.to_pandas().to_string(index=False))

# COMMAND ----------

# %% [markdown]
# All stages, from the data to the board. Every mean has its 95 % interval and the number of
# answers.

# %%
done = evaluation.run(BENCHMARK, models_to_run=[MODEL], suite="quickstart", max_eval_instances=8)
print(done.board)

# COMMAND ----------

# %% [markdown]
# The same again asks nobody: the answers are in the lake.

# %%
again = evaluation.run(BENCHMARK, models_to_run=[MODEL], suite="quickstart", max_eval_instances=8)
print(again.model_calls, "model calls")
