"""The input text of a passage with a question, as HELM composes it."""

from medhelm_spark.domain.scenario import CORRECT_TAG, Reference, ScenarioCard


def passage_question(passage: str | None, question: str, card: ScenarioCard) -> str:
    """Passage, blank line, question; without a passage the question alone.

    The card's options `passage_prefix` and `question_prefix` go before each.
    """
    if passage is None:
        return question
    before_passage = card.options.get("passage_prefix", "")
    before_question = card.options.get("question_prefix", "Question: ")
    return f"{before_passage}{passage}\n\n{before_question}{question}\n"


def correct(text: str) -> Reference:
    """A right reference."""
    return Reference(text=text, tags=(CORRECT_TAG,))
