"""What MLflow is told, as plain rows: no Spark, no text of an instance, no source id."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import Stat


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedRun:
    """One current RunSpec with its stats.

    `fingerprints` are the stages' by stage name, `counts` any row counts by name. `variant` is what
    the board calls a further run of a model on the same scenario, empty for the first.
    """

    run_spec: RunSpec
    stats: tuple[Stat, ...]
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    variant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedSuite:
    """One model deployment's runs in one suite, with the board's win rate and MedHELM's.

    `superseded` are run_spec_ids that the suite once planned and no longer reads. `delta_versions`
    gives per table its path, URI or catalog name and the version that the numbers were read from.
    `work` says what asking cost, by name: requests, tokens, seconds, tokens per second, failures.
    """

    suite: str
    model_deployment: str
    runs: tuple[TrackedRun, ...]
    mean_win_rate: float | None = None
    medhelm_mean_win_rate: float | None = None
    superseded: tuple[str, ...] = ()
    work: Mapping[str, float] = field(default_factory=dict)
    delta_versions: Mapping[str, tuple[str, int]] = field(default_factory=dict)
