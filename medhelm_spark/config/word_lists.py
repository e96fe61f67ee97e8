"""Word lists of perturbations: their files and their content."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.config.layers import LayeredFiles
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.plan import WordList, WordLists
from medhelm_spark.errors import ConfigError

FOLDER = "perturbations"


def word_list_files(layers: LayeredFiles) -> dict[str, Path]:
    """The file of every word list: a site's own in place of the shipped one of its name."""
    files = {path.stem: path for path in layers.folder(FOLDER, "*.yaml")}
    for name, path in files.items():
        layers.note("word list", name, path)
    return files


def load_word_lists(files: Mapping[str, Path]) -> WordLists:
    """Reads word lists: each a mapping from a word, or a group's name, to a list of words.

    Raises:
        ConfigError: A file is absent, broken, or has an entry without words.
    """
    return {name: _load(path) for name, path in files.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _WordListFile:
    words: Mapping[str, tuple[str, ...]]


def _load(path: Path) -> WordList:
    word_list = load_yaml(path, _WordListFile).words
    for key, words in word_list.items():
        if not words or not all(map(str.strip, (key, *words))):
            raise ConfigError(f"{path}: words.{key} has no word, or an empty one.")
    return word_list
