"""The options that a question itself lists, `A. aspirin` or `(A) aspirin`, where only it does."""

import re
from collections.abc import Mapping, Sequence

_LINE = re.compile(r"^[ \t]*\(?([A-Za-z0-9])[.):][ \t]+(\S.*)$", re.MULTILINE)
_INLINE = re.compile(r"\(([A-Za-z0-9])\)\s+((?!\s)[^(\n]*(?:\((?![A-Za-z0-9]\)\s)[^(\n]*)*)")


def shown_in(question: str, labels: Sequence[str]) -> Mapping[str, str]:
    r"""The texts of `labels` as the question's last list shows them; empty where it shows none.

    A list begins with the first label and goes on in order, two options at least.

    >>> shown_in("Which drug?\nA. aspirin\nB. heparin", ("A", "B", "C"))
    {'A': 'aspirin', 'B': 'heparin'}
    """
    for form in (_LINE, _INLINE):
        found: dict[str, str] = {}
        for match in form.finditer(question):
            label = match[1].upper()
            if label == labels[0]:
                found = {}
            if len(found) < len(labels) and label == labels[len(found)]:
                found[label] = match[2].rstrip()
        if len(found) > 1:
            return found
    return {}
