"""Which texts of the lake are looked for as a whole, and which words every prompt has."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from medhelm_spark.lake.reader import Reader
from medhelm_spark.sharing.windows import (
    WORDS,
    HashedTexts,
    Hashes,
    Known,
    forms,
    plain,
    whole_hash,
)

WHOLE = 12
"""The fewest letters and digits of a short text that is compared with whole strings."""
NOTE_WORDS, NOTE = 4, 16
"""The fewest words, and letters and digits, of a note that is looked for inside strings."""
ID, NUMBER, DIGITS_OF_WORDS = 6, 5, 4
"""The letters and digits of an id with a digit, the digits of a number alone, and the digits of an
id of several words."""
LONGEST_SHORT = 400
WRITTEN = frozenset({"instances", "ratings", "answer_notes", "quarantine"})
"""Tables whose short notes are looked for inside strings. Models and judges say the same few words
of public and private rows."""
MIN_INSTANCES = 5
"""The fewest instances of a benchmark whose common text counts as its prompt."""


class ShortTexts:
    """Hashes of texts of fewer than WORDS words, by table: 8 bytes for each that is looked for."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[str, str], Hashes] = defaultdict(lambda: np.zeros(0, np.uint64))

    def add(self, table: str, texts: Sequence[str], *, is_id: bool) -> None:
        """Add texts or ids; of each what is too common to be looked for is left out."""
        sorts: dict[str, list[str]] = defaultdict(list)
        for text in texts:
            if len(text) <= LONGEST_SHORT:
                for sort in _id_sorts(text) if is_id else _note_sorts(table, text):
                    sorts[sort].append(text)
        for sort, group in sorts.items():
            key = (sort, table)
            self._hashes[key] = np.union1d(self._hashes[key], whole_hash(group))

    def known(self) -> "KnownShort":
        """The texts in a form for lookups."""
        return KnownShort({key: Known(hashes) for key, hashes in self._hashes.items()})


class KnownShort:
    """Short texts that strings are looked up in."""

    def __init__(self, known: Mapping[tuple[str, str], Known]) -> None:
        self._known = known

    def inside(self, runs: HashedTexts) -> Iterator[tuple[int, str, bool]]:
        """The index of each text that has one as whole words, its table, and if it is a number."""
        for length in range(1, WORDS):
            starts, ends = runs.words_of(length)
            hashes = runs.hashes(starts, ends)
            for (sort, table), known in self._known.items():
                if sort == "inside" or (sort == "number" and length == 1):
                    for text in np.unique(runs.text[starts[known.contains(hashes)]]).tolist():
                        yield text, table, sort == "number"

    def wholes(self, hashes: Hashes) -> Iterator[tuple[int, str]]:
        """The indices of hashes of whole strings, each with the table of its text."""
        for (sort, table), known in self._known.items():
            if sort == "whole":
                found = np.flatnonzero(known.contains(hashes)).tolist()
                yield from ((index, table) for index in found)


def _id_sorts(text: str) -> Iterator[str]:
    words = _words(text)
    joined = "".join(words)
    digits = sum(map(str.isdigit, joined))
    is_number = len(words) == 1 and digits == len(joined)
    if is_number and digits >= NUMBER:
        yield "number"
    fewest = 1 if len(words) == 1 else DIGITS_OF_WORDS
    if not is_number and len(words) < WORDS and len(joined) >= ID and digits >= fewest:
        yield "inside"


def _note_sorts(table: str, text: str) -> Iterator[str]:
    words = _words(text)
    size = sum(map(len, words))
    if len(words) < WORDS and size >= WHOLE:
        yield "whole"
        if table in WRITTEN and len(words) >= NOTE_WORDS and size >= NOTE:
            yield "inside"


def _words(text: str) -> list[str]:
    if text.isascii():
        return "".join(sign if sign.isalnum() else " " for sign in text.lower()).split()
    return plain(text).replace("-", " ").split()


def known_windows(reader: Reader, common: Mapping[str, Hashes]) -> Known:
    """Of the windows that a share and private rows have, those of a prompt or a name.

    A prompt's are those that all instances of a public benchmark have, and all instances of each
    gated or private benchmark that has them; both have MIN_INSTANCES or more. So a case of a
    private benchmark that a public prompt repeats is not one of them.
    """
    candidates = Known(np.concatenate([np.zeros(0, np.uint64), *common.values()]))
    if not len(candidates):
        return candidates
    public = _by_version(reader, candidates, "=")
    templates = {
        window
        for count, windows in public.values()
        if count >= MIN_INSTANCES
        for window, times in windows.items()
        if times == count
    }
    own = {
        window
        for count, windows in _by_version(reader, candidates, "<>").values()
        for window, times in windows.items()
        if times < count or count < MIN_INSTANCES
    }
    names = _windows_of(_names(reader), candidates)
    return Known(np.array(sorted((templates | names) - own), np.uint64))


def _by_version(
    reader: Reader, candidates: Known, relation: str
) -> dict[str, tuple[int, Counter[int]]]:
    """By data version the number of its instances, and of those that have each window."""
    counts: Counter[str] = Counter()
    windows: dict[str, Counter[int]] = defaultdict(Counter)

    def count(part: pa.Table) -> pa.Table:
        for row in part.to_pylist():
            version = row["data_version"]
            counts[version] += 1
            texts = [row["input"] or "", *(each["content"] for each in row["messages"] or ())]
            windows[version].update(_windows_of(texts, candidates))
        return part.slice(0, 0)

    reader.query(
        "SELECT data_version, input, messages FROM {instances} "
        f"WHERE perturbation = '' AND access_level {relation} 'public'",
        each=count,
    )
    return {version: (counts[version], windows[version]) for version in counts}


def _windows_of(texts: Iterable[str], candidates: Known) -> set[int]:
    runs = HashedTexts([form for text in texts for form in forms(text)])
    hashes = runs.hashes(*runs.windows())
    return set(hashes[candidates.contains(hashes)].tolist())


def _names(reader: Reader) -> set[str]:
    """The names of models, benchmarks and runs that every share has."""
    sql = (
        "SELECT DISTINCT run_spec['model_deployment'] AS model_deployment, "
        "run_spec['scenario_name'] AS scenario_name FROM {run_specs}"
    )
    found = reader.query(sql).to_pylist()
    pairs = [(row["scenario_name"], row["model_deployment"]) for row in found]
    return {name for pair in pairs for name in (*pair, ":model=".join(pair))}
