"""Abbreviations spelled out as an option's text spells them: "MCA", "T2DM", "MTX", "CN IX", "β".

Initials abbreviate words that follow one another in an option's text, where they abbreviate no
others ("IDA" for "iron deficiency anemia"); the table has what is no initials. An abbreviation
that an option's text has stays as it is.
"""

import re
from functools import lru_cache

_KNOWN = {
    "MTX": "methotrexate", "ASA": "aspirin", "HCTZ": "hydrochlorothiazide", "APAP": "acetaminophen",
    "ASS": "aspirin", "NTG": "nitroglycerin", "GTN": "nitroglycerin", "INH": "isoniazid",
    "RIF": "rifampin", "EMB": "ethambutol", "PZA": "pyrazinamide",
    "HAV": "hepatitis a", "HBV": "hepatitis b", "HCV": "hepatitis c", "HDV": "hepatitis d",
    "HEV": "hepatitis e", "VZV": "varicella zoster", "RCA": "right coronary",
    "LCX": "left circumflex", "LCx": "left circumflex", "CXR": "chest radiograph",
    "ECG": "electrocardiogram", "EKG": "electrocardiogram", "EEG": "electroencephalogram",
    "ABx": "antibiotics", "IVF": "intravenous fluids", "CN I": "olfactory", "CN II": "optic",
    "CN III": "oculomotor", "CN IV": "trochlear", "CN V": "trigeminal", "CN VI": "abducens",
    "CN VII": "facial", "CN VIII": "vestibulocochlear", "CN IX": "glossopharyngeal",
    "CN X": "vagus", "CN XI": "accessory", "CN XII": "hypoglossal", "β": "beta", "α": "alpha",
    "γ": "gamma",
}  # fmt: skip
_SHORT = re.compile(
    r"(?<![\w-])(?:CN [IVX]{1,4}|[A-Z][A-Za-z0-9]{1,6}(?<=[A-Z0-9x])|[αβγ])(?![^\W\d_])"
)
_TWICE = re.compile(r"\b([^\W_][^()\n]{2,60}?) \(\1\)", re.IGNORECASE)
"""A phrase and its abbreviation in brackets, spelled out."""
_ARROWED = re.compile(r"[↑↓] ?[\w-]+(?:(?:,? (?:and|with|but)|[,;/])? ?[↑↓] ?[\w-]+){0,5}")
_CHANGE = {
    "↑": ("increased", "increases", "elevated", "raised", "high", "rises", "up"),
    "↓": ("decreased", "decreases", "reduced", "low", "lowered", "falls", "down"),
}
_WORD = re.compile(r"[^\W_]+")
_CHUNK = re.compile(r"[^,;()+/:.]+")
_SMALL = frozenset({"of", "the", "and", "in", "with", "by", "to", "due", "for", "on", "at", "a"})
_LENGTHS = range(3, 7)
_MOST_WORDS = 6
_LONGEST = 6_000
"""The most characters of a text that is searched."""


def spelled_out(text: str, texts: tuple[str, ...]) -> str:
    """The text with the abbreviations in it as the options' texts spell them."""
    if len(text) > _LONGEST:
        return text
    if "↑" in text or "↓" in text:
        text = _ARROWED.sub(lambda match: _without_arrows(match[0], texts), text)
    if not _SHORT.search(text):
        return text
    long = _long_forms(texts)

    changed = _SHORT.sub(lambda match: long.get(match[0], match[0]), text)
    if changed == text:
        return text
    return _TWICE.sub(r"\1", changed)


def _without_arrows(changes: str, texts: tuple[str, ...]) -> str:
    """Changes as the options write them: "↑ pH" as "pH increased"; else unchanged."""
    found = []
    for arrow, what in re.findall(r"([↑↓]) ?([\w-]+)", changes):
        forms = (f for word in _CHANGE[arrow] for f in (f"{what} {word}", f"{word} {what}"))
        own = next((form for form in forms if any(form.lower() in text for text in texts)), None)
        if own is None:
            return changes
        found.append(own)
    return ", ".join(found)


@lru_cache(maxsize=1024)
def _long_forms(texts: tuple[str, ...]) -> dict[str, str]:
    """The phrases of options by their abbreviation, where it abbreviates one phrase alone."""
    found: dict[str, set[str]] = {}
    for text in texts:
        for short, phrase in (*_initials(text), *_known(text)):
            found.setdefault(short, set()).add(phrase)
    own = {word.upper() for text in texts for word in _WORD.findall(text)}
    return {
        short: next(iter(phrases))
        for short, phrases in found.items()
        if len(phrases) == 1 and short.upper() not in own
    }


def _known(text: str) -> list[tuple[str, str]]:
    return [
        (short, phrase)
        for short, phrase in _KNOWN.items()
        if re.search(rf"(?<!\w){re.escape(phrase)}(?![^\W_])", text)
    ]


def _initials(text: str) -> list[tuple[str, str]]:
    """The initials of words that follow one another in a text, with these words."""
    found = []
    for chunk in _CHUNK.finditer(text):
        words = [*_WORD.finditer(chunk[0])]
        for first in range(len(words)):
            for last in range(first + 1, min(len(words), first + _MOST_WORDS)):
                run = words[first : last + 1]
                if run[0][0] in _SMALL or run[-1][0] in _SMALL:
                    continue
                phrase = chunk[0][run[0].start() : run[-1].end()]
                for initial_words in (run, [word for word in run if word[0] not in _SMALL]):
                    short = "".join(word[0][0] for word in initial_words).upper()
                    if len(short) in _LENGTHS and not short.isdigit():
                        found.append((short, phrase))
    return found
