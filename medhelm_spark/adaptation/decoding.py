"""Decoding parameters of a RunSpec, the ids of renderings, calls and requests, and token estimates.

What is computed per request is SQL, so that the plan stage joins prompts with calls without sending
rows through Python.
"""

import hashlib
import math

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id, digest
from medhelm_spark.domain.request import Decoding
from medhelm_spark.domain.run import AdapterSpec

RENDER_VERSION = "1"
"""Part of every render_id; raised whenever `render` or `select_train` gives another text."""

RENDER_FIELDS = (
    "method",
    "global_prefix",
    "global_suffix",
    "instructions",
    "input_prefix",
    "input_suffix",
    "reference_prefix",
    "reference_prefix_characters",
    "reference_suffix",
    "chain_of_thought_prefix",
    "chain_of_thought_suffix",
    "output_prefix",
    "output_suffix",
    "instance_prefix",
    "substitutions",
    "max_train_instances",
    "sample_train",
    "multi_label",
)
"""The AdapterSpec fields that shape a prompt's text; no other field changes the prompt."""

_OPTION_FIELDS = ("method", "reference_prefix", "reference_prefix_characters")

REQUEST_ID_SQL = "md5(concat(prompt_id, '|', call_id))"
"""The id of a request, the unit of paid work; `prompt_id` covers text and access level."""


def request_id(prompt_id: str, call: str) -> str:
    """The same id, of one prompt and one call (see tests/spark/test_judges_follow.py)."""
    return hashlib.md5(f"{prompt_id}|{call}".encode(), usedforsecurity=False).hexdigest()


CHARACTERS_PER_TOKEN = 4
OUTPUT_WEIGHT = 0.25

ESTIMATED_TOKENS_SQL = (
    f"greatest(1, CAST(ceil(num_characters / {CHARACTERS_PER_TOKEN}"
    f" + {OUTPUT_WEIGHT} * decoding.max_tokens * decoding.num_completions) AS BIGINT))"
)
"""Expected tokens of a request, over `num_characters` and `decoding`; balances chunks and slots.

Four characters a token is the usual rate of English text. Of `max_tokens` a quarter counts: the
limit is set for the longest answer while most end far before it, and in full it would hide the
difference between a short prompt and a note of 200 KB. `estimate` uses real tokenizers.
"""


def estimated_tokens(num_characters: int, decoding: Decoding) -> int:
    """The same estimate, of one request."""
    answer = OUTPUT_WEIGHT * decoding.max_tokens * decoding.num_completions
    return max(1, math.ceil(num_characters / CHARACTERS_PER_TOKEN + answer))


def decoding_for(
    spec: AdapterSpec,
    *,
    trial_index: int = 0,
    needs_tokens: bool = False,
    asked_again: str | None = None,
    response_schema: str | None = None,
) -> Decoding:
    """The decoding parameters of one trial of a RunSpec.

    As in HELM, joint multiple choice asks for one completion without stop sequences and turns
    `num_outputs` into the number of top log-probabilities per token. Every other method asks for
    `num_outputs` completions. Trials differ by their seed; a trial's parameters do not depend on
    how many trials there are, so that raising `num_trials` reuses the earlier answers.

    `needs_tokens` is for answers that are also read as MedHELM's shorter ones, and for metrics of
    tokens: engines return tokens only with log-probabilities, and one alternative per token, which
    nothing reads, is enough. A sample that is `asked_again` has other seeds, or a server that keeps
    to them would give the same one.
    """
    joint = spec.method.shows_options
    alternatives = spec.num_outputs if joint else 0
    return Decoding(
        max_tokens=spec.max_tokens,
        temperature=spec.temperature,
        stop_sequences=() if joint else spec.stop_sequences,
        num_completions=1 if joint else spec.num_outputs,
        seed=_seed(spec, trial_index, asked_again),
        logprobs=1 if needs_tokens else alternatives,
        response_schema=response_schema,
    )


def _seed(spec: AdapterSpec, trial_index: int, asked_again: str | None) -> int | None:
    """None where nothing is random: greedy decoding, first trial, no `random` in the spec.

    HELM's `random` only breaks its cache. Here it is the first trial's seed and the others count
    up from it, so that no two trials share one (in HELM `random="1"` collides with trial 1).
    """
    if asked_again and (trial_index or spec.temperature > 0):
        return int(digest(f"{asked_again} {spec.random}")[:7], 16) + trial_index
    if spec.random is None:
        return trial_index if trial_index or spec.temperature > 0 else None
    if spec.random.isascii() and spec.random.isdecimal() and len(spec.random) < 10:
        return int(spec.random) + trial_index
    return int(digest(spec.random)[:7], 16) + trial_index


def estimate_text_tokens(text: str) -> int:
    """Tokens of a text whose tokenizer is not available."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def render_id(spec: AdapterSpec, data_version: str, *parts: str) -> str:
    """The id of a rendering: everything but the instance that shapes a prompt's text.

    Runs that differ only in decoding, sampling size or scoring share their prompts. `parts` are
    whatever else shaped the text, for example a template's hash.
    """
    fields = {name: getattr(spec, name) for name in RENDER_FIELDS}
    return content_id(RENDER_VERSION, fields, data_version, parts)


def option_fields(spec: AdapterSpec) -> dict[str, str | None]:
    """The fields that decide which letter is which reference."""
    return {name: getattr(spec, name) for name in _OPTION_FIELDS}


def call_id(deployment: Deployment, decoding: Decoding, asked_again: str | None = None) -> str:
    """The id of a call: the deployment's identity, every decoding parameter, its day."""
    day = (asked_again,) if asked_again else ()
    return content_id(deployment.identity, decoding, *day)
