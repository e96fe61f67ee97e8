"""MedHELM's end of the pipe: the only module here that the other environment's Python starts.

It answers from MedHELM's own classes. Nothing is fetched: NLTK's models and spaCy's are not
downloaded, and spaCy's English tokenizer replaces `en_core_web_sm`, whose tokenizer it is (the
model adds taggers, which MedHELM switches off).
"""

import json
import os
import sys
from typing import Any, TextIO


def stay_offline() -> None:
    """Before MedHELM is imported, because it downloads while it is."""
    import nltk
    import spacy

    nltk.download = lambda *_, **__: False
    spacy.load = lambda *_, **__: spacy.blank("en")
    spacy.util.is_package = lambda _: True


def own_channel() -> TextIO:
    """Where the answers go: standard output as it was, which then takes what libraries print."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def main() -> None:
    answers = own_channel()
    stay_offline()
    from tests.parity import medhelm_metrics, medhelm_specs

    handlers: dict[str, Any] = {**medhelm_metrics.QUESTIONS, **medhelm_specs.QUESTIONS}
    for line in sys.stdin:
        request = json.loads(line)
        answer = handlers[request.pop("question")](**request)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
