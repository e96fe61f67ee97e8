"""Which runs and releases a folder of MedHELM's or HELM's output has, and which are whole.

Only the small files of a run are read here: its RunSpec and scenario.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from medhelm_spark.config.loader import validate
from medhelm_spark.domain.helm_results import (
    PER_INSTANCE,
    RUN_SPEC,
    RUNS,
    SCENARIO,
    SCHEMA,
    STATES,
    STATS,
    NotImported,
)
from medhelm_spark.domain.names import is_name
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.export_file import TheirRunSpec
from medhelm_spark.medhelm.run_entries import MODEL_KEYS
from medhelm_spark.medhelm_results.stream import BrokenFileError, items, mapping

INSTANCES = "instances.json"
PREDICTIONS, REQUESTS = "display_predictions.json", "display_requests.json"
FILES = (RUN_SPEC, SCENARIO, STATS, STATES, PER_INSTANCE, INSTANCES, PREDICTIONS, REQUESTS)
RELEASES = "releases"
RUNS_TO_SUITES, RELEASE_RUNS = "runs_to_run_suites.json", "runs.json"
NO_RUNS = frozenset({"eval_cache", "groups"})
"""Folders beside runs that HELM does not read as runs."""

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """One run of a folder: its RunSpec, and where its files are.

    `suite` is HELM's. `documents` are run_spec.json and scenario.json as they are. `stats` are
    the stats where no file but a release's own list has them.
    """

    name: str
    suite: str
    path: Path
    run_spec: TheirRunSpec
    documents: Mapping[str, Any] = field(default_factory=dict)
    stats: tuple[Mapping[str, Any], ...] = ()

    def has(self, file: str) -> bool:
        """Whether it has a file of this name."""
        return (self.path / file).is_file()

    @property
    def revision(self) -> str:
        """The id of the bytes of all its files."""
        digest = sha256(repr(self.stats).encode())
        for file in FILES:
            if self.has(file):
                digest.update(file.encode())
                with (self.path / file).open("rb") as stream:
                    while block := stream.read(BLOCK):
                        digest.update(block)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFolder:
    """A release of a folder: the names of its runs, each with HELM's suite of it."""

    name: str
    runs: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmFolder:
    """What a folder contains; `read` counts runs, whole and broken ones and copies."""

    runs: tuple[RunFolder, ...]
    releases: tuple[ReleaseFolder, ...]
    left_out: tuple[NotImported, ...]
    directions: Mapping[str, bool | None] = field(default_factory=dict)
    mains: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def read(self) -> int:
        return len(self.runs) + len(self.left_out)


def find_results(path: Path) -> HelmFolder:
    """The runs and releases below a folder: an output folder, or one suite, release or run of it.

    A run that is in several suites counts once: that of the last suite, as in MedHELM.

    Raises:
        ConfigError: there is no such folder, or no run in it.
    """
    if not path.is_dir():
        raise ConfigError(f"{str(path)!r} is no folder; give the output folder of HELM's.")
    root = path.resolve()
    left_out: list[NotImported] = []
    runs: dict[str, RunFolder] = {}
    for folder in _run_folders(path):
        try:
            _refuse_outside(folder, FILES, root)
            run = _run_folder(folder)
        except BrokenFileError as error:
            left_out.append(NotImported(name=_shown(folder), reason=str(error)))
            continue
        if run.name in runs:
            earlier = runs[run.name]
            name, reason = (
                f"{earlier.suite}/{earlier.name}",
                f"the one of suite {run.suite!r} counts",
            )
            left_out.append(NotImported(name=name, reason=reason, is_copy=True))
        runs[run.name] = run
    releases = []
    for folder in _release_folders(path):
        try:
            _refuse_outside(folder, (RUNS_TO_SUITES, RELEASE_RUNS, RUNS), root)
            releases.append(_release_folder(folder))
            known = {*runs, *(_name(out) for out in left_out)}
            for run in _runs_of_release(folder, known, root, left_out):
                runs[run.name] = run
        except BrokenFileError as error:
            left_out.append(NotImported(name=_shown(folder), reason=str(error)))
    if not runs and not left_out:
        raise ConfigError(
            f"{str(path)!r} contains no run of HELM's: no runs/SUITE/RUN/run_spec.json and no "
            "releases/RELEASE/runs.json is below it."
        )
    directions, mains = _schemas(path)
    return HelmFolder(
        runs=tuple(runs[name] for name in sorted(runs)),
        releases=tuple(releases),
        left_out=tuple(left_out),
        directions=directions,
        mains=mains,
    )


def _refuse_outside(folder: Path, names: Iterable[str], root: Path) -> None:
    """Refuse files that a link or a name leads out of the folder that is imported.

    A folder of somebody else's could name any file of this machine as its results.
    """
    for path in (folder, *(folder / name for name in names)):
        if not path.resolve().is_relative_to(root):
            raise BrokenFileError(f"{path.name} leads out of the folder")


def _name(left_out: NotImported) -> str:
    return left_out.name.partition("/")[2]


def _shown(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def _folders(parent: Path) -> list[Path]:
    if not parent.is_dir():
        return []
    return sorted(path for path in parent.iterdir() if path.is_dir() and path.name not in NO_RUNS)


def _run_folders(root: Path) -> Iterator[Path]:
    """The folders of runs below an output folder, a suite, or of the folder if it is a run."""
    if (root / RUN_SPEC).is_file():
        yield root
        return
    suites = _folders(root / RUNS) if (root / RUNS).is_dir() else [root]
    for suite in suites:
        for folder in _folders(suite):
            # A suite's folder may contain a release's files beside its runs.
            if any((folder / file).is_file() for file in FILES):
                yield folder


def _release_folders(root: Path) -> Iterator[Path]:
    folders = _folders(root / RELEASES) if (root / RELEASES).is_dir() else [root]
    for folder in folders:
        is_release = any((folder / file).is_file() for file in (RELEASE_RUNS, RUNS_TO_SUITES))
        if is_release and folder.parent.name == RELEASES:
            yield folder


def _run_folder(folder: Path) -> RunFolder:
    if not (folder / RUN_SPEC).is_file():
        raise BrokenFileError(f"it has no {RUN_SPEC}")
    document = mapping(folder / RUN_SPEC)
    run_spec = _run_spec(document)
    if not any((folder / file).is_file() for file in (STATS, PER_INSTANCE, PREDICTIONS)):
        raise BrokenFileError(f"it has neither {STATS} nor {PER_INSTANCE}")
    about = mapping(folder / SCENARIO) if (folder / SCENARIO).is_file() else {}
    return RunFolder(
        name=run_spec.name,
        suite=folder.parent.name,
        path=folder,
        run_spec=run_spec,
        documents={RUN_SPEC: document, SCENARIO: about},
    )


def _run_spec(document: Mapping[str, Any]) -> TheirRunSpec:
    """A RunSpec as its file has it; keys that are not known are left unread."""
    known = {key: value for key, value in document.items() if key in _KEYS and value is not None}
    adapter = known.get("adapter_spec")
    models = [adapter.get(key) for key in MODEL_KEYS] if isinstance(adapter, dict) else []
    names = [name for name in (known.get("name"), *models) if isinstance(name, str)]
    if not all(map(is_name, names)):
        raise BrokenFileError(f"{RUN_SPEC} has a name that is not printable")
    try:
        return validate(known, TheirRunSpec, RUN_SPEC)
    except ConfigError:
        raise BrokenFileError(f"{RUN_SPEC} lacks what a RunSpec of HELM's has") from None


_KEYS = frozenset(TheirRunSpec.__dataclass_fields__)


def _release_folder(folder: Path) -> ReleaseFolder:
    if not is_name(folder.name):
        raise BrokenFileError("its name is not printable")
    path = folder / RUNS_TO_SUITES
    runs = mapping(path) if path.is_file() else {}
    if not runs:
        runs = {_run_spec(run.get("run_spec") or {}).name: "" for run in _listed_runs(folder)}
    return ReleaseFolder(name=folder.name, runs={str(name): str(runs[name]) for name in runs})


def _listed_runs(folder: Path) -> Iterator[Mapping[str, Any]]:
    if (folder / RELEASE_RUNS).is_file():
        yield from (run for run in items(folder / RELEASE_RUNS) if isinstance(run, dict))


def _runs_of_release(
    folder: Path, known: Iterable[str], root: Path, left_out: list[NotImported]
) -> Iterator[RunFolder]:
    """The runs of which there is only what the release's list has: RunSpec and stats.

    A run whose folder would be outside `root` is added to `left_out`.
    """
    known = set(known)
    for run in _listed_runs(folder):
        run_spec = _run_spec(run.get("run_spec") or {})
        stats = tuple(stat for stat in run.get("stats") or () if isinstance(stat, dict))
        if run_spec.name not in known and stats:
            path = folder / RUNS / run_spec.name
            try:
                # The name may be an absolute path or contain `..`.
                _refuse_outside(path, FILES, root)
            except BrokenFileError as error:
                name = f"{folder.name}/{run_spec.name}"
                left_out.append(NotImported(name=name, reason=str(error)))
                continue
            yield RunFolder(
                name=run_spec.name,
                suite=folder.name,
                path=path,
                run_spec=run_spec,
                documents={RUN_SPEC: run["run_spec"]},
                stats=stats,
            )


def _schemas(root: Path) -> tuple[dict[str, bool | None], dict[str, tuple[str, str]]]:
    """What the folder's schemas say: directions by metric; main metric and split by run group.

    Of several the last counts; one that cannot be read is left out.
    """
    directions: dict[str, bool | None] = {}
    mains: dict[str, tuple[str, str]] = {}
    folders = [root, *_folders(root / RUNS), *_folders(root / RELEASES)]
    for path in (folder / SCHEMA for folder in folders):
        try:
            _refuse_outside(path, (), root.resolve())
            schema = mapping(path) if path.is_file() else {}
        except BrokenFileError:
            continue
        for metric in _objects(schema.get("metrics")):
            directions[str(metric.get("name"))] = _truth(metric.get("lower_is_better"))
        for group in _objects(schema.get("run_groups")):
            environment = group.get("environment") or {}
            if (
                isinstance(environment, dict)
                and "main_name" in environment
                and "main_split" in environment
            ):
                mains[str(group.get("name"))] = (
                    str(environment["main_name"]),
                    str(environment["main_split"]),
                )
    return directions, mains


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
