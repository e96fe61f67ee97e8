# Databricks notebook source
# %% [markdown]
# # Compare two models
#
# A small model beside a baseline that always gives the same answer: is the model better than that?

# %%
from medhelm_spark import Evaluation
from medhelm_spark.api import Deployment, Locality
from medhelm_spark.cli import main
from medhelm_spark.config.resources import conf_path

main(["fetch-model"])  # the small model, once
LAKE = "benchmark_output"  # where the tables are; on Databricks a catalog.schema: "main.medhelm"
MODEL = "huggingface/smollm2-135m-instruct"
BASELINE = "baseline/routine"
BENCHMARK = conf_path("demos", "triage_choice", "run_entries.conf")

# COMMAND ----------

# %% [markdown]
# Models stand in the site's `model_deployments.yaml` (`docs/own-model.md`). This one is known to
# this object only, and needs no model: the engine `canned` gives a fixed answer.

# %%
baseline = Deployment(
    name=BASELINE,
    model=BASELINE,
    engine="canned",
    locality=Locality.LOCAL,
    args={"mode": "constant", "text": "routine"},
)
evaluation = Evaluation(LAKE, spark=globals().get("spark"), tracking=False, deployments=[baseline])

# COMMAND ----------

# %% [markdown]
# Both answer the same twelve instances. Answers that the lake already holds are not asked again.

# %%
done = evaluation.run(
    conf_paths=[BENCHMARK],
    models_to_run=[MODEL, BASELINE],
    suite="compare",
    max_eval_instances=12,
)
print(done.board)

# COMMAND ----------

# %% [markdown]
# The paired difference, first minus second, on the instances that both answered. Where its interval
# holds zero, these instances do not tell the two apart: twelve seldom do.

# %%
comparison = evaluation.compare(MODEL, BASELINE, suite="compare")
print(comparison)
