"""The requests and answers of a run, one request at a time, from whichever files there are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medhelm_spark.domain.helm_results import PER_INSTANCE, STATES
from medhelm_spark.medhelm_results.folder import INSTANCES, PREDICTIONS, REQUESTS
from medhelm_spark.medhelm_results.stream import BrokenFileError, items

REDACTED = "[redacted]"
"""What MedHELM's own script leaves in place of a text."""

TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmState:
    """One request of a run, as its file has it; what no file has is None.

    `helm_id` is HELM's own id of the instance. `instance`, `request`, `result` and `annotations`
    are HELM's objects.
    """

    helm_id: str
    perturbation: str = ""
    train_trial_index: int = 0
    instance: Mapping[str, Any] | None = None
    request: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None
    output_mapping: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] | None = None
    num_train_instances: int = 0
    prompt_truncated: bool = False
    split: str = TEST


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceStats:
    """The values of one instance in one train trial, by stat; those without a value are absent."""

    helm_id: str
    perturbation: str
    train_trial_index: int
    split: str | None
    values: Mapping[str, float]


def read_states(run: Path) -> Iterator[HelmState]:
    """The requests of a run in the order of its files.

    Of a run without `scenario_state.json` they are put together from the files that HELM's summary
    wrote; of one without those either, only the ids of `per_instance_stats.json` are known.

    Raises:
        BrokenFileError: a file is broken, or two do not fit each other.
    """
    if (run / STATES).is_file():
        yield from map(_of_state, items(run / STATES, "request_states.item"))
    elif any((run / file).is_file() for file in (PREDICTIONS, REQUESTS, INSTANCES)):
        yield from _of_display(run)
    elif (run / PER_INSTANCE).is_file():
        yield from _of_stats(run)


def read_instance_stats(run: Path) -> Iterator[InstanceStats]:
    """The values of a run's instances; several rows may be about one instance.

    Raises:
        BrokenFileError: the file is broken.
    """
    if (run / PER_INSTANCE).is_file():
        yield from map(_of_row, items(run / PER_INSTANCE))
    elif (run / PREDICTIONS).is_file():
        for row in items(run / PREDICTIONS):
            key = _key(row, PREDICTIONS)
            stats = row.get("stats")
            values = {name: float(value) for name, value in _object(stats).items() if _is(value)}
            yield InstanceStats(
                helm_id=key[0],
                perturbation=key[1],
                train_trial_index=key[2],
                split=None,
                values=values,
            )


def perturbation_name(value: object) -> str:
    """The name of a perturbation as an object of HELM's; empty where there is none."""
    return str(value.get("name") or "") if isinstance(value, dict) else ""


def _is(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _of_state(row: object) -> HelmState:
    state = _object(row)
    instance = state.get("instance")
    if not isinstance(instance, dict) or instance.get("id") is None:
        raise BrokenFileError(f"{STATES} has a request without an instance or its id")
    return HelmState(
        helm_id=str(instance["id"]),
        perturbation=perturbation_name(instance.get("perturbation")),
        train_trial_index=_index(state.get("train_trial_index")),
        instance=instance,
        request=_object(state.get("request")),
        result=state.get("result"),
        output_mapping=state.get("output_mapping"),
        annotations=state.get("annotations"),
        num_train_instances=_index(state.get("num_train_instances")),
        prompt_truncated=bool(state.get("prompt_truncated")),
        split=str(instance.get("split") or TEST),
    )


def _index(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _of_display(run: Path) -> Iterator[HelmState]:
    """The three files of a summary, which have one order, read side by side."""
    instances = _rows(run / INSTANCES)
    files = [file for file in (PREDICTIONS, REQUESTS) if (run / file).is_file()]
    if not files:
        for row in instances:
            yield _of_instance(row)
        return
    others = [(file, _rows(run / file)) for file in files[1:]]
    known: set[tuple[str, str]] = set()
    for row in _rows(run / files[0]):
        key = _key(row, files[0])
        beside = {files[0]: row}
        for file, rows in others:
            beside[file] = _next(rows, file, files[0])
            if _key(beside[file], file) != key:
                raise BrokenFileError(f"{file} and {files[0]} are not of one order")
        instance = None
        if key[:2] not in known and (run / INSTANCES).is_file():
            instance = _next(instances, INSTANCES, files[0])
            if (str(instance.get("id")), perturbation_name(instance.get("perturbation"))) != key[
                :2
            ]:
                raise BrokenFileError(f"{INSTANCES} and {files[0]} are not of one order")
        known.add(key[:2])
        yield _displayed(key, instance, beside)


def _displayed(
    key: tuple[str, str, int], instance: Mapping[str, Any] | None, rows: Mapping[str, Any]
) -> HelmState:
    prediction, request = rows.get(PREDICTIONS, {}), rows.get(REQUESTS, {})
    text = prediction.get("predicted_text")
    thinking = prediction.get("thinking_text")
    completion = {"text": text, **({"thinking": {"text": thinking}} if thinking else {})}
    return HelmState(
        helm_id=key[0],
        perturbation=key[1],
        train_trial_index=key[2],
        instance=instance,
        request=_object(request.get("request")),
        result=None if text is None else {"success": True, "completions": [completion]},
        annotations=prediction.get("annotations"),
        split=str((instance or {}).get("split") or TEST),
    )


def _of_instance(row: Mapping[str, Any]) -> HelmState:
    if row.get("id") is None:
        raise BrokenFileError(f"{INSTANCES} has an instance without an id")
    return HelmState(
        helm_id=str(row["id"]),
        perturbation=perturbation_name(row.get("perturbation")),
        instance=row,
        split=str(row.get("split") or TEST),
    )


def _of_stats(run: Path) -> Iterator[HelmState]:
    known: set[tuple[str, str, int]] = set()
    for row in read_instance_stats(run):
        key = (row.helm_id, row.perturbation, row.train_trial_index)
        if key not in known:
            known.add(key)
            yield HelmState(
                helm_id=row.helm_id,
                perturbation=row.perturbation,
                train_trial_index=row.train_trial_index,
                split=row.split or TEST,
            )


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    if path.is_file():
        yield from map(_object, items(path))


def _next(rows: Iterator[Mapping[str, Any]], file: str, other: str) -> Mapping[str, Any]:
    row = next(rows, None)
    if row is None:
        raise BrokenFileError(f"{file} has fewer rows than {other}")
    return row


def _key(row: object, file: str) -> tuple[str, str, int]:
    fields = _object(row)
    if fields.get("instance_id") is None:
        raise BrokenFileError(f"{file} has a row without instance_id")
    perturbation = perturbation_name(fields.get("perturbation"))
    return str(fields["instance_id"]), perturbation, _index(fields.get("train_trial_index"))


def _of_row(row: object) -> InstanceStats:
    helm_id, perturbation, trial = _key(row, PER_INSTANCE)
    values: dict[str, float] = {}
    split = None
    for stat in _object(row).get("stats") or ():
        name = _object(_object(stat).get("name"))
        value = value_of(_object(stat))
        if split is None and name.get("split"):
            split = str(name["split"])
        if value is not None and name.get("name"):
            values.setdefault(str(name["name"]), value)
    return InstanceStats(
        helm_id=helm_id,
        perturbation=perturbation,
        train_trial_index=trial,
        split=split,
        values=values,
    )


def value_of(stat: Mapping[str, Any]) -> float | None:
    """The mean of a Stat of HELM's; None where it counted nothing, or is no number."""
    count, total = stat.get("count"), stat.get("sum")
    if not isinstance(count, int | float) or not isinstance(total, int | float) or not count:
        return None
    return float(total) / count
