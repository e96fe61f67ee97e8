"""The prevalence that a reader states: of all benchmarks, or of some by name."""

from collections.abc import Mapping, Sequence

from medhelm_spark.errors import ConfigError

Stated = float | Mapping[str, float] | None
"""The share of cases that is positive: of all benchmarks, or by scenario name; None: the data's."""


def stated_of(words: Sequence[str]) -> float | dict[str, float] | None:
    """A prevalence as it was typed, or is in an address.

    >>> stated_of(["0.02"]), stated_of(["referral=0.02", "sepsis=0.1"]), stated_of([])
    (0.02, {'referral': 0.02, 'sepsis': 0.1}, None)

    Raises:
        ConfigError: it is no number, or one of all beside some by name.
    """
    pairs = [text.rpartition("=") for text in words]
    try:
        shares = {name: float(number) for name, _, number in pairs}
    except ValueError:
        raise _wrong(words) from None
    if "" not in shares:
        return shares or None
    if len(words) > 1:
        raise _wrong(words)
    return shares[""]


def share_of(stated: Stated, *names: str) -> float | None:
    """The share of a benchmark by the first of its names that has one; None: the data's."""
    if not isinstance(stated, Mapping):
        return stated
    return next((stated[name] for name in names if name in stated), None)


def _wrong(words: Sequence[str]) -> ConfigError:
    return ConfigError(
        f"prevalence is {' '.join(words)}; allowed: one number between 0 and 1, or one or more as "
        "BENCHMARK=NUMBER."
    )
