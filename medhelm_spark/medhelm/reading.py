"""How a run's answers are asked for and read: by default, and as MedHELM does.

A card has MedHELM's token limit and stop sequences. A chat model writes a sentence where one
letter was asked for; therefore an answer that is read by `choice` or `yes_no` may have as many
tokens as a sentence takes. Its beginning, cut at MedHELM's own limit, is scored beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from medhelm_spark.config.extraction import KEY, with_options
from medhelm_spark.domain.answer_form import READ_AS_JSON
from medhelm_spark.domain.run import (
    READ_OPTIONS,
    STRICT,
    AdapterSpec,
    AnswerExtraction,
    AnswerForm,
    ExtractionMethod,
    MedhelmReading,
)
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.medhelm.expanders import TOKEN_KEYS, Value
from medhelm_spark.metrics import declared_labels

LEAST_TOKENS = 64
"""The least an answer may have where an option is read out of it: a sentence or two, or an option
named and justified, but no reasoning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The adapter and extraction of a run, and MedHELM's own way where theirs is another."""

    adapter_spec: AdapterSpec
    answer_extraction: AnswerExtraction
    medhelm: MedhelmReading | None = None


def reading_of(
    card: ScenarioCard, spec: AdapterSpec, args: Mapping[str, Value], *, compat: bool
) -> Reading:
    """How a run is asked and read; what its entry states applies either way.

    Args:
        card: The card with the entry's extraction.
        spec: The adapter as MedHELM resolves the entry.
        args: The entry's own arguments.
        compat: Whether to ask and read as MedHELM does.
    """
    how = card.answer_extraction
    if not spec.method.shows_options:
        how = with_options(how, declared_labels(card.metrics))
    if compat and KEY not in args:
        medhelm = _medhelm(spec) if how != STRICT else None
        return Reading(adapter_spec=spec, answer_extraction=STRICT, medhelm=medhelm)
    is_short = spec.max_tokens < LEAST_TOKENS and not TOKEN_KEYS & args.keys()
    adapter = _with_room(spec, card.adapter_spec) if is_short else spec
    if spec.answer_form is AnswerForm.JSON and KEY not in args:
        is_read = how.method is ExtractionMethod.JSON_FIELD
        return Reading(adapter_spec=adapter, answer_extraction=how if is_read else READ_AS_JSON)
    if compat or how.method not in READ_OPTIONS:
        return Reading(adapter_spec=spec, answer_extraction=how)
    # A sampled answer of another length is another sample, and so is one of an enforced form.
    is_same = adapter == spec or adapter.temperature == 0
    is_same = is_same and spec.answer_form is AnswerForm.FREE
    return Reading(
        adapter_spec=adapter, answer_extraction=how, medhelm=_medhelm(spec) if is_same else None
    )


def _with_room(spec: AdapterSpec, own: AdapterSpec) -> AdapterSpec:
    """The adapter with room for a sentence, without the card's own stops, which would cut it."""
    adapter = replace(spec, max_tokens=LEAST_TOKENS)
    if spec.method.shows_options:  # sends none, as in HELM
        return adapter
    stops = tuple(stop for stop in spec.stop_sequences if stop not in own.stop_sequences)
    return replace(adapter, stop_sequences=stops)


def _medhelm(spec: AdapterSpec) -> MedhelmReading:
    sent = () if spec.method.shows_options else spec.stop_sequences
    return MedhelmReading(max_tokens=spec.max_tokens, stop_sequences=sent)
