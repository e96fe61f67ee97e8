"""Heat colours: one blue that only grows darker, in the same order for colour-blind readers."""

from medhelm_spark.domain.stats import MetricInfo

# From the worst value of a metric's own scale to its best; light enough for dark text everywhere.
STOPS = (
    (247, 250, 252),
    (226, 237, 245),
    (196, 219, 235),
    (161, 199, 223),
    (124, 176, 210),
    (88, 151, 194),
)


def place(value: float, info: MetricInfo | None) -> float | None:
    """Where a value stands between the worst (0) and the best (1) of its metric.

    None where the metric has no known scale or no direction: a colour would say too much.
    """
    if info is None or info.lower_is_better is None or info.minimum is None or info.maximum is None:
        return None
    share = (value - info.minimum) / (info.maximum - info.minimum)
    share = min(1.0, max(0.0, share))
    return 1 - share if info.lower_is_better else share


def colour(at: float) -> tuple[int, int, int]:
    """The colour at a place between 0 and 1."""
    scaled = at * (len(STOPS) - 1)
    low = min(int(scaled), len(STOPS) - 2)
    share = scaled - low
    red, green, blue = (
        round(a + (b - a) * share) for a, b in zip(STOPS[low], STOPS[low + 1], strict=True)
    )
    return red, green, blue


def css(rgb: tuple[int, int, int]) -> str:
    """A colour for a style attribute.

    >>> css((1, 2, 3))
    'rgb(1, 2, 3)'
    """
    return f"rgb({rgb[0]}, {rgb[1]}, {rgb[2]})"
