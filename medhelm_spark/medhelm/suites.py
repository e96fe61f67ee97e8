"""Suite files: which run entries, models, sizes and judges belong together, under a name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from medhelm_spark.config.cards import expand_short_forms
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.sampling import check_sampling
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_uri import is_uri, table_of
from medhelm_spark.domain.plan import PrimaryEndpoint
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.domain.sampling import Sampling
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.run_entries import load_confs, parse_flags

FOLDER = "suites"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSource:
    """A scenario's data in place of its card's, as a suite file names it."""

    paths: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    access_level: AccessLevel | None = None
    sheet: str | None = None
    separator: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFile:
    """What a suite file says.

    `models_to_run`, `max_eval_instances` and `num_train_trials` yield to the flags. The jury of
    `jury_config_path` judges every scenario that judges score, unless a run entry names another.
    `primary_endpoints` are the questions that were declared beforehand; a file that has one writes
    `primary_endpoint` and `margin`. `repeats` is how
    often each request is asked: the adapter's `num_trials`, unless a run entry has its own.
    `sources` are own data by scenario name: a path, a list of them, or a mapping with `paths`.
    """

    description: str
    conf_paths: tuple[str, ...] = ()
    run_entries: tuple[str, ...] = ()
    models_to_run: tuple[str, ...] = ()
    max_eval_instances: int | None = None
    num_train_trials: int | None = None
    repeats: int | None = None
    jury_config_path: str | None = None
    primary_endpoint: PrimaryEndpoint | None = None
    primary_endpoints: tuple[PrimaryEndpoint, ...] = ()
    margin: float | None = None
    sampling: Sampling | None = None
    sources: Mapping[str, SuiteSource] = field(default_factory=dict)

    @property
    def endpoints(self) -> tuple[PrimaryEndpoint, ...]:
        """All primary endpoints, with their margins."""
        if self.primary_endpoint is None:
            return self.primary_endpoints
        return (replace(self.primary_endpoint, margin=self.primary_endpoint.margin or self.margin),)


def load_suite(name: str, local_path: Path | None = None) -> tuple[SuiteFile, tuple[RunEntry, ...]]:
    """A suite file and its run entries; `name` is a path, or a file of a `suites` folder.

    The site's folder comes before the shipped one. Its paths are looked for beside it, in the
    folder above, in the working directory, and in the shipped folder (`juries/three.yaml`).

    Raises:
        ConfigError: If there is no such file, or it is broken or names nothing to run.
    """
    path = _find(name, local_path)
    suite = load_yaml(path, SuiteFile, _expanded)
    if suite.sampling:
        check_sampling(suite.sampling, str(path))
    _check_numbers(suite, path)
    entries = parse_flags(suite.run_entries, flag=f"{path}: run_entries")
    entries += load_confs(_beside(path, name, "conf_paths") for name in suite.conf_paths)
    if not entries:
        raise ConfigError(f"{path}: names no run entry; give run_entries or conf_paths.")
    if suite.jury_config_path:
        jury = _beside(path, suite.jury_config_path, "jury_config_path")
        suite = replace(suite, jury_config_path=str(jury))
    sources = {name: _resolved(path, name, each) for name, each in suite.sources.items()}
    return replace(suite, sources=sources), entries


def _expanded(data: Any) -> Any:
    """The document with short forms spelt out: a source may be its path, or several."""
    data = expand_short_forms(data)
    sources = data.get("sources") if isinstance(data, dict) else None
    if not isinstance(sources, dict):
        return data
    return {**data, "sources": {name: _spelt_out(each) for name, each in sources.items()}}


def _spelt_out(source: Any) -> Any:
    if isinstance(source, str):
        return {"paths": [source]}
    return {"paths": source} if isinstance(source, list) else source


def _resolved(owner: Path, name: str, source: SuiteSource) -> SuiteSource:
    """The source with its files where they are found, beside the suite file first."""
    if not source.paths:
        raise ConfigError(f"{owner}: sources.{name} has no path.")
    paths = (
        path if is_uri(path) or table_of(path) is not None else str(_beside(owner, path, "sources"))
        for path in source.paths
    )
    return replace(source, paths=tuple(paths))


def _check_numbers(suite: SuiteFile, path: Path) -> None:
    """Refuse a margin or a number of repeats that means nothing."""
    if suite.repeats is not None and suite.repeats < 1:
        raise ConfigError(
            f"{path}: repeats is {suite.repeats!r}; allowed: a whole number of at least 1."
        )
    if suite.primary_endpoint and suite.primary_endpoints:
        raise ConfigError(
            f"{path}: primary_endpoint and primary_endpoints are both given; give the list alone."
        )
    margins = {"margin": suite.margin}
    margins |= {f"margin of {each.scenario!r}": each.margin for each in suite.endpoints}
    for name, margin in margins.items():
        if margin is not None and margin <= 0:
            raise ConfigError(f"{path}: {name} is {margin!r}; allowed: a number above 0.")
    scenarios = [each.scenario for each in suite.endpoints]
    if twice := [name for name in dict.fromkeys(scenarios) if scenarios.count(name) > 1]:
        raise ConfigError(f"{path}: primary_endpoints names scenario {twice[0]!r} twice.")
    if suite.margin is not None and suite.primary_endpoint is None:
        raise ConfigError(f"{path}: margin is one of the primary endpoint; give primary_endpoint.")


def _find(name: str, local_path: Path | None) -> Path:
    if Path(name).expanduser().is_file():
        return Path(name).expanduser()
    folders = [conf_path(FOLDER)]
    if local_path is not None:
        folders.insert(0, local_path / FOLDER)
    for folder in folders:
        if (folder / f"{name}.yaml").is_file():
            return folder / f"{name}.yaml"
    known = sorted({path.stem for folder in folders for path in folder.glob("*.yaml")})
    raise ConfigError(
        f"--suite-file is {name!r}, and there is no such file; allowed: a path, or one of "
        f"{', '.join(known)}."
    )


def _beside(owner: Path, name: str, key: str) -> Path:
    for folder in (owner.parent, owner.parent.parent, Path(), conf_path()):
        if (folder / Path(name).expanduser()).exists():
            return folder / Path(name).expanduser()
    raise ConfigError(f"{owner}: {key} names {name!r}, and there is no such file.")
