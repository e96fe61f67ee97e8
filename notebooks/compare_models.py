# Databricks notebook source
# %% [markdown]
# # Compare two models
#
# A small model beside a baseline that always gives the same answer: is the model better than that?

# %%
from medhelm_spark import Deployment, Evaluation, Locality, demo_benchmark, fetch_model

fetch_model()  # the small model, once
LAKE = "benchmark_output"  # where the tables are; on Databricks a catalog.schema: "main.medhelm"
MODEL = "huggingface/smollm2-135m-instruct"
BASELINE = "baseline/routine"
BENCHMARK = demo_benchmark("triage_choice")

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
    BENCHMARK,
    models_to_run=[MODEL, BASELINE],
    suite="compare",
    max_eval_instances=12,
)
print(done.board)

# COMMAND ----------

# %% [markdown]
# The paired difference, first minus second, on the instances that both answered. Each row is a
# decision: better, worse, or not told apart. Twelve instances seldom tell two models apart.

# %%
comparison = evaluation.compare(MODEL, BASELINE, suite="compare")
print(comparison)

# COMMAND ----------

# %% [markdown]
# The decision in a sentence. An interval that lies above zero says that the model is better than
# the fixed answer, an interval below zero that it is worse. An interval that holds zero decides
# nothing: then no reason is on record to prefer the model, and more instances are needed.

# %%
for row in comparison.rows():
    low, high = row["ci_low"], row["ci_high"]
    verdict = "is not told apart from"
    if low is not None and low > 0:
        verdict = "is better than"
    if high is not None and high < 0:
        verdict = "is worse than"
    print(f"{MODEL} {verdict} {BASELINE} on {row['scenario_name']} ({row['n']} instances).")
    print(f"Accuracy differs by {row['mean_difference']:+.3f}, 95 % interval [{low}, {high}].")
    needed = "use the model further" if verdict == "is better than" else "do not rely on the model"
    print(f"Decision on these instances: {needed}.")
