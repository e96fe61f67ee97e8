"""Heat colours: one blue that only gets darker, so that it is readable without colour vision."""

from medhelm_spark.domain.stats import MetricInfo

# From the worst value of a metric's scale to the best; all light enough for dark text.
STOPS = (
    (247, 250, 252),
    (226, 237, 245),
    (196, 219, 235),
    (161, 199, 223),
    (124, 176, 210),
    (88, 151, 194),
)


def share(value: float, info: MetricInfo | None) -> float | None:
    """A value on the scale from the worst (0) to the best (1) of its metric.

    None where the metric has no known scale or no direction, so that the cell gets no colour.
    """
    if info is None or info.lower_is_better is None or info.minimum is None or info.maximum is None:
        return None
    above = (value - info.minimum) / (info.maximum - info.minimum)
    above = min(1.0, max(0.0, above))
    return 1 - above if info.lower_is_better else above


def colour(share: float) -> tuple[int, int, int]:
    """The colour of a share from 0 to 1, between two of the stops."""
    scaled = share * (len(STOPS) - 1)
    low = min(int(scaled), len(STOPS) - 2)
    weight = scaled - low
    red, green, blue = (
        round(a + (b - a) * weight) for a, b in zip(STOPS[low], STOPS[low + 1], strict=True)
    )
    return red, green, blue


def css(rgb: tuple[int, int, int]) -> str:
    """A colour for a style attribute.

    >>> css((1, 2, 3))
    'rgb(1, 2, 3)'
    """
    return f"rgb({rgb[0]}, {rgb[1]}, {rgb[2]})"
