"""Heat colours: one blue that only gets darker, so that it is readable without colour vision."""

# From the worst value of a metric's scale to the best; all light enough for dark text.
STOPS = (
    (247, 250, 252),
    (226, 237, 245),
    (196, 219, 235),
    (161, 199, 223),
    (124, 176, 210),
    (88, 151, 194),
)


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
