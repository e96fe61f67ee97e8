"""How surely the name of a JSON member asks for the choice: `final_answer`, `selected_option`."""

import re

_NAME_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FINAL = frozenset({"final", "finale"})
ANSWER = frozenset(
    {
        "answer", "answers", "choice", "prediction", "predictions", "respuesta", "resposta",
        "réponse", "reponse", "antwort", "risposta",
    }
)  # fmt: skip
_NEUTRAL = frozenset(
    {
        "option", "letter", "label", "result", "output", "response", "decision", "verdict",
        "selection", "classification", "conclusion", "judgement", "judgment", "pick", "ans",
        "solution", "remaining", "left",
    }
)  # fmt: skip
_AFFIRMATIVE = frozenset(
    {
        "best", "correct", "right", "selected", "chosen", "predicted", "preferred", "recommended",
        "most", "likely", "appropriate", "probable", "accurate", "suitable", "overall", "single",
        "my", "your", "the", "model", "assistant", "ai", "multiple", "mcq", "options", "correcta",
        "correta", "correcte", "richtige", "corretta", "clinical", "medical", "treatment", "is",
        "given", "generated",
    }
)  # fmt: skip
_CHOSEN = frozenset({"selected", "chosen"})
FORM = frozenset(
    {"letter", "index", "idx", "id", "key", "label", "value", "text", "option", "number"}
)
EXPLAINING = re.compile(
    r"reason|expla|ration|think|analys|justif|comment|note|summary|confid|evidence|step|message"
)


def words_of(name: str) -> list[str]:
    """The words of a member's name: "final", "answer" of `finalAnswer`."""
    return _NAME_WORD.findall(_CAMEL.sub("_", name).lower())


def rank_of(name: str) -> int:
    """How surely a member's name asks for the choice: 4 at most, 0 where it does not.

    A name asks for it if all its words do: a noun for the answer (`answer`, `option`), words that
    affirm it (`final`, `selected`) and its form (`letter`).
    """
    words = set(words_of(name))
    others = words - ANSWER - _NEUTRAL - _FINAL - FORM
    asking = ANSWER | _NEUTRAL | _FINAL | _CHOSEN
    if not others <= _AFFIRMATIVE or not words & asking:
        return 0
    if "text" in words or not words & ANSWER:
        return 1
    if words & _FINAL:
        return 4
    return 2 if others else 3
