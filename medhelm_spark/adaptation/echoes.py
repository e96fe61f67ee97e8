"""An answer that repeats the question's own words.

"The most common site is the ampulla" begins as the question does; "Type I is defective in it" has
all its words; of lines that say what each option is ("A - subdural", "B - epidural") one has the
question's words alone. Repeating the question also answers yes or no: "It should not be taken".
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.conclusion_patterns import CLAUSE_ENDS
from medhelm_spark.adaptation.distinctive_words import parts, stem, stems_of_question
from medhelm_spark.adaptation.named_groups import Sentence, groups, sentences
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply, asking_sentence
from medhelm_spark.adaptation.statements import Certainty, agreed, certainty_of

_LONGEST = 3_000
"""The most characters of a text that is searched."""
_SMALL = frozenset(
    {
        "the", "an", "of", "in", "on", "at", "to", "for", "with", "by", "and", "or", "is", "are",
        "was", "were", "be", "been", "as", "it", "its", "this", "that", "these", "those", "which",
        "what", "who", "where", "when", "why", "how", "following", "one", "would", "should", "can",
        "could", "do", "does", "did", "has", "have", "you", "we", "he", "she", "they", "from",
    }
)  # fmt: skip
_SUBJECT = re.compile(
    r"(?:\A|[.;:\n,] |\n|\b(?:so|but|and|thus|hence|while|whereas|therefore,?) )"
    r"the (?P<subject>[\w' -]{6,90}?) (?:is|are|was|remains|would be) (?:therefore |thus |then )?"
)
_HEADING = re.compile(r"\w[\"')\]]{0,3} ?[:–—-] ")
_DENIES = re.compile(r"\b(?:not|no|never|neither|nor|none|cannot|without|less|than)\b|n't\b")
_FEWEST_OF_SUBJECT, _FEWEST_OF_QUESTION, _FEWEST_LINES = 2, 3, 3
_LIMITS = re.compile(
    r"\b(?:only|unless|except|if|when|may|might|some|partly|always|necessarily|whether|would|like"
    r"|all|every|alone|yes|no|than)\b|\?"
)
_PREDICATE = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|could|should|must|will|has|have)"
    r"(?P<no>n't| ?not)?(?: \w+ly)?(?: be| been)? (?P<word>[a-z]{4,})\b"
)
_CANNOT = re.compile(r"\bcan't\b")
_ASKED = re.compile(
    r"(?:\A|[:.] )(?:is|are|was|were|do|does|did|can|could|should|must|will|has|have) (?!not\b)"
)
_CLAUSE = re.compile(
    r"[.!?;:\n](?:\s|\Z)|,? \b(?:but|so|because|since|(?<!such )as|although|though|while|whereas"
    r"|which)\b"
)
_PRONOUN = re.compile(r"\b(?:it|they|this|that|these)\W*\Z")
_THERE_IS = re.compile(
    r"\W{0,4}there(?:'s| is| are| was| were) (?:(?:currently|clearly|really|still|indeed) )?"
    r"(?:(?P<no>no|not an?y?)|an?|some|clear|good|strong) (?:[\w-]+ ){0,2}?"
    r"(?P<noun>need|role|place|reason|evidence|difference|association|benefit|link|relation\w*"
    r"|effect"
    r"|correlation|advantage|indication|risk|impact|influence|increase|decrease|connection)\b"
)
_NOT_ALL = re.compile(r"\W{0,4}not (?P<all>all|every|always|everyone|everybody|each)\b")


def restated(reply: Reply) -> NamedOption | None:
    """The option after "the" and the first words of the question: "the half-life is 6 h"."""
    if not _can_echo(reply):
        return None
    asking = _asking_stems(reply.asks.question)
    found = []
    for match in _SUBJECT.finditer(reply.low):
        subject = tuple(_stems(match["subject"]))
        is_asked = len(subject) >= _FEWEST_OF_SUBJECT and asking[: len(subject)] == subject
        named = reply.named_at(match.end()) if is_asked else None
        if named and _is_said(reply, match.start(), named):
            found.append(named)
    return agreed(found)


def in_words_asked(reply: Reply) -> str | None:
    """The option of the sentence with all words of the question, or of the line with no others."""
    named = (_of_whole_question(reply) or _of_only_line(reply)) if _can_echo(reply) else None
    return named.result if named else None


def _can_echo(reply: Reply) -> bool:
    is_short = len(reply.low) <= _LONGEST and bool(reply.asks.question)
    options = reply.options
    return (
        is_short
        and bool(options.text_by_label)
        and not (reply.asks.for_worst or options.are_numbers)
    )


def _stems(text: str) -> list[str]:
    return [stem(stem(word)) for word in parts(text) if word not in _SMALL]  # "antibiotics"


@lru_cache(maxsize=1024)
def _asking_stems(question: str) -> tuple[str, ...]:
    return tuple(_stems(asking_sentence(question)))


def _is_said(reply: Reply, start: int, named: NamedOption) -> bool:
    """Whether an option ends its clause, and nothing denies it or makes it another case."""
    return bool(
        CLAUSE_ENDS.match(reply.low, named.end)
        and not reply.is_refuted(named)
        and not reply.is_denied(named.start)
        and certainty_of(reply, start, named.start, named) >= Certainty.SUPPOSED
        and reply.holds_where_cut(named)
    )


def _of_whole_question(reply: Reply) -> NamedOption | None:
    """The only option of the sentences that have all words of the question."""
    asking = {*_asking_stems(reply.asks.question)}
    if len(asking) < _FEWEST_OF_QUESTION or not asking <= {*_stems(reply.low)}:
        return None
    found = []
    for sentence in sentences(reply):
        text = reply.low[sentence.start : sentence.end]
        if sentence.is_asked or not asking <= {*_stems(text)} or _DENIES.search(text):
            continue
        named = [one for group in groups(reply, sentence) for one in group]
        results = {one.result for one in named}
        if len(results) != 1 or patterns.UNREAL.search(text):
            return None
        found.append(named[0])
    return agreed(found)


def _of_only_line(reply: Reply) -> NamedOption | None:
    """The only option whose line has no words but those of the question."""
    if len(_HEADING.findall(reply.low)) < _FEWEST_LINES:
        return None
    lines = {
        named.result: (named, text)
        for sentence in sentences(reply)
        for named, text in _headed(reply, sentence)
    }
    if lines.keys() != {*reply.options.labels.values()} or len(lines) < _FEWEST_LINES:
        return None
    asking = {*_asking_stems(reply.asks.question)}
    own = [
        named
        for named, text in lines.values()
        if (stems := {*_stems(text)}) and stems <= asking and not _DENIES.search(text)
    ]
    return own[0] if len(own) == 1 else None


def _headed(reply: Reply, sentence: Sentence) -> Iterator[tuple[NamedOption, str]]:
    """The option that a sentence begins with as a heading, and the rest of the sentence."""
    text = reply.low[sentence.start : sentence.end]
    at = sentence.end - len(text.lstrip())
    named = reply.named_at(at)
    heading = patterns.HEADING.match(reply.low, named.end) if named and named.result else None
    if named and heading:
        yield named, reply.low[heading.end() : sentence.end]


def yes_or_no(reply: Reply) -> str | None:
    """Yes or no by a sentence with the question's own verb or noun: "It is not indicated"."""
    question_stems = stems_of_question(reply.asks.question)
    if there := _THERE_IS.match(reply.low):
        return ("no" if there["no"] else "yes") if stem(there["noun"]) in question_stems else None
    partly = _NOT_ALL.match(reply.low)
    question = asking_sentence(reply.asks.question)
    if partly and re.search(rf"\b{partly['all']}\b", question):
        return "no"
    if len(reply.low) > _LONGEST or not _ASKED.search(question) or _DENIES.search(question):
        return None
    polarities = {
        _polarity(clause, reply) for clause in _CLAUSE.split(_CANNOT.sub("cannot", reply.low))
    }
    polarities.discard(None)
    return polarities.pop() if len(polarities) == 1 else None


def _polarity(clause: str, reply: Reply) -> str | None:
    """The answer of a clause that repeats the question's predicate; None of another clause."""
    asking = {*_asking_stems(reply.asks.question)}
    match = _PREDICATE.search(clause)
    if match is None or not {*_stems(match["word"])} & asking or _LIMITS.search(clause):
        return None
    subject = clause[: match.start()]
    is_pronoun = _PRONOUN.search(subject) is not None
    is_own = is_pronoun or asking & {*_stems(subject)}
    repeated = asking & {*_stems(reply.low if is_pronoun else clause)}
    return ("no" if match["no"] else "yes") if is_own and 2 * len(repeated) > len(asking) else None
