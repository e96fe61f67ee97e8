"""Measured amounts converted to another unit, exactly or not at all."""

import re
from collections.abc import Iterator
from decimal import Decimal

LEAST, MOST = Decimal("0.01"), Decimal(10_000)

# Per unit: other units with their factors; the first that gives LEAST to MOST is used.
FACTORS = {
    "kg": (("g", Decimal(1000)),),
    "g": (("mg", Decimal(1000)),),
    "mg": (("g", Decimal("0.001")), ("mcg", Decimal(1000))),
    "mcg": (("mg", Decimal("0.001")),),
    "L": (("mL", Decimal(1000)),),
    "mL": (("L", Decimal("0.001")),),
    "cm": (("mm", Decimal(10)),),  # not back: "PaO2 130mm" is a pressure
}
# A smaller number may be a difference (a fever that rose by 2 °C), which has another formula.
LEAST_DEGREES = {"°C": Decimal(30), "°F": Decimal(86)}
SPELLINGS = {"µg": "mcg", "μg": "mcg", "ml": "mL", "l": "L", "° C": "°C", "° F": "°F"}

AMOUNT = re.compile(
    r"(?<![\w.,/–-])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?( ?)"
    r"(kg|mcg|µg|μg|mg|mL|ml|cm|g|L|l|° ?C|° ?F)"
    r"(?![\w/²³^·*]|[.-]\w)(?! ?(?:Hg|H2O|/|per\b|\(\s?\d))"
)
# A number that shares its unit with one before it (5-10 mg, 5 to 10 mg, 2 x 3 cm), or repeats it in
# brackets; the pattern above leaves out what is repeated: 38°C (100.4°F).
BOUND = re.compile(r"(?:\d\s*(?:-|–|to|or|and|by|x|×|/|,|±|\+)\s*|\(\s?)$")


def amounts(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and new text of every amount that is exactly expressible in another unit.

    >>> [new for _, _, new in amounts("Give 0.5 g at 38 °C, then 5-10 mg.")]
    ['500 mg', '100.4 °F']
    """
    for match in AMOUNT.finditer(text):
        if BOUND.search(text, max(0, match.start() - 8), match.start()):
            continue
        value = Decimal(match[1].replace(",", "") + (match[2] or ""))
        if converted := _converted(value, SPELLINGS.get(match[4], match[4])):
            number, unit = converted
            yield match.start(), match.end(), f"{_plain(number)}{match[3]}{unit}"


def _converted(value: Decimal, unit: str) -> tuple[Decimal, str] | None:
    if value < LEAST_DEGREES.get(unit, 0):
        return None
    if unit == "°C":
        return value * Decimal("1.8") + 32, "°F"
    if unit == "°F":
        celsius = ((value - 32) / Decimal("1.8")).quantize(Decimal("0.01"))
        return (celsius, "°C") if celsius * Decimal("1.8") + 32 == value else None
    for other, factor in FACTORS[unit]:
        if LEAST <= value * factor < MOST:
            return value * factor, other
    return None


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"
