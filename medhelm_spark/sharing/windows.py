"""Runs of characters of many texts as hashes, to look up what texts have in common.

A text is compared by its letters and digits alone, in normal form (NFKC, without case); every other
character divides words. A run is hashed by its characters without what divides them, so that a
run of words matches whatever is between the words. The hash of characters c_a ... c_(b-1) is
B^-a * sum of f(c_i) * B^i modulo 2^64, with f from a table of random numbers: a window costs one
subtraction of prefix sums. (Karp and Rabin, "Efficient randomized pattern-matching algorithms",
1987.)
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import regex

Hashes = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

WORDS, CHARACTERS = 8, 40
"""The length of a window in words, and in letters and digits."""
FEWEST = 16
"""The fewest letters and digits of a window of words: `1 2 3 4 5 6 7 8` is nobody's text."""
STEP = 8
PART = CHARACTERS - STEP + 1
"""Every run of CHARACTERS has a part of PART characters that begins at a multiple of STEP."""
CHUNK = 1 << 18
"""Texts are hashed together up to about so many characters."""

_CODED = re.compile(r"[%&<\\]")
_TAG = re.compile(r"<!(?:--|\[CDATA\[)|-->|\]\]>|</?[A-Za-z][^<>]*>")
_ASIDE = re.compile(r"<!(?:--|\[CDATA\[).*?(?:--|\]\])>", re.DOTALL)
_DECLARED = re.compile(r"<[!?][^<>]*>")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbf/\\\"']))")
_LAYERS = 8
"""How often a text may be encoded again."""
_SPACE = regex.compile(r"\s")
_MARKS = regex.compile(r"[^\p{L}\p{M}\p{N} ]")
_IGNORED = regex.compile(r"\p{Default_Ignorable_Code_Point}")
_DASH, _GAP = regex.compile(r"[\p{Pd}\u2212]"), regex.compile(r"\p{Zs}")
_BASE = 0x9E3779B97F4A7C15
_BLANK = np.array([chr(code).isspace() for code in range(128)])
_PLAIN = np.array([chr(code).isalnum() for code in range(128)])


def forms(text: str) -> tuple[str, ...]:
    r"""A text, and what it encodes, if it does: by %XX, HTML or escapes of JSON.

    Of HTML with comments it is both the text with and without them.

    >>> forms("a%20b"), forms(r"a\u0020b"), forms("a<b> </b>&amp;"), forms("5 % of a")
    (('a%20b', 'a b'), ('a\\u0020b', 'a b'), ('a<b> </b>&amp;', 'a   &'), ('5 % of a',))
    >>> forms("a <!--b--> c")
    ('a <!--b--> c', 'a  b  c', 'a   c')
    """
    if not _CODED.search(text):
        return (text,)
    decoded = _decoded(text)
    visible = _visible(text)
    return tuple(dict.fromkeys((text, decoded, decoded if visible == text else _decoded(visible))))


def _visible(text: str) -> str:
    """HTML without comments, declarations and instructions.

    What begins after the last end of a comment is no comment: else each would be read to the end.
    """
    end = max(text.rfind("-->"), text.rfind("]]>")) + len("-->")
    return _DECLARED.sub(" ", _ASIDE.sub(" ", text[:end]) + text[end:])


def _decoded(text: str) -> str:
    for _ in range(_LAYERS):
        before = text
        text = unquote(html.unescape(_TAG.sub(" ", _ESCAPE.sub(_escaped, before))))
        if text == before:
            break
    return text


def _escaped(found: re.Match[str]) -> str:
    """The character that an escape means; a blank for white space."""
    if code := found[1] or found[2]:
        return chr(int(code, 16))
    return found[3] if found[3] in "/\\\"'" else " "


def typed(text: str) -> str:
    r"""A text as it is typed by keys: `-` for every dash, blanks, no signs that do not show.

    >>> typed("078\u201105\u20111120, 617\xa0555\xa00123, MRN\u200b42")
    '078-05-1120, 617 555 0123, MRN42'
    """
    if text.isascii():
        return text
    normal = unicodedata.normalize("NFKC", _IGNORED.sub("", text))
    return str(_DASH.sub("-", _GAP.sub(" ", normal)))


def plain(text: str) -> str:
    r"""A text of letters, their marks and digits in normal form; `-` or a blank between them.

    >>> plain("Temp. 38.5, \ufb01ne!")
    'temp- 38-5- fine-'
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", _IGNORED.sub("", text)).casefold()
    blank = _SPACE.sub(" ", unicodedata.normalize("NFKC", folded))
    return str(_MARKS.sub("-", blank))


class HashedTexts:
    """The letters and digits of some texts one after another, and where texts and words begin."""

    def __init__(self, texts: Sequence[str]) -> None:
        plain_texts = [plain(text) for text in texts]
        joined = " ".join(plain_texts)
        if joined.isascii():
            codes = np.frombuffer(joined.encode(), np.uint8)
            is_letter, is_blank = _PLAIN[codes], _BLANK[codes]
        else:
            codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
            low = np.minimum(codes, 127)
            is_letter, is_blank = (codes > 127) | _PLAIN[low], (codes < 128) & _BLANK[low]
        at = np.flatnonzero(is_letter)
        lengths = np.fromiter((len(text) + 1 for text in plain_texts), np.int64, len(plain_texts))
        self.text = np.repeat(np.arange(len(plain_texts), dtype=np.int32), lengths)[at]
        """The index of the text of each character."""
        size = len(at)
        powers, self._inverse = _powers(_rounded(size + 1))
        self._sums = np.zeros(size + 1, np.uint64)
        np.cumsum(_values()[codes[at]] * powers[:size], out=self._sums[1:])
        divided = np.diff(at, prepend=-2) > 1
        self.words = np.flatnonzero(divided)
        """Where words begin; `_tokens`: where blanks alone divide them, so that a name is one."""
        blanks = np.cumsum(is_blank, dtype=np.int32)[at]
        self._tokens = np.flatnonzero(np.diff(blanks, prepend=-1) > 0)
        self.size = size

    def hashes(self, starts: Positions, ends: Positions) -> Hashes:
        """The hashes of runs from the character of `starts` to the one before `ends`."""
        made: Hashes = (self._sums[ends] - self._sums[starts]) * self._inverse[starts]
        return made

    def words_of(self, length: int) -> tuple[Positions, Positions]:
        """Starts and ends of all runs of so many words within one text."""
        return self._of(self.words, length)

    def indexed(self) -> Hashes:
        """The hashes of what a text is found by: windows of words, and parts of characters."""
        starts, ends = self._word_windows()
        parts = self._inside(np.arange(max(self.size - PART + 1, 0)), PART)
        return np.append(self.hashes(starts, ends), self.hashes(parts, parts + PART))

    def common(self, known: "Known", *, is_prose: bool) -> Hashes:
        """The hashes of the windows that other texts may have too, whose `indexed` are known.

        A window of CHARACTERS has a part that begins at a multiple of STEP, wherever it begins: so
        one part in STEP is looked up, and the windows around one that is known are returned.
        """
        starts, ends = self._of(self._tokens, WORDS) if is_prose else self.words_of(WORDS)
        hashes = self.hashes(starts, ends)
        found = hashes[known.contains(hashes) & (ends - starts >= FEWEST)]
        if is_prose:
            return found
        parts = self._inside(np.arange(0, max(self.size - PART + 1, 0), STEP), PART)
        parts = parts[known.contains(self.hashes(parts, parts + PART))]
        if not len(parts):
            return found
        around = np.unique(parts[:, None] - np.arange(STEP)[None, :])
        around = around[(around >= 0) & (around + CHARACTERS <= self.size)]
        around = self._inside(around, CHARACTERS)
        return np.append(found, self.hashes(around, around + CHARACTERS))

    def windows(self) -> tuple[Positions, Positions]:
        """Starts and ends of every window, of words and of characters."""
        starts, ends = self._word_windows()
        whole = self._inside(np.arange(max(self.size - CHARACTERS + 1, 0)), CHARACTERS)
        return np.append(starts, whole), np.append(ends, whole + CHARACTERS)

    def _word_windows(self) -> tuple[Positions, Positions]:
        pairs = [self.words_of(WORDS), self._of(self._tokens, WORDS)]
        starts, ends = (np.concatenate(each) for each in zip(*pairs, strict=True))
        long = ends - starts >= FEWEST
        return starts[long], ends[long]

    def _inside(self, starts: Positions, length: int) -> Positions:
        """The starts of runs of so many characters that are within one text."""
        inside: Positions = starts[self.text[starts + length - 1] == self.text[starts]]
        return inside

    def _of(self, begins: Positions, length: int) -> tuple[Positions, Positions]:
        if len(begins) < length:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        starts = begins[: len(begins) - length + 1]
        ends = np.append(begins, self.size)[length:]
        inside = self.text[ends - 1] == self.text[starts]
        return starts[inside], ends[inside]


def chunks(texts: Iterator[str]) -> Iterator[list[str]]:
    """Texts together, up to about CHUNK characters."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) + 1
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class Known:
    """A set of hashes, 8 bytes each and a table of bits that most lookups end at."""

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = np.unique(hashes)
        bits = max(16, min(27, len(self.hashes).bit_length() + 4))
        self._shift = np.uint64(64 - bits)
        self._there = np.zeros(1 << bits, np.bool_)
        self._there[self._slot(self.hashes)] = True

    def __len__(self) -> int:
        return len(self.hashes)

    def contains(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """Which of some hashes are in the set."""
        if not len(self.hashes):
            return np.zeros(len(hashes), np.bool_)
        found = self._there[self._slot(hashes)]
        likely = np.flatnonzero(found)
        index = np.searchsorted(self.hashes, hashes[likely])
        index[index == len(self.hashes)] = 0
        found[likely] = self.hashes[index] == hashes[likely]
        return found

    def _slot(self, hashes: Hashes) -> Hashes:
        slot: Hashes = (hashes * np.uint64(_BASE)) >> self._shift
        return slot


def whole_hash(texts: Sequence[str]) -> Hashes:
    """The hash of each text as one run; 0 of one without letters and digits."""
    runs = HashedTexts(texts)
    made = np.zeros(len(texts), np.uint64)
    begins = np.searchsorted(runs.text, np.arange(len(texts) + 1))
    filled = begins[1:] > begins[:-1]
    made[filled] = runs.hashes(begins[:-1][filled], begins[1:][filled])
    return made


@cache
def _values() -> Hashes:
    """A random number for each code point; the same in every process."""
    return np.random.default_rng(8).integers(1, 1 << 63, 0x110000, np.uint64) * np.uint64(2) + (
        np.uint64(1)
    )


def _rounded(size: int) -> int:
    return 1 << max(size - 1, 1).bit_length()


@cache
def _powers(size: int) -> tuple[Hashes, Hashes]:
    """The powers of the base from 0 on, and of its inverse modulo 2^64."""
    made = []
    for base in (_BASE, pow(_BASE, -1, 1 << 64)):
        steps = np.full(size, base, np.uint64)
        steps[0] = 1
        made.append(np.cumprod(steps, dtype=np.uint64))
    return made[0], made[1]
