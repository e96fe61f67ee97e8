"""Perturbations of clinical text: abbreviations, units, drug names, options, asides, negation.

Each docstring says whether the right answer is preserved. An instance for which that is not certain
is not changed: a copy with a wrong label would measure nothing.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random

from medhelm_spark.adaptation.perturbations.people import renaming
from medhelm_spark.adaptation.perturbations.perturbation import (
    Args,
    Change,
    Perturbation,
    Rewrite,
    number,
    on_text,
    pick,
    texts_of,
    unless,
)
from medhelm_spark.adaptation.perturbations.surface import replacing
from medhelm_spark.adaptation.perturbations.units import amounts
from medhelm_spark.adaptation.perturbations.words import (
    begins_sentence,
    find,
    indexed,
    inverted,
)
from medhelm_spark.domain.plan import WordLists
from medhelm_spark.domain.scenario import CORRECT_TAG, Instance, Reference

ABOUT_ABBREVIATIONS = re.compile(r"\b(?:stands? for|abbreviat\w+|acronyms?)\b", re.IGNORECASE)
ABOUT_NAMES = re.compile(r"\b(?:brand|generic|trade|proprietary)\b", re.IGNORECASE)
ABOUT_ORDER = re.compile(
    r"\b(?:above|below|preceding|following)\b|\b(?:options?|choices?|answers?) [A-H]\b"
    r"|\b(?:both|either|neither) [A-H]\b|\b[A-H] (?:and|or|nor) [A-H]\b",
    re.IGNORECASE,
)
WHICH_IS = re.compile(
    r"\b(which (?:one )?of (?:the following|these)(?: (?!that\b|who\b|which\b|whose\b|when\b|if\b)"
    r"[a-z]+){0,3}? (?:is|are|was|were|would|should|can|could|will|may))\b(?! not\b)",
    re.IGNORECASE,
)
HAS_NEGATION = re.compile(r"\b(?:not|except|least|never|false|incorrect)\b|n['’]t\b", re.IGNORECASE)
QUESTION = re.compile(
    r"(?:(?<=^)|(?<=[.!?:] )|(?<=\n))((?:is|are|was|were|do|does|did|can|could|should|has|have|will"
    r"|would|may|might)\b[^.!?\n]*\?)\s*$",
    re.IGNORECASE,
)
NEGATED = 'Is "no" the right answer to this question: '


def abbreviation(args: Args, lists: WordLists) -> Change:
    """Terms by their usual abbreviations, each with probability `prob`.

    The right answer is preserved: references stay, and a question about abbreviations is not
    changed.
    """
    short = on_text(replacing(indexed(lists["abbreviations"]), number(args, "prob")))
    return unless(_asks(ABOUT_ABBREVIATIONS), short)


def abbreviation_expansion(args: Args, lists: WordLists) -> Change:
    """Abbreviations written out, except those that the list gives to two terms.

    The right answer is preserved, as for `abbreviation`. Abbreviations match in capitals only.
    """
    words = indexed(inverted(lists["abbreviations"]), exact=True)

    def rewrite(text: str) -> str:
        parts: list[str] = []
        done = 0
        for at, short in find(text, words):
            if at < done:
                continue
            (term,) = words.others[short]
            opens = begins_sentence(text, at)
            parts += (text[done:at], term[:1].upper() + term[1:] if opens else term)
            done = at + len(short)
        return "".join((*parts, text[done:]))

    return unless(_asks(ABOUT_ABBREVIATIONS), on_text(lambda rng: rewrite))


def unit(args: Args, lists: WordLists) -> Change:
    """Amounts in another unit, exactly equal (0.5 g: 500 mg), each with probability `prob`.

    The right answer is preserved: only exact conversions are made; rates, ranges and what may be a
    difference of temperatures are not changed, nor is an instance in which a reference repeats an
    amount that would change.
    """
    prob = number(args, "prob")

    def begin(rng: Random) -> Rewrite:
        def rewrite(text: str) -> str:
            parts: list[str] = []
            done = 0
            for start, end, new in amounts(text):
                if rng.random() < prob:
                    parts += (text[done:start], new)
                    done = end
            return "".join((*parts, text[done:]))

        return rewrite

    return unless(_repeats_amount, on_text(begin))


def _repeats_amount(instance: Instance) -> bool:
    changing = {
        text[start:end]
        for text in (instance.input, *(turn.content for turn in instance.messages))
        for start, end, _ in amounts(text)
    }
    return any(amount in ref.text for ref in instance.references for amount in changing)


def irrelevant_text(args: Args, lists: WordLists) -> Change:
    """A sentence that has nothing to do with the case, before the input or the last user turn.

    The right answer is preserved.
    """
    asides = tuple(aside for group in lists["irrelevant_text"].values() for aside in group)

    def change(instance: Instance, rng: Random) -> Instance:
        aside = pick(rng, asides)
        turns = list(instance.messages)
        for at in reversed(range(len(turns))):
            if turns[at].role == "user":
                turns[at] = replace(turns[at], content=f"{aside}\n{turns[at].content}")
                break
        return replace(instance, input=f"{aside}\n{instance.input}", messages=tuple(turns))

    return change


def drug_generic(args: Args, lists: WordLists) -> Change:
    """Brand names by their generic names, in the references too.

    The right answer is preserved, or rewritten the same way. A question about brands or generics is
    not changed, nor one whose options would become equal.
    """
    words = indexed(inverted(lists["drug_names"]))
    return unless(_asks(ABOUT_NAMES), on_text(replacing(words, 1.0), references=True))


def drug_brand(args: Args, lists: WordLists) -> Change:
    """Generic names by one of their brand names, the same for the whole instance.

    The right answer is preserved, or rewritten the same way, as for `drug_generic`.
    """
    return unless(_asks(ABOUT_NAMES), renaming(indexed(lists["drug_names"]), 1.0))


def option_order(args: Args, lists: WordLists) -> Change:
    """The options rotated by a shift drawn per instance, so that each gets a new position.

    The right answer is preserved: tags move with their options. An instance whose options refer to
    their order ("all of the above", "both A and B") is not changed.
    """

    def change(instance: Instance, rng: Random) -> Instance | None:
        options = instance.references
        if len(options) < 2 or any(ABOUT_ORDER.search(option.text) for option in options):
            return None
        shift = 1 + int(rng.random() * (len(options) - 1))
        return replace(instance, references=options[shift:] + options[:shift])

    return change


def negation(args: Args, lists: WordLists) -> Change:
    """The question negated. Changes the meaning: THE COPY HAS ANOTHER RIGHT ANSWER.

    Two forms are negated, no others are changed. "Which of the following is" becomes "... is not",
    and the wrong options become the correct ones. A last sentence that asks for yes or no becomes
    `Is "no" the right answer to this question: ...`, and the correct tag moves from one to the
    other. Conversations are not changed, nor is free text, where a judge takes the first reference
    for the right one.
    """

    def change(instance: Instance, rng: Random) -> Instance | None:
        if instance.messages:
            return None
        answers = {ref.text.strip().lower() for ref in instance.references}
        return _negated_yes_no(instance) if {"yes", "no"} <= answers else _negated_which(instance)

    return change


def _negated_which(instance: Instance) -> Instance | None:
    matches = list(WHICH_IS.finditer(instance.input))
    right = [ref.is_correct for ref in instance.references]
    if len(matches) != 1 or all(right) or not any(right):
        return None
    (match,) = matches
    if HAS_NEGATION.search(instance.input, match.start()) or _refers_to_order(instance):
        return None
    text = f"{instance.input[: match.end()]} not{instance.input[match.end() :]}"
    return replace(
        instance, input=text, references=tuple(map(_with_correct_swapped, instance.references))
    )


def _refers_to_order(instance: Instance) -> bool:
    return any(ABOUT_ORDER.search(ref.text) for ref in instance.references)


def _negated_yes_no(instance: Instance) -> Instance | None:
    match = QUESTION.search(instance.input)
    right = [ref.text.strip().lower() for ref in instance.references if ref.is_correct]
    if match is None or right not in (["yes"], ["no"]) or HAS_NEGATION.search(match[1]):
        return None
    text = instance.input[: match.start(1)] + NEGATED + match[1]
    references = tuple(
        _with_correct_swapped(ref) if ref.text.strip().lower() in ("yes", "no") else ref
        for ref in instance.references
    )
    return replace(instance, input=text, references=references)


def _with_correct_swapped(ref: Reference) -> Reference:
    others = tuple(tag for tag in ref.tags if tag != CORRECT_TAG)
    return replace(ref, tags=others if ref.is_correct else (*others, CORRECT_TAG))


def _asks(about: re.Pattern[str]) -> Callable[[Instance], bool]:
    return lambda instance: any(about.search(text) for text in texts_of(instance))


PERTURBATIONS = {
    "option_order": Perturbation(
        build=option_order, robustness=True, needs_options=True, moves_options=True
    ),
    "abbreviation": Perturbation(
        build=abbreviation, lists=("abbreviations",), args={"prob": "1"}, robustness=True
    ),
    "abbreviation_expansion": Perturbation(
        build=abbreviation_expansion, lists=("abbreviations",), robustness=True
    ),
    "unit": Perturbation(build=unit, args={"prob": "1"}, robustness=True, version="2"),
    "irrelevant_text": Perturbation(
        build=irrelevant_text, lists=("irrelevant_text",), robustness=True
    ),
    "drug_generic": Perturbation(build=drug_generic, lists=("drug_names",), robustness=True),
    "drug_brand": Perturbation(build=drug_brand, lists=("drug_names",), robustness=True),
    "negation": Perturbation(build=negation, keeps_meaning=False, needs_options=True),
}
