"""Heat colours: one blue that only grows darker, so that colour-blind readers see the same order."""

from medhelm_spark.domain.stats import MetricInfo

# From the worst value of a metric's own scale to its best.
STOPS = ((244, 248, 251), (207, 225, 238), (156, 196, 221), (95, 159, 198), (44, 116, 168), (23, 80, 127))
DARK, LIGHT = (20, 32, 44), (255, 255, 255)


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


def luminance(rgb: tuple[int, int, int]) -> float:
    """Relative luminance (WCAG 2)."""
    parts = [c / 255 for c in rgb]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """Contrast ratio (WCAG 2), 4.5 and more is readable."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ink(background: tuple[int, int, int]) -> tuple[int, int, int]:
    """The text colour that is easier to read on a background."""
    return max(DARK, LIGHT, key=lambda rgb: contrast(rgb, background))


def css(rgb: tuple[int, int, int]) -> str:
    """A colour for a style attribute.

    >>> css((1, 2, 3))
    'rgb(1, 2, 3)'
    """
    return f"rgb({rgb[0]}, {rgb[1]}, {rgb[2]})"
