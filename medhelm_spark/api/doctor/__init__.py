"""Whether a job can run here: facts are gathered once, and small pure checks judge them."""

from medhelm_spark.api.doctor.checks import CHECKS, Finding, State, findings
from medhelm_spark.api.doctor.facts import Facts, gather

__all__ = ["CHECKS", "Facts", "Finding", "State", "findings", "gather"]
