"""Purges: the text of a scenario removed when an agreement ends, and the note in its place."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from medhelm_spark.domain.request import Annotation, Completion, Prompt, RequestResult
from medhelm_spark.domain.run import RunSpec, SuiteRun
from medhelm_spark.domain.sampling import Sampling
from medhelm_spark.domain.scenario import Instance, Message, Quarantined, Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """Row of `purges`: the text of a scenario was removed; the newest row of a purge counts."""

    purge_id: str
    scenario_name: str
    agreement: str
    """The agreement that ended, as the person who purged named it."""
    begun_at: datetime
    purged_by: str
    """The operating system's user, which nobody has checked."""
    finished_at: datetime | None = None
    """None while it is under way, or was killed: the same command finishes it."""
    removed: Mapping[str, int] | None = None
    """By table the rows whose text was removed; by kind the files, runs and folders removed."""
    unreached: tuple[str, ...] | None = None
    """What may contain text of the scenario and was not removed, a sentence each."""
    tombstones: Mapping[str, str] | None = None
    """By table the hash of its tombstones of this purge; None while it is under way, and in rows of
    earlier versions."""

    @property
    def note(self) -> str:
        """The note in the place of each text.

        >>> from datetime import UTC
        >>> facts = {"purge_id": "1", "scenario_name": "s", "purged_by": "amy"}
        >>> Purge(agreement="DUA 7", begun_at=datetime(2026, 3, 2, tzinfo=UTC), **facts).note
        '[purged under agreement DUA 7 on 2026-03-02]'
        """
        return f"[purged under agreement {self.agreement} on {self.begun_at:%Y-%m-%d}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeScope:
    """What of a lake belongs to a scenario: the values by which its rows are found."""

    scenario_name: str
    data_versions: frozenset[str]
    deployments: Mapping[str, frozenset[str]]
    """By suite the models that its runs on the scenario ask."""
    run_spec_ids: frozenset[str]
    request_ids: frozenset[str]
    """The requests of its runs that no run on other data has too."""
    prompt_ids: frozenset[str]
    """The prompts of these requests, and those that were not sent yet."""
    num_shared: int
    """The requests that runs on other data have too, whose text stays."""

    def values(self, column: str) -> frozenset[str]:
        """The values of a column (`Purging.by`) in rows of the scenario."""
        by_column = {
            "data_version": self.data_versions,
            "run_spec_id": self.run_spec_ids,
            "request_id": self.request_ids,
            "prompt_id": self.prompt_ids,
        }
        return by_column[column]


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a part of the package removed beside the lake's tables, and what it could not."""

    removed: Mapping[str, int]
    unreached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenInstance(Instance):
    """A row of `instances` with its write."""

    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenQuarantined(Quarantined):
    """A row of `quarantine` with its write."""

    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSuiteRun(SuiteRun):
    """A row of `run_specs` with its write."""

    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPrompt(Prompt):
    """A row of `prompts` with its write."""

    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenResult(RequestResult):
    """A row of `request_results` with its write."""

    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAnnotation(Annotation):
    """A row of `annotations` with its write."""

    write_id: str


def purged_instance(row: WrittenInstance, note: str) -> WrittenInstance:
    """The row without the data set's own words and ids."""
    return replace(
        row,
        source_id=note,
        input=note,
        references=tuple(Reference(text=note, tags=each.tags) for each in row.references),
        messages=tuple(Message(role=each.role, content=note) for each in row.messages),
        sub_split=None if row.sub_split is None else note,
        extra_data={},
        text_hashes=None,
    )


def purged_quarantined(row: WrittenQuarantined, note: str) -> WrittenQuarantined:
    """The row without the file's name, which may be a record number."""
    return replace(row, source_file=note, reason=note)


def purged_prompt(row: WrittenPrompt, note: str) -> WrittenPrompt:
    """The row without its text."""
    return replace(
        row,
        messages=tuple(Message(role=each.role, content=note) for each in row.messages),
        text=note if row.text else "",
        output_mapping={},
    )


def purged_result(row: WrittenResult, note: str) -> WrittenResult:
    """The row without what was answered; when, where and how long stay on record."""
    texts = (Completion(text=note, finish_reason=each.finish_reason) for each in row.completions)
    return replace(row, completions=tuple(texts), reason=note if row.reason else row.reason)


def purged_annotation(row: WrittenAnnotation, note: str) -> WrittenAnnotation:
    """The row without what the judge wrote; its scores stay."""
    scores = (replace(each, explanation=note if each.explanation else "") for each in row.scores)
    return replace(row, scores=tuple(scores))


WORDS = (
    *("global_prefix", "global_suffix", "input_prefix", "input_suffix", "reference_prefix"),
    *("reference_suffix", "chain_of_thought_prefix", "chain_of_thought_suffix"),
    *("output_prefix", "output_suffix", "instance_prefix"),
)
"""The texts of an adapter beside its instructions."""


def purged_suite_run(row: WrittenSuiteRun, note: str) -> WrittenSuiteRun:
    """The row without the words of its prompts; what a board reads of it stays."""
    attested = row.prompt_attested and replace(row.prompt_attested, note=note)
    return replace(
        row,
        run_spec=_purged_spec(row.run_spec, note),
        as_imported=None if row.as_imported is None else note,
        prompt_attested=attested,
    )


def _purged_spec(spec: RunSpec, note: str) -> RunSpec:
    words: dict[str, Any] = dict.fromkeys(WORDS, "")
    adapter = replace(
        spec.adapter_spec,
        **words,
        instructions=note,
        reference_prefix_characters=None,
        substitutions=(),
        stop_sequences=(),
        output_mapping_pattern=None,
    )
    reading = spec.answer_extraction
    variants = spec.prompt_variants
    sampling: Sampling | None = spec.sampling and replace(spec.sampling, filter={})
    return replace(
        spec,
        adapter_spec=adapter,
        sampling=sampling,
        answer_extraction=reading and replace(reading, pattern="", options=None),
        prompt_variants=variants and tuple(replace(each, adapter_spec={}) for each in variants),
        medhelm=spec.medhelm and replace(spec.medhelm, stop_sequences=()),
    )
