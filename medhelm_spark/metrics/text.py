"""Texts as metrics compare them: normalised as in HELM, or as a sequence of words.

Metrics that compare word sequences have one rule for words and download nothing. MedHELM takes
spaCy's English tokens for extractive metrics and NLTK's for BLEU, which need a downloaded model of
sentence ends. The rule here is close to spaCy's: a number keeps its inner points and slashes, an
ending after an apostrophe is a word, a hyphen separates two words, every other mark is a word by
itself; unlike in spaCy, line breaks are no words.
"""

import re
import string

import regex

_ARTICLES = re.compile(r"\b(?:an?|the)\b")
_ARTICLE_WORDS = frozenset({"a", "an", "the"})
_PUNCTUATION = string.punctuation.encode()
_ASCII_WORD = re.compile(r"[0-9]+(?:[.,:/][0-9]+)*|(?<=\w)'\w+|\w+|[^\w\s]")
_LETTER = r"[\p{Alphabetic}\p{M}\p{N}_\u200c\u200d]"
"""With vowel signs and accents, and the invisible joiners within words of Hindi or Persian."""
_WORD = regex.compile(
    rf"[0-9]+(?:[.,:/][0-9]+)*|(?<={_LETTER})['’]{_LETTER}+|{_LETTER}+|[^\s\x1c-\x1f\p{{M}}]"
)


def normalise(text: str, *, keep_articles: bool = False) -> str:
    """Lower-case, without ASCII punctuation and articles, runs of whitespace made one space.

    >>> normalise("The patient's  BMI: 31.5, a risk.")
    'patients bmi 315 risk'
    """
    # Bytes, because deleting from a str takes five times as long; in UTF-8 ASCII is one byte each.
    encoded = text.lower().encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION)
    text = encoded.decode("utf-8", "surrogatepass")
    if keep_articles:
        return " ".join(text.split())
    if text.isascii() and text.isprintable():  # words are separated by spaces
        return " ".join([word for word in text.split() if word not in _ARTICLE_WORDS])
    return " ".join(_ARTICLES.sub(" ", text).split())


def words(text: str) -> list[str]:
    """The words and marks of a text, in order; signs that belong to a letter are within its word.

    >>> words("The patient's BP was 120/80, follow-up in 2.5 weeks.")[:7]
    ['The', 'patient', "'s", 'BP', 'was', '120/80', ',']
    """
    found: list[str] = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
    return found
