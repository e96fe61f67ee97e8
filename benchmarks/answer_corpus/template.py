"""What a part of the corpus is written in: questions, and templates of replies to them.

A template is filled for every option of every question that it fits. Its placeholders are:

    ‹L› ‹l› ‹T› ‹t›       label, label in lower case, text, text as it is written inside a sentence
    ‹L1› ‹T1› ‹t1›, ‹L2›  the options after the chosen one, in a circle
    ‹others›              the labels of all other options: `A, C and D`
    ‹options›             all options, a line each: `A. Aspirin`
    ‹each›                all options in order, a line each: the template's `right` line for the
                          chosen one, its `wrong` line for the others
    ‹members›             the same, as members of a JSON object
    ‹stem› ‹facts›        the question, and sentences about the case that name no option
    ‹W› ‹w› ‹X› ‹w1›      for yes, no and maybe: `Yes`, `yes`, `YES`, and the next word

A reply names an option (`answer_templates`), or nobody can read one in it
(`unreadable_templates`, and `cut_templates` for texts that stop before the option is named).
"""

from collections.abc import Iterator
from dataclasses import dataclass

TERMS, NUMBERS, SENTENCES, NEGATED, LETTERS, WORDS = (
    "terms", "numbers", "sentences", "negated", "letters", "words",
)  # fmt: skip
ANY = frozenset({TERMS, NUMBERS, SENTENCES, NEGATED, LETTERS, WORDS})
NAMED = ANY - {LETTERS}
"""Kinds whose texts cannot be taken for labels."""
TERM = frozenset({TERMS})
SHORT = frozenset({TERMS, NUMBERS})
YES_NO = frozenset({"yes_no"})
"""Without labels; the references are the words."""
VALUES = frozenset({"values"})
"""Without labels; the answer is the value itself."""
CATEGORIES = frozenset({"categories"})
"""Without labels; the references are words, of which one is right."""
GRADES = frozenset({"grades"})
"""Without labels; the references are digits."""
LISTS = frozenset({"lists"})
"""With labels; texts that are lists, and texts that are in another option's list."""
WORST = frozenset({"worst"})
"""With labels; the question asks for the option that is wrong, or least right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as a prompt shows it.

    `is_in_input` means that the options are in the instance's input, and not in the request's
    output mapping: the references are then the letters.
    """

    kind: str
    stem: str
    texts: tuple[str, ...]
    facts: str
    language: str = "en"
    is_in_input: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A reply with placeholders for an option.

    `is_cut` has the values that the reply is read with: whether the token limit ended it.
    `is_json_letter` marks JSON with a field for the choice that has one letter, alone or before
    the option's text.
    """

    style: str
    text: str
    method: str
    kinds: frozenset[str]
    language: str = "en"
    has_answer: bool = True
    is_cut: tuple[bool, ...] = (False,)
    is_json_letter: bool = False
    right: str = ""
    wrong: str = ""


def answer_templates(
    style: str, *texts: str, kinds: frozenset[str], method: str = "choice", language: str = "en",
    json_letter: bool = False, is_cut: tuple[bool, ...] = (False,),
) -> Iterator[Template]:  # fmt: skip
    """Templates of replies that name the option."""
    for text in texts:
        yield Template(
            style=style, text=text, method=method, kinds=kinds, language=language,
            is_json_letter=json_letter, is_cut=is_cut,
        )  # fmt: skip


def unreadable_templates(
    style: str, *texts: str, kinds: frozenset[str], method: str = "choice", language: str = "en"
) -> Iterator[Template]:
    """Templates of replies in which nobody can read one option."""
    for text in texts:
        yield Template(
            style=style, text=text, method=method, kinds=kinds, language=language, has_answer=False
        )


CUT = "cut before the answer"


def cut_templates(
    *texts: str, kinds: frozenset[str], method: str = "choice", language: str = "en"
) -> Iterator[Template]:
    """Templates of replies that stop before they name the option.

    They are read both as cut by the token limit and as ended by the model.
    """
    for text in texts:
        yield Template(
            style=CUT, text=text, method=method, kinds=kinds, language=language, has_answer=False,
            is_cut=(True, False),
        )  # fmt: skip


def listed(
    style: str, text: str, *, right: str, wrong: str, kinds: frozenset[str],
    has_answer: bool = True, is_cut: tuple[bool, ...] = (False,),
) -> Iterator[Template]:  # fmt: skip
    """A template that goes through all options in their order, with a line for each."""
    yield Template(
        style=style, text=text, method="choice", kinds=kinds, has_answer=has_answer,
        is_cut=is_cut, right=right, wrong=wrong,
    )  # fmt: skip
