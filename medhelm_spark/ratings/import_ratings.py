"""Import of ratings: every value is checked before any is stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.board import BoardRun
from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.ratings.pseudonyms import pseudonym, pseudonym_key
from medhelm_spark.ratings.rated_criteria import refuse_other_scale, rubrics_behind
from medhelm_spark.ratings.read_ratings import Classes, RatedValue, RatingFile, read_ratings
from medhelm_spark.ratings.stored import stored_ratings
from medhelm_spark.ratings.tables import Rating
from medhelm_spark.stages.context import now
from medhelm_spark.workspace.workspace import Workspace

_INSTANCES = """
SELECT data_version, instance_id, source_id, access_level FROM ({instances}) d
WHERE perturbation = '' AND data_version IN ({versions})
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRatings:
    """The outcome of an import."""

    scenario: str
    values: int
    """The values in the file."""
    stored: int
    """The values that were stored; all others were stored before and have not changed."""
    changed: int
    """The stored values that replace another value of the same rater."""
    raters: int
    answers: int

    def __str__(self) -> str:
        known = self.values - self.stored
        return (
            f"ratings of {self.scenario}: {self.stored:,} of {self.values:,} values stored "
            f"({self.changed:,} replace another, {known:,} known before), of {self.raters:,} "
            f"raters for {self.answers:,} answers"
        )


def import_ratings(
    workspace: Workspace,
    runs: Sequence[BoardRun],
    scenario: str,
    file: RatingFile,
    *,
    scale: tuple[float, float] | None = None,
    key_file: Path | None = None,
) -> ImportedRatings:
    """Store the values of a file as ratings of these runs' answers.

    Args:
        workspace: the lake and the site.
        runs: the runs of the suite.
        scenario: the benchmark whose answers were rated.
        file: the ratings.
        scale: the lowest and highest value; None: that of the benchmark's rubric.
        key_file: the file with the key of the pseudonyms.

    Raises:
        ConfigError: no scale is known, it reaches beyond the rubric's, or the key is in the
            lake.
        DataError: a row is unusable, names no answer of a run, or has a value off the scale;
            nothing was stored.
    """
    specs = [run.run_spec for run in runs if run.run_spec.scenario_name == scenario]
    scales = _scales(workspace, specs, scale)
    answers = _Answers(workspace.reader, specs)
    values = list(read_ratings(file, _classes_in(scales)))
    if not values:
        raise DataError(f"{file.path}: has no value.")
    if scale is not None:
        own = rubrics_behind(workspace.reader, workspace.registry.rubrics, specs)
        refuse_other_scale(own, (value.criterion for value in values), scale)
    instances = [answers.find(file, value) for value in values]
    _check(file, values, instances, scales)
    secret = pseudonym_key(key_file, workspace.location)
    existing = {_key(row): row for row in stored_ratings(workspace.reader, _units(specs))}
    at = now(row.rated_at for row in existing.values())
    source = file.sha256
    rows = [
        Rating(
            run_spec_id=unit,
            instance_id=instance,
            trial_index=value.trial,
            rater=pseudonym(value.rater, secret),
            criterion=value.criterion,
            value=value.value,
            comment=value.comment,
            access_level=level,
            rated_at=at,
            source=source,
        )
        for value, (unit, instance, level) in zip(values, instances, strict=True)
    ]
    new = [row for row in rows if not _is_same(row, existing.get(_key(row)))]
    if new:
        write_id = content_id([[*_key(row), row.value, row.comment] for row in new], str(at))
        workspace.context("").lake.append_rows("ratings", new, write_id, txn=(write_id, 1))
    return ImportedRatings(
        scenario=scenario,
        values=len(rows),
        stored=len(new),
        changed=sum(_key(row) in existing for row in new),
        raters=len({row.rater for row in rows}),
        answers=len({_key(row)[:3] for row in rows}),
    )


def _units(specs: Iterable[RunSpec]) -> list[str]:
    return [spec.run_spec_id for spec in specs]


def _key(row: Rating) -> tuple[str, str, int, str, str]:
    return (row.run_spec_id, row.instance_id, row.trial_index, row.rater, row.criterion)


def _is_same(row: Rating, other: Rating | None) -> bool:
    return other is not None and (row.value, row.comment) == (other.value, other.comment)


def _scales(
    workspace: Workspace, specs: Sequence[RunSpec], scale: tuple[float, float] | None
) -> Mapping[str, Criterion] | tuple[float, float]:
    """The criteria that a value may have, or the one scale of all criteria."""
    if scale is not None:
        return scale
    known = {
        criterion.name: criterion
        for rubric in rubrics_behind(workspace.reader, workspace.registry.rubrics, specs)
        for criterion in rubric.criteria
    }
    if not known:
        names = ", ".join(sorted({spec.scenario_name for spec in specs}))
        raise ConfigError(
            f"{names}: no rubric or stored verdict of its judges says what criteria and scale the "
            "ratings have; name the scale, as --scale 1-5."
        )
    return known


def _classes_in(scales: Mapping[str, Criterion] | tuple[float, float]) -> Classes:
    """The classes of the criteria that have some."""
    if isinstance(scales, tuple):
        return {}
    return {name: each.classes for name, each in scales.items() if each.classes}


class _Answers:
    """The answers that can be rated: a run of the model, and an instance of its data."""

    def __init__(self, reader: Reader, specs: Sequence[RunSpec]) -> None:
        self._specs = specs
        versions = {spec.data_version for spec in specs}
        self._by_instance: dict[tuple[str, str], AccessLevel] = {}
        self._by_source: dict[tuple[str, str], str] = {}
        if not versions:
            return
        instances = output_of("instances", INGEST, "data_version")
        sql = _INSTANCES.format(instances=instances, versions=literals(versions))
        for row in reader.query(sql).to_pylist():
            version, instance = row["data_version"], row["instance_id"]
            self._by_instance[version, instance] = AccessLevel(row["access_level"])
            self._by_source[version, row["source_id"]] = instance

    def find(self, file: RatingFile, value: RatedValue) -> tuple[str, str, AccessLevel]:
        """The run, the instance and the level of a rated answer.

        Raises:
            DataError: no run, or several, of this model have an answer to it.
        """
        where = f"{file.path}: row {value.row}"
        named = [spec for spec in self._specs if value.model in (spec.model_deployment, spec.model)]
        if not named:
            models = ", ".join(sorted({spec.model_deployment for spec in self._specs}))
            raise DataError(
                f"{where}: column {file.column('model')!r} names no model of the suite; allowed: "
                f"{models}."
            )
        last = max(spec.adapter_spec.num_trials for spec in named) - 1
        if value.trial > last:
            allowed = f"0 to {last}" if last else "0"
            raise DataError(
                f"{where}: column {file.column('trial')!r} names no trial of the model's runs; "
                f"allowed: {allowed}."
            )
        found = list(self._matches(named, value))
        if not found:
            column = file.column("source_id" if value.source_id else "instance_id")
            raise DataError(f"{where}: column {column!r} names no instance of the model's runs.")
        if len(found) > 1:
            raise DataError(
                f"{where}: {len(found)} runs of this model have this instance; rate the answers of "
                "a suite in which one has."
            )
        return found[0]

    def _matches(
        self, specs: Iterable[RunSpec], value: RatedValue
    ) -> Iterator[tuple[str, str, AccessLevel]]:
        for spec in specs:
            version = spec.data_version
            instance = value.instance_id or self._by_source.get((version, value.source_id), "")
            if level := self._by_instance.get((version, instance)):
                yield spec.run_spec_id, instance, strictest([level, spec.access_level])


def _check(
    file: RatingFile,
    values: Sequence[RatedValue],
    instances: Sequence[tuple[str, str, AccessLevel]],
    scales: Mapping[str, Criterion] | tuple[float, float],
) -> None:
    """Refuse a value off its scale, and two values of one rater for the same.

    Raises:
        DataError: it names the row.
    """
    seen: dict[tuple[object, ...], int] = {}
    for value, (unit, instance, _) in zip(values, instances, strict=True):
        where = f"{file.path}: row {value.row}"
        if isinstance(scales, tuple):
            low, high, is_whole = *scales, False
        else:
            criterion = scales.get(value.criterion)
            if criterion is None:
                raise DataError(
                    f"{where}: its criterion is none of the rubric's: {', '.join(scales)}."
                )
            low, high, is_whole = criterion.minimum, criterion.maximum, criterion.whole
            if criterion.classes:  # the index of a class, which was read by its name
                low, high = 0.0, float(len(criterion.classes) - 1)
        if not low <= value.value <= high or (is_whole and not value.value.is_integer()):
            kind = "whole numbers" if is_whole else "numbers"
            column = value.criterion if file.criteria else file.column("value")
            raise DataError(
                f"{where}: column {column!r} is off its scale; allowed: {kind}, {low:g} to "
                f"{high:g}."
            )
        key = (unit, instance, value.trial, value.rater, value.criterion)
        if (first := seen.setdefault(key, value.row)) != value.row:
            raise DataError(
                f"{where}: row {first} has a value of the same rater for the same answer and "
                "criterion."
            )
