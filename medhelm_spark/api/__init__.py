"""The product in Python: `Evaluation` and the results that it returns.

It decides what the command line and a notebook have in common: checks, policy, what is ingested,
the order of stages. It prints nothing but progress.
"""

from medhelm_spark.api.coverage import Missing, Shortfall
from medhelm_spark.api.entries import Entries
from medhelm_spark.api.estimates import Estimate, Estimates
from medhelm_spark.api.evaluation import Evaluation
from medhelm_spark.api.own_data import OwnData
from medhelm_spark.api.results import (
    Board,
    Comparison,
    Disclosures,
    Evaluated,
    Instances,
    Release,
    Robustness,
    Runs,
)

__all__ = [
    "Board",
    "Comparison",
    "Disclosures",
    "Entries",
    "Estimate",
    "Estimates",
    "Evaluated",
    "Evaluation",
    "Instances",
    "Missing",
    "OwnData",
    "Release",
    "Robustness",
    "Runs",
    "Shortfall",
]
