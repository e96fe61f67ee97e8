"""The key `critical` of benchmarks, cards and gate files: what counts as a critical failure."""

from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.errors import ConfigError

ONE_OF = "one of missed_positives: true, missed_class: NAME, score_at_most: NUMBER"


def check_critical(critical: CriticalFailure | None, where: str, key: str = "critical") -> None:
    """Refuse a key that states none or several kinds of failure.

    Raises:
        ConfigError: it does.
    """
    if critical is not None and not critical.is_one:
        raise ConfigError(f"{where}: {key} is wrong; allowed: {ONE_OF}.")
