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
# Models are declared in the site's `model_deployments.yaml` (`docs/own-model.md`). This one is
# declared for this object only, and needs no model: the engine `canned` gives a fixed answer.

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
# Both answer the same twelve instances. Answers that are in the lake already are not asked
# for again.

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
# decision: better, worse, or not told apart. Twelve instances seldom show a difference.

# %%
comparison = evaluation.compare(MODEL, BASELINE, suite="compare")
print(comparison)

# COMMAND ----------

# %% [markdown]
# The decision in a sentence. `decision` rests on the adjusted p-value: `better`, `worse`, or `not
# told apart`. Only `better` is a reason to prefer the model to an answer that never changes.

# %%
for row in comparison.rows():
    difference, low, high = row["mean_difference"], row["ci_low"], row["ci_high"]
    print(f"{row['scenario_name']}, {row['n']} instances: {MODEL} against {BASELINE}:")
    print(f"{row['decision']}, difference {difference}, 95 % interval {low} to {high}.")
    preferred = {"better": MODEL, "worse": BASELINE}
    choice = preferred.get(row["decision"], "neither; more instances are needed")
    print(f"Prefer on these instances: {choice}.")
