"""Writing style: Flesch-Kincaid grade, Flesch reading ease, words and characters of an answer.

    grade = 0.39 words/sentences + 11.8 syllables/words - 15.59           (Kincaid et al. 1975)
    ease  = 206.835 - 1.015 words/sentences - 84.6 syllables/words        (Flesch 1948)

Both formulas are meant for English prose: a text whose letters are mostly of another script gets
neither score. The package textstat computes both too, but it downloads a pronouncing dictionary at
its first use. For words that the dictionary lacks, such as most drug names, textstat counts
syllables by hyphenation. This module counts syllables by spelling and needs no data.

A sentence ends at `.`, `!` or `?` before white space, and at a line break. As in textstat, a
sentence of one or two words (a heading, "Dr.") does not count. Each text has at least one sentence.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.metrics.metric import Metric, Params, ScoreRow, first_text, scored, unscored

_WORD = re.compile(r"\w+(?:[-'’./]\w+)*")
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++(?=\s|$)|\n")  # matches "..." once
_LETTERS = re.compile(r"[a-z]+")
_LATIN, _LETTER = re.compile(r"[A-Za-z]"), re.compile(r"[^\W\d_]")
_VOWELS = re.compile(r"[aeiouy]+")
_SILENT = re.compile(
    r"(?:[^aeiouyl]e|[aeiouy]le|[^aeiouytd]ed|(?<!diabe)[^aeiouycgsxzhl]es|[^aeioucs]hes"
    r"|[aeiouy]les|[^aeiouy]ely|[^aeiouy]ement)$"
)
_PARTED = re.compile(
    r"(?<![tcsgx])i(?:a|enc|o|u[ms])|iet|ciat|eo|(?<=[^gq])ua|ying|[aeo]ing|ea(?=l?ti|tor)"
    r"|(?<=..)ea$|sm$|thm$|[ds]nt$"
)
_SHORT_SENTENCE = 2
_CACHED_WORDS = 1 << 16


def _by_spelling(letters: str) -> int:
    """Groups of vowels, minus a silent ending, plus groups with two syllables (di-et, re-act)."""
    count = len(_VOWELS.findall(letters))
    if len(letters) > 2 and count > 1 and _SILENT.search(letters):
        count -= 1
    return max(1, count + len(_PARTED.findall(letters)))


@lru_cache(maxsize=_CACHED_WORDS)
def syllables(word: str) -> int:
    """The number of syllables of an English word, by its spelling; 1 for a number.

    >>> [syllables(word) for word in ("cough", "fever", "headache", "diabetes", "follow-up")]
    [1, 2, 2, 4, 3]
    """
    plain = word.lower().replace("'", "")
    if not plain.isascii():
        sounded = plain.replace("é", "ee")  # in English words only é adds a syllable
        # Letter by letter: `normalize` needs quadratic time to sort a run of many accents.
        parts = (part for letter in sounded for part in unicodedata.normalize("NFKD", letter))
        plain = "".join(part for part in parts if part.isascii())
    return sum(map(_by_spelling, _LETTERS.findall(plain))) or 1


def readability(text: str) -> tuple[float, float] | None:
    """Flesch-Kincaid grade and Flesch reading ease; None for a text without words."""
    sentences = [_WORD.findall(part) for part in _SENTENCE_END.split(text)]
    num_sentences = max(1, sum(len(sentence) > _SHORT_SENTENCE for sentence in sentences))
    words = [word for sentence in sentences for word in sentence]
    if not words:
        return None
    length = len(words) / num_sentences
    weight = sum(map(syllables, words)) / len(words)
    return 0.39 * length + 11.8 * weight - 15.59, 206.835 - 1.015 * length - 84.6 * weight


def _row(state: RequestState) -> ScoreRow:
    if (text := first_text(state)) is None:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    is_latin = 2 * len(_LATIN.findall(text)) >= len(_LETTER.findall(text))
    scores = readability(text) if is_latin else None
    sizes = scored(_NAMES[2:], (float(len(text.split())), float(len(text))))
    if scores is None:
        return (*unscored(_NAMES[:2], ScoreStatus.NOT_APPLICABLE), *sizes)
    return (*scored(_NAMES[:2], scores), *sizes)


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_row(state) for state in states]


def _info(name: str, display_name: str, description: str) -> MetricInfo:
    return MetricInfo(
        name=name,
        display_name=display_name,
        lower_is_better=None,
        minimum=None,
        maximum=None,
        description=description,
    )


WRITING_STYLE = Metric(
    fn=_score,
    needs=frozenset({"completions"}),
    emits=(
        _info("flesch_kincaid_grade", "Reading grade", "School years that the answer asks for."),
        _info("flesch_reading_ease", "Reading ease", "100 is very easy, 0 very hard to read."),
        _info("answer_words", "Words", "Words of the answer, as white space parts them."),
        _info("answer_characters", "Characters", "Characters of the answer without outer space."),
    ),
    version="2",
)
_NAMES = tuple(info.name for info in WRITING_STYLE.emits)

METRICS = {"writing_style": WRITING_STYLE}
