"""Rows of scores with the records of the stage that made them, of any age."""

from datetime import datetime

from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import SCORE
from medhelm_spark.domain.stats import PerInstanceStats
from medhelm_spark.lake.lake import Lake


def scored(lake: Lake, unit: str, write_id: str, at: datetime, stage: str = SCORE.name) -> None:
    """A unit that a stage finished at a moment, with one row of scores."""
    if stage == SCORE.name:
        row = PerInstanceStats(
            run_spec_id=unit,
            instance_id="i",
            perturbation="",
            train_trial_index=0,
            trial_index=0,
            split="test",
            stats=(),
        )
        lake.append_rows("per_instance_stats", [row], write_id)
    record = RunRecord(
        stage=stage,
        unit_id=unit,
        write_id=write_id,
        fingerprint=write_id,
        suite="s",
        started_at=at,
        finished_at=at,
        counts={},
        code_version="0",
        spark_version="4",
        schema_version=1,
    )
    lake.append_rows("runs", [record], write_id)
