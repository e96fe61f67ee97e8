"""A tokenizer that a test makes for itself."""

from pathlib import Path

from medhelm_spark.engines.tokens import FILE


def word_tokenizer(folder: Path, *words: str) -> Path:
    """Writes a tokenizer whose tokens are words and marks; returns its folder."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    vocabulary = {word: number for number, word in enumerate(("[UNK]", *words))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / FILE))
    return folder
