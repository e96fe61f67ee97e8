"""The heat colours of the board: readable, and in one order."""

import importlib.util
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

DASHBOARDS = Path(__file__).resolve().parents[3] / "dashboards"
INK = (0x16, 0x22, 0x2E)  # textColor of the light theme
DARK_INK = (0xE6, 0xED, 0xF3)  # and of the dark one


@pytest.fixture(scope="module")
def heat() -> ModuleType:
    spec = importlib.util.spec_from_file_location("heat", DASHBOARDS / "heat.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def luminance(rgb: tuple[int, int, int]) -> float:
    """Relative luminance by WCAG 2."""
    parts = [part / 255 for part in rgb]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: tuple[int, int, int], second: tuple[int, int, int]) -> float:
    """The ratio of two colours by WCAG 2; text needs 4.5."""
    dark, light = sorted(map(luminance, (first, second)))
    return (light + 0.05) / (dark + 0.05)


def test_text_is_readable_on_every_colour_in_light_and_dark(heat: ModuleType) -> None:
    for stops, ink in ((heat.STOPS, INK), (heat.DARK_STOPS, DARK_INK)):
        assert min(contrast(heat.colour(i / 100, stops), ink) for i in range(101)) >= 4.5


def test_better_is_further_from_the_paper_even_without_colour_vision(heat: ModuleType) -> None:
    shades = [luminance(heat.colour(i / 50)) for i in range(51)]
    assert all(before > after for before, after in pairwise(shades))
    shades = [luminance(heat.colour(i / 50, heat.DARK_STOPS)) for i in range(51)]
    assert all(before < after for before, after in pairwise(shades))


def test_the_inks_of_the_test_are_the_inks_of_the_theme() -> None:
    theme = (DASHBOARDS / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    for name, ink in (("light", INK), ("dark", DARK_INK)):
        own = theme.partition(f"[theme.{name}]")[2].partition("[theme")[0]
        assert 'textColor = "#{:02x}{:02x}{:02x}"'.format(*ink) in own
