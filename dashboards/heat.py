"""Heat colours: of one blue the depth alone says how good, readable without colour vision.

On light pages it gets darker towards the best value, on dark ones brighter; text stays legible.
"""

Rgb = tuple[int, int, int]

# From the worst value of a metric's scale to the best; all light enough for dark text.
STOPS: tuple[Rgb, ...] = (
    (247, 250, 252),
    (226, 237, 245),
    (196, 219, 235),
    (161, 199, 223),
    (124, 176, 210),
    (88, 151, 194),
)
# All dark enough for light text.
DARK_STOPS: tuple[Rgb, ...] = (
    (20, 29, 38),
    (22, 41, 59),
    (24, 54, 82),
    (26, 67, 104),
    (28, 80, 126),
    (31, 93, 148),
)


def colour(share: float, stops: tuple[Rgb, ...] = STOPS) -> Rgb:
    """The colour of a share from 0 to 1, between two of the stops."""
    scaled = share * (len(stops) - 1)
    low = min(int(scaled), len(stops) - 2)
    weight = scaled - low
    red, green, blue = (
        round(a + (b - a) * weight) for a, b in zip(stops[low], stops[low + 1], strict=True)
    )
    return red, green, blue


def css(rgb: Rgb) -> str:
    """A colour for a style attribute.

    >>> css((1, 2, 3))
    'rgb(1, 2, 3)'
    """
    return f"rgb({rgb[0]}, {rgb[1]}, {rgb[2]})"


def background(share: float) -> str:
    """The colour of a share, by the theme in use."""
    return f"light-dark({css(colour(share))}, {css(colour(share, DARK_STOPS))})"


def scale() -> str:
    """All stops in a row, from the worst to the best."""
    steps = len(STOPS) - 1
    return ", ".join(background(step / steps) for step in range(steps + 1))
