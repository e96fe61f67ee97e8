"""What engines record of themselves with each answer: which weights answered."""

import json
from collections.abc import Iterable

WEIGHTS = ("weights_sha256", "lora_sha256", "revision", "dtype", "quantization")
"""The keys of the weights that answered, in an engine's record and in a deployment's arguments; no
other argument is shown."""
_RECORDED = ("version", *WEIGHTS)


def recorded_by(fingerprints: Iterable[str]) -> dict[str, list[str]]:
    """What engines recorded with the answers, by name: several values where it changed."""
    recorded: dict[str, set[str]] = {}
    for text in fingerprints:
        try:
            made = json.loads(text)
        except ValueError:
            continue
        for key in _RECORDED:
            if isinstance(made, dict) and made.get(key):
                recorded.setdefault(key, set()).add(str(made[key]))
    return {key: sorted(values) for key, values in recorded.items()}
