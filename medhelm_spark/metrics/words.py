"""Words of a text for the metrics that compare word sequences: one rule, nothing to download.

MedHELM takes spaCy's English tokens for extractive metrics and NLTK's for BLEU; the latter needs a
downloaded model of sentence ends. The rule here is close to spaCy's: a number keeps its inner
points and slashes, an ending after an apostrophe is a word, a hyphen parts two words, every other
mark stands alone; unlike spaCy's, line breaks are no words.
"""

import re

_WORD = re.compile(r"[0-9]+(?:[.,:/][0-9]+)*|(?<=\w)['’]\w+|\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """The words and marks of a text, in order.

    >>> words("The patient's BP was 120/80, follow-up in 2.5 weeks.")[:7]
    ['The', 'patient', "'s", 'BP', 'was', '120/80', ',']
    """
    return _WORD.findall(text)
