"""The sentences that run expanders put into a prompt. HELM's keys; the words are our own."""

from collections.abc import Mapping

from medhelm_spark.domain.run import AdapterMethod, AdapterSpec

EXPERT = "Answer as an expert in the field."
FOLLOW_FORMAT = (
    "First come worked examples, then one more that has no answer yet. Complete that last one in "
    "exactly the form of the examples, and write nothing after it."
)
FORMAT_BEFORE_LAST = "Write the missing answer of the last one now, in the form of the examples."

REASON_FIRST = (
    "Reason step by step. Then end with a line of its own that reads: The answer is (letter)."
)
LINE_ALONE = "Reply with one line that reads: The answer is (letter)."

_LETTER = "Reply with the letter of one option and nothing else."
_CHOICE: Mapping[str, str] = {
    "mmlu": _LETTER,
    "mcqa": _LETTER,
    "mcqa_no_period": f"{_LETTER} Put no full stop after it.",
    "mcqa_only_last_question": f"Answer the last question alone. {_LETTER}",
    "mmlu_only_last_question": f"Answer the last question alone. {_LETTER}",
}
_FREE: Mapping[str, str] = {
    "narrative_qa": "Reply in a few words or one short sentence; add nothing that was not asked.",
    "natural_qa": "Reply briefly, or with yes or no where that answers the question.",
    "natural_qa_short_answer": "Reply briefly.",
    "yes_or_no": "Reply with yes or no and nothing else.",
    "math": "Put the result into \\boxed{}.",
}
_REASONED: Mapping[str, str] = dict.fromkeys(
    ("mmlu_pro", "gpqa", "mcqa"),
    "Reason first. Then end with the capital letter of the option you choose.",
)
_BY_METHOD: Mapping[AdapterMethod, Mapping[str, str]] = {
    AdapterMethod.GENERATION: _FREE,
    AdapterMethod.MULTIPLE_CHOICE_JOINT: _CHOICE,
    AdapterMethod.MULTIPLE_CHOICE_JOINT_CHAIN_OF_THOUGHT: _REASONED,
    AdapterMethod.CHAT: {},
}


def output_format(spec: AdapterSpec, key: str) -> str:
    """The sentence that asks for answers in the form of a scenario.

    As in HELM every key asks for a letter where the prompt shows options to choose from.

    Raises:
        ValueError: With the keys that the adapter's method has.
    """
    known = _BY_METHOD[spec.method]
    if key in known:
        return known[key]
    if spec.method == AdapterMethod.MULTIPLE_CHOICE_JOINT:
        return _LETTER
    raise ValueError(f"{', '.join(known) or 'nothing'} (for the method {spec.method})")
