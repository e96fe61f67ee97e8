"""The heat colours of the board: readable, and in one order."""

import importlib.util
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

DASHBOARDS = Path(__file__).resolve().parents[3] / "dashboards"
INK = (0x16, 0x22, 0x2E)  # textColor of the theme


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


def test_dark_text_is_readable_on_every_colour(heat: ModuleType) -> None:
    ratios = [
        (luminance(heat.colour(i / 100)) + 0.05) / (luminance(INK) + 0.05) for i in range(101)
    ]
    assert min(ratios) >= 4.5


def test_better_is_darker_even_without_colour_vision(heat: ModuleType) -> None:
    shades = [luminance(heat.colour(i / 50)) for i in range(51)]
    assert all(before > after for before, after in pairwise(shades))


def test_the_ink_of_the_test_is_the_ink_of_the_theme() -> None:
    theme = (DASHBOARDS / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert 'textColor = "#{:02x}{:02x}{:02x}"'.format(*INK) in theme
