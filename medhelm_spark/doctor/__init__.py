"""Whether a job can run here: facts are gathered once, and small pure checks judge them."""

from medhelm_spark.doctor.checks import CHECKS, CheckFinding, CheckState, findings
from medhelm_spark.doctor.facts import Facts, gather

__all__ = ["CHECKS", "CheckFinding", "CheckState", "Facts", "findings", "gather"]
