"""English for ordinals of options in other languages: "the second option" for "die zweite"."""

import re

_NOUN = (
    r"(?:antwort(?:m[oö]glichkeit)?|option|aussage|m[oö]glichkeit|proposition|r[eé]ponse|opci[oó]n"
    r"|respuesta|alternativa|opzione|risposta|optie|antwoord|odpowied[zź]|opcj[aęi]"
    r"|alternativet?|svaret?|op[cç][aã]o|resposta|विकल्प|उत्तर)"
)
_ORDINALS = {
    "first": r"erste[nrs]?|premi[eè]re?|primer[ao]?|prim[ao]|primeir[ao]|eerste|pierwsz\w{1,2}"
    r"|f[oö]rsta|पहल[ाेी]",
    "second": r"zweite[nrs]?|deuxi[eè]me|seconde|segund[ao]|second[ao]|tweede|drug[aąi]\w?|andra"
    r"|दूसर[ाेी]",
    "third": r"dritte[nrs]?|troisi[eè]me|tercer[ao]?|terz[ao]|terceir[ao]|derde|trzeci[aąe]?\w?"
    r"|tredje|तीसर[ाेी]",
    "fourth": r"vierte[nrs]?|quatri[eè]me|cuart[ao]|quart[ao]|vierde|czwart\w{1,2}|fj[aä]rde"
    r"|चौथ[ाेी]",
}
_WHERE = tuple(
    (
        ordinal,
        re.compile(
            rf"(?<!\w)(?<!\bmeine )(?<!\bmeiner )(?<!\bma )(?<!\bmi )(?<!\bmia )(?<!\bmijn )"
            rf"(?<!\bmin )(?<!\bminha )(?<!\bmojej )"
            rf"(?:(?:die|der|das|den|la|le|el|il|de|het|den|det|a|o) )?"
            rf"(?:(?:{words}) {_NOUN}|{_NOUN} (?:{words}))(?!\w)",
            re.IGNORECASE,
        ),
    )
    for ordinal, words in _ORDINALS.items()
)
_HINTS = (
    "erste", "premi", "prime", "prima ", "primo ", "eerste", "pierwsz", "första", "forsta",
    "zweite", "deuxi", "seconde", "seconda", "secondo", "segund", "tweede", "druga", "drugą",
    "drugi", "andra", "dritte", "troisi", "tercer", "terza", "terzo", "terceir", "derde", "trzeci",
    "tredje", "vierte", "quatri", "cuart", "quart", "vierde", "czwart", "fjärde", "fjarde", "पहल",
    "दूसर", "तीसर", "चौथ",
)  # fmt: skip
"""What such an ordinal begins with, which is looked for first: most texts name none."""
_LONGEST = 2_000
"""The most characters of a text that is searched."""


def with_english_ordinals(text: str) -> str:
    """The text with "the second option" for the same in another language."""
    low = text.lower()
    if len(text) > _LONGEST or not any(hint in low for hint in _HINTS):
        return text
    for ordinal, pattern in _WHERE:
        text = pattern.sub(f"the {ordinal} option", text)
    return text
