"""What clinical text varies in: abbreviations, units, drug names, order of options, asides, "not".

Each says whether the right answer is preserved. Where that cannot be known of an instance, it is
left alone: a copy that is wrongly marked would teach nothing.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random

from medhelm_spark.adaptation.perturbations.people import renaming
from medhelm_spark.adaptation.perturbations.perturbation import (
    Args,
    Change,
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
    inverted,
    ready,
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

    The right answer is preserved: references stay, and a question about abbreviations is left
    alone.
    """
    short = on_text(replacing(ready(lists["abbreviations"]), number(args, "prob")))
    return unless(_asks(ABOUT_ABBREVIATIONS), short)


def abbreviation_expansion(args: Args, lists: WordLists) -> Change:
    """Abbreviations written out; one that the list gives to two terms is left as it is.

    The right answer is preserved, as for `abbreviation`. Abbreviations are known by their capitals.
    """
    words = ready(inverted(lists["abbreviations"]), exact=True)

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

    The right answer is preserved: only exact conversions are made, rates and ranges are left
    alone, and so is an instance where a reference repeats an amount that would change.
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
    found = {
        text[start:end]
        for text in (instance.input, *(turn.content for turn in instance.messages))
        for start, end, _ in amounts(text)
    }
    return any(amount in ref.text for ref in instance.references for amount in found)


def irrelevant_text(args: Args, lists: WordLists) -> Change:
    """A sentence that has nothing to do with the case, before the input or the last user turn.

    The right answer is preserved.
    """
    asides = tuple(one for group in lists["irrelevant_text"].values() for one in group)

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

    The right answer is preserved, or rewritten the same way. A question that speaks of brands or
    generics is left alone, and so is one whose options would become alike.
    """
    words = ready(inverted(lists["drug_names"]))
    return unless(_asks(ABOUT_NAMES), on_text(replacing(words, 1.0), references=True))


def drug_brand(args: Args, lists: WordLists) -> Change:
    """Generic names by one of their brand names, the same for the whole instance.

    The right answer is preserved, or rewritten the same way, as for `drug_generic`.
    """
    return unless(_asks(ABOUT_NAMES), renaming(ready(lists["drug_names"]), 1.0))


def option_order(args: Args, lists: WordLists) -> Change:
    """The options moved round by a number of places drawn per instance, so that each has a new one.

    The right answer is preserved: tags move with their options. An instance whose options speak of
    their order ("all of the above", "both A and B") is left alone.
    """

    def change(instance: Instance, rng: Random) -> Instance | None:
        options = instance.references
        if len(options) < 2 or any(ABOUT_ORDER.search(one.text) for one in options):
            return None
        places = 1 + int(rng.random() * (len(options) - 1))
        return replace(instance, references=options[places:] + options[:places])

    return change


def negation(args: Args, lists: WordLists) -> Change:
    """The question turned round. Changes the meaning: THE RIGHT ANSWER IS ANOTHER ONE.

    Two forms are turned, all others left alone. "Which of the following is" becomes "... is not",
    and the options that were wrong become the correct ones. A last sentence that asks for yes or no
    is put as `Is "no" the right answer to this question: ...`, and the tag moves from the one to
    the other. Conversations are left alone, and so is free text, where a judge takes the first
    reference for the right one.
    """

    def change(instance: Instance, rng: Random) -> Instance | None:
        if instance.messages:
            return None
        answers = {ref.text.strip().lower() for ref in instance.references}
        return _other_side(instance) if {"yes", "no"} <= answers else _not_which(instance)

    return change


def _not_which(instance: Instance) -> Instance | None:
    found = list(WHICH_IS.finditer(instance.input))
    right = [ref.is_correct for ref in instance.references]
    if len(found) != 1 or all(right) or not any(right):
        return None
    (match,) = found
    if HAS_NEGATION.search(instance.input, match.start()) or _speaks_of_others(instance):
        return None
    text = f"{instance.input[: match.end()]} not{instance.input[match.end() :]}"
    return replace(instance, input=text, references=tuple(map(_turned, instance.references)))


def _speaks_of_others(instance: Instance) -> bool:
    return any(ABOUT_ORDER.search(ref.text) for ref in instance.references)


def _other_side(instance: Instance) -> Instance | None:
    match = QUESTION.search(instance.input)
    right = [ref.text.strip().lower() for ref in instance.references if ref.is_correct]
    if match is None or right not in (["yes"], ["no"]) or HAS_NEGATION.search(match[1]):
        return None
    text = instance.input[: match.start(1)] + NEGATED + match[1]
    references = tuple(
        _turned(ref) if ref.text.strip().lower() in ("yes", "no") else ref
        for ref in instance.references
    )
    return replace(instance, input=text, references=references)


def _turned(ref: Reference) -> Reference:
    others = tuple(tag for tag in ref.tags if tag != CORRECT_TAG)
    return replace(ref, tags=others if ref.is_correct else (*others, CORRECT_TAG))


def _asks(about: re.Pattern[str]) -> Callable[[Instance], bool]:
    return lambda instance: any(about.search(text) for text in texts_of(instance))
