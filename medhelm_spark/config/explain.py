"""Says which file gave each named thing, and which files it won over."""

from collections.abc import Iterator

from medhelm_spark.config.layers import Origin
from medhelm_spark.config.registry import Registry
from medhelm_spark.config.settings import Settings


def explain(registry: Registry, settings: Settings | None = None) -> tuple[Origin, ...]:
    """One row per scenario, deployment, model, jury, rubric, policy and settings file."""
    return (*registry.origins, *_settings_rows(settings))


def _settings_rows(settings: Settings | None) -> Iterator[Origin]:
    if settings:
        winner, *overridden = reversed(settings.origins)
        name = str(settings.platform)
        yield Origin(kind="settings", name=name, file=winner, overridden=tuple(overridden))
