"""The options of a question, and which of them a place in a text names.

An option is named by its label (a letter or digit that stands alone: `(B)`, `B.`, `B because`) or
by its text. A single letter also is an article (`A patient`), a pronoun (`I think`), a genus
(`E. coli`), a type (`B cells`): a letter counts only where what follows makes it a label.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from medhelm_spark.adaptation.plain_text import plain

LETTERS = "ABCDEFGHIJ"
"""The labels where an instance shows letters without saying which there are."""

FLAGS = {"0": "0", "1": "1"}

_FILLER = re.compile(
    r"(?:[\s\"'(\[{:=-]|\.\.+|(?:most likely|likely|clearly|definitely|probably|actually|indeed"
    r"|therefore|either|option|choice|letter|answer|statement|alternative|number|opci[oó]n|alternativa|letra"
    r"|opç[aã]o|r[eé]ponse|respuesta|resposta|buchstabe|the|la|le|el|los|die|der|das|é"
    r"|(?-i:[ao])(?= ))"
    r"(?!\w))*",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?P<open>[(\[{\"'<]*)(?P<label>[^\W_])(?![a-zA-Z0-9_\u00c0-\u052f])(?P<close>[)\]}\"'>]*)"
)
_TERMINAL = re.compile(
    r"[ \t]*(?:\Z|[\n,;:!/&+|()\]}<]|\.(?![\d-]|\s?[a-z])|[-–—]\s|\s[-–—]"
    r"|[。、】」]|です|だ|である|が|입니다|이다|번|选项|项|是)"
)
_SURE = r" (?:because|since|or|rather|instead|porque|car|weil|pois|perché|parce)\b"
_CONNECTIVE = re.compile(
    _SURE
    + r"| (?:as|which|due|given|for|based|and|but|is|was|are|were|would|with|not|over|only|here|so"
    r"|then|if|when|where|according|in|on|by|from|among|out)\b"
)
_SURE_CONNECTIVE = re.compile(_SURE + r"| (?:and|is|are|as)\b")
_MARKER = re.compile(
    r"\b(?:option|choice|letter|alternative|alternativa|opci[oó]n|opç[aã]o|letra)\s[\"'(\[]*\Z",
    re.IGNORECASE,
)
_WORDLIKE = frozenset("AI")
_WORD = re.compile(r"[^\W\d_]{3,}")
_DELIMITER = re.compile(r"[)\]\"']*[ \t]*[.):,=–—-]*[ \t]*")
_ARTICLE = re.compile(r"(?:the|an?) ")
_ENDS = re.compile(r"[ \t\"')\]]*(?:\Z|[.\n,;])")
_STANDS_ALONE = re.compile(
    r"[\"')\]]*[ \t]*(?:\Z|[.,;:!?\n)…/–—-])"
    r"| (?:it|they|there|this|that|these|he|she|we|i|you|because|since|as|or|and|but)\b"
)
_AND = re.compile(
    r"[ \t]*(?:\.\.+[ \t]*)?(?:,?[ \t]*(?:\b(?:and/or|and|or|und|oder|et|ou|as well as)\b| [yoeu] )"
    r"|[,/&+])[ \t]*"
    r"(?:(?:also|both|option|choice|possibly|maybe|perhaps)[ \t]+(?=\S{1,3}(?:\W|\Z)))?"
)
_MOST = 4
_BESIDE = re.compile(r"[ \t]*\(([^\W_])\)")
_VERB = re.compile(
    r"[)\]\"']*[ \t]+(?:is|(?P<plural>are|were|have|do|\w+ both)|was|would|has|can|could|may|does"
    r"|should|might|not)\b"
)


@dataclass(frozen=True, slots=True)
class Named:
    """What a place names: an option's `result`, or None where it names several; and its end."""

    result: str | None
    end: int


@dataclass(frozen=True)
class Options:
    """What may be answered: results by label in capitals, and by plain lower-case text."""

    labels: Mapping[str, str]
    texts: Mapping[str, str]

    @cached_property
    def longest_first(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(self.texts.items(), key=lambda item: -len(item[0])))

    @cached_property
    def words(self) -> frozenset[tuple[str, str]]:
        """(result, word) for every word of an option's text."""
        return frozenset((to, word) for text, to in self.texts.items() for word in text.split())

    def whole(self, text: str) -> str | None:
        """The option that the text is, with nothing else but punctuation."""
        bare = text.strip(" \n.,;:!?\"'()[]{}<>")
        if bare.upper() in self.labels:
            return self.labels[bare.upper()]
        return self.texts.get(bare.lower()) or self.texts.get(option_text(text))


def options_of(shown: Mapping[str, str], results: Mapping[str, str] | None = None) -> Options:
    """Options shown as label and text; what an option is read as is its label, or its result."""
    texts: dict[str, str] = {}
    twice: set[str] = set()
    for label, text in shown.items():
        key = option_text(text)
        if key in texts:
            twice.add(key)
        texts[key] = (results or {}).get(label, label)
    labels = {label.upper(): (results or {}).get(label, label) for label in shown}
    return Options(labels, {k: v for k, v in texts.items() if k and k not in twice})


def options_among(references: Iterable[str]) -> Options:
    """Options that the instance gives without labels: its references.

    References that are single letters or digits are labels. Since the data need not name the wrong
    ones, letters then go up to J at least, and where 0 or 1 is right the other one is wrong.
    """
    found = [text.strip() for text in references if text.strip()]
    if not found or any(len(text) != 1 or not text.isalnum() for text in found):
        return Options({}, {option_text(text): text for text in found})
    labels = {text.upper(): text for text in found}
    if all(text.isalpha() for text in found):
        same = str.lower if found[0].islower() else str.upper
        labels = {letter: same(letter) for letter in LETTERS} | labels
    elif labels.keys() <= FLAGS.keys():
        labels = dict(FLAGS)
    return Options(labels, {})


def option_text(text: str) -> str:
    """An option's text as it is compared: plain, lower-case, without article and full stop."""
    bare = " ".join(plain(text).lower().split()).strip(" \"'").rstrip(".,;:")
    return _ARTICLE.sub("", bare, count=1) if _ARTICLE.match(bare) else bare


def named_at(text: str, low: str, at: int, options: Options) -> Named | None:
    """The option that `text` names at a place; `low` is the text in lower case.

    None where nothing is named; a result of None where several options are (`A or B`), or a label
    stands with another option's text.
    """
    start = _skip_filler(text, at)
    found = _text_at(low, start, options) or _label_at(text, low, start, options)
    if found is None or found.result is None:
        return found
    return _alone(text, low, found, options)


def _skip_filler(text: str, at: int) -> int:
    match = _FILLER.match(text, at)
    end = match.end() if match else at
    while end > at and text[end - 1] in "(['\"{":  # brackets belong to what they enclose
        end -= 1
    return end


def _text_at(low: str, at: int, options: Options) -> Named | None:
    while at < len(low) and low[at] in " \"'([":
        at += 1
    if article := _ARTICLE.match(low, at):
        at = article.end()
    for text, result in options.longest_first:
        end = at + len(text)
        if low.startswith(text, at) and not low[end : end + 1].isalnum():
            if text == "no" and not _STANDS_ALONE.match(low, end):
                continue  # a determiner: "no evidence"
            return Named(result, end)
    return None


def _label_at(text: str, low: str, at: int, options: Options) -> Named | None:
    match = _LABEL.match(text, at)
    if match is None or match["label"].upper() not in options.labels:
        return None
    label, end = match["label"], match.end()
    result = options.labels[label.upper()]
    after = _DELIMITER.match(low, match.end("label"))
    rest = after.end() if after else end
    beside = _text_at(low, rest, options)
    if beside and beside.result == result:
        return beside
    if beside and _ENDS.match(low, beside.end):
        return Named(None, beside.end)
    word = _WORD.match(low, rest) if after and after[0].strip() else None
    if word and (result, word[0]) in options.words:  # the option's text in other words
        return Named(result, end)
    return Named(result, end) if _is_label(text, match) else None


def _is_label(text: str, match: re.Match[str]) -> bool:
    label, end = match["label"], match.end()
    if match["close"][:1] in (")", "]", "}") or (match["open"] and match["close"]):
        return True
    if _TERMINAL.match(text, end):
        is_article = label == "a" and end == len(text) and text[: match.start()].strip()[-1:] != ":"
        return not is_article
    if label.islower():
        return False
    if _MARKER.search(text, max(0, match.start() - 16), match.start("label")):
        return True
    connective = _SURE_CONNECTIVE if label in _WORDLIKE else _CONNECTIVE
    return connective.match(text, end) is not None


def _alone(text: str, low: str, found: Named, options: Options) -> Named:
    """`found`, or no result where another option is named in the same breath.

    Other options that begin a clause of their own ("B, and A is wrong") do not count.
    """
    end, number, is_other = found.end, 0, False
    if beside := _BESIDE.match(text, end):
        is_other = options.labels.get(beside[1].upper(), found.result) != found.result
    while number < _MOST and (joined := _AND.match(text, end)):
        at = joined.end()
        other = _text_at(low, at, options) or _label_at(text, low, at, options)
        if other is None:
            break
        is_other = is_other or other.result != found.result
        end, number = other.end, number + 1
    verb = _VERB.match(low, end) if number == 1 else None
    is_clause = verb and not verb["plural"]
    return Named(None, end) if is_other and not is_clause else found
