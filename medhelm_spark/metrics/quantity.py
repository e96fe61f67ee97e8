"""Numbers with a unit, as answers and references write them: `25.2 mL/min`, `1,250 mg`, `12 %`."""

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = (
    r"[-+]?(?:[1-9][0-9]{0,2}(?:,[0-9]{3}){1,12}(?:\.[0-9]{0,40})?|[0-9]{1,40}(?:\.[0-9]{0,40})?|"
    r"\.[0-9]{1,40})"
    r"(?:e[-+]?[0-9]{1,3})?"
)
_AREA = r"(?:[23]|/\s?1\.73(?:\s?m(?:\^?2|²)?)?)?"
_UNIT = rf"(?:\s?(?:mm\s?hg|[a-zµμ°%][a-zµμ°%/.*·^²³-]{{0,30}}{_AREA}))?"
QUANTITY = re.compile(rf"({_NUMBER})({_UNIT})\.?", re.IGNORECASE)
"""A whole text that is a number, the first group, and perhaps a unit, the second."""

MINUS = str.maketrans(dict.fromkeys("−‐‑‒–﹣－", "-"))
"""The signs that are written for a minus; models write a hyphen of Unicode's too."""
_DEGREES = str.maketrans({"℃": "°C", "℉": "°F"})
_MICROGRAM = re.compile(r"\bmcg\b")
"""How safe prescribing writes the microgram, whose µ is misread as m."""
_MARKUP = " \t\r\n*_`"
_SAME_LETTER = str.maketrans({"µ": "u", "μ": "u", "²": "2", "³": "3", "^": "", ".": ""})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, exact, and its unit without case, spaces and points; empty where there is none."""

    number: Decimal
    unit: str


def quantity(text: str) -> Quantity | None:
    """The quantity that a whole text is; None for any other text.

    >>> quantity("1,250.5 mg."), quantity("25.2 mL/min/1.73 m²").unit, quantity("about 5")
    (Quantity(number=Decimal('1250.5'), unit='mg'), 'ml/min/173m2', None)
    >>> quantity("**5 mcg**") == quantity("5 µg"), quantity("38 ℃") == quantity("38 °C")
    (True, True)
    """
    match = QUANTITY.fullmatch(text.strip(_MARKUP).translate(MINUS).translate(_DEGREES))
    if not match:
        return None
    # Before the case goes: a capital Greek mu would be another letter.
    unit = "".join(match[2].translate(_SAME_LETTER).casefold().split())
    return Quantity(Decimal(match[1].replace(",", "")), _MICROGRAM.sub("ug", unit))
