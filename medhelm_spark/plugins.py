"""Plug-ins: what a site's own modules add to the package's registries, on driver and executors.

A plug-in is an importable module that holds literal mappings under the registries' own names, such
as `METRICS = {"tone": TONE}`. It is named by `--plugins`, or by an entry point of the group
`medhelm_spark` of an installed distribution. `lake.rows.map_rows` carries the loaded plug-ins to
every executor, which refuses one that is not the driver's to the byte.
"""

import dataclasses
import sys
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib import import_module, metadata, resources
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

from medhelm_spark.domain.ids import content_id
from medhelm_spark.errors import ConfigError, SetupError

GROUP = "medhelm_spark"
KINDS = ("ANNOTATORS", "ENGINES", "METRICS", "PARSERS", "PERTURBATIONS", "RUN_METRICS")
"""The registries that a plug-in may add to."""

SHOWN = 8

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A loaded module. `version` is the hash of every file of its top-level package or module.

    `distribution` is the name and version of what was installed, empty for a module found on the
    path alone.
    """

    module: str
    version: str
    distribution: str

    def __str__(self) -> str:
        known = f"{self.distribution}, " if self.distribution else ""
        return f"{self.module} ({known}{self.version[:SHOWN]})"


_ACTIVE: dict[str, Plugin] = {}


class Registry(Mapping[str, T]):
    """The package's own things of one kind by name, and after them those of loaded plug-ins.

    A plug-in's thing carries the plug-in's hash in its `version`, so that what it shaped is made
    anew when the plug-in changes. Engines have no version: nobody is asked again.
    """

    def __init__(self, kind: str, of: type[T], own: Mapping[str, T]) -> None:
        """`kind`, one of KINDS, is the name under which a module holds its things of type `of`."""
        self._kind, self._of, self._own = kind, of, own
        self._added: dict[str, T] = {}
        self._known: tuple[Plugin, ...] = ()

    def __getitem__(self, name: str) -> T:
        plugged = self._plugged()  # first, so that a name that is taken is always refused
        return self._own[name] if name in self._own else plugged[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._plugged()

    def __len__(self) -> int:
        return len(self._own) + len(self._plugged())

    def _plugged(self) -> Mapping[str, T]:
        if self._known != active():
            added: dict[str, T] = {}
            for plugin in active():
                for name, thing in self._things(plugin).items():
                    if name in self._own or name in added:
                        raise ConfigError(
                            f"plug-in {plugin}: {self._kind} has {name!r}, which is taken; "
                            "give it a name of its own."
                        )
                    added[name] = self._stamped(name, thing, plugin)
            self._added, self._known = added, active()
        return self._added

    def _things(self, plugin: Plugin) -> Mapping[str, Any]:
        things = getattr(sys.modules[plugin.module], self._kind, {})
        if not isinstance(things, Mapping):
            raise ConfigError(f"plug-in {plugin}: {self._kind} is no mapping of names.")
        return things

    def _stamped(self, name: str, thing: Any, plugin: Plugin) -> T:
        if not isinstance(thing, self._of):
            raise ConfigError(
                f"plug-in {plugin}: {self._kind}[{name!r}] is a {type(thing).__name__}; "
                f"allowed: {self._of.__name__}."
            )
        version = getattr(thing, "version", None)
        if version is None:
            return thing
        stamped: T = dataclasses.replace(  # type: ignore[type-var]
            thing, version=f"{version}+{plugin.version}"
        )
        return stamped


def activate(modules: Iterable[str] = ()) -> tuple[Plugin, ...]:
    """Load these modules and those that installed distributions announce, and no others.

    Raises:
        SetupError: a module cannot be imported.
        ConfigError: a module adds nothing.
    """
    announced = (entry.module for entry in metadata.entry_points(group=GROUP))
    loaded = [_load(name) for name in dict.fromkeys([*announced, *modules])]
    _ACTIVE.clear()
    _ACTIVE.update({plugin.module: plugin for plugin in loaded})
    return active()


def active() -> tuple[Plugin, ...]:
    """The loaded plug-ins."""
    return tuple(_ACTIVE.values())


def added(kind: str) -> tuple[str, ...]:
    """The names that loaded plug-ins add to a registry, for layers that do not know what it is."""
    modules = (sys.modules[plugin.module] for plugin in active())
    return tuple(name for module in modules for name in getattr(module, kind, ()))


def ensure(plugins: Iterable[Plugin]) -> None:
    """Load, in an executor's process, what the driver has loaded.

    Raises:
        SetupError: a plug-in is absent here, or not the driver's.
    """
    for plugin in plugins:
        if _ACTIVE.get(plugin.module) != plugin:
            loaded = _load(plugin.module)
            if loaded.version != plugin.version:
                raise SetupError(
                    f"plug-in {plugin} of the driver is {loaded} on an executor; install the same "
                    "on every machine, and restart the executors."
                )
            _ACTIVE[plugin.module] = plugin


def _load(name: str) -> Plugin:
    try:
        module = import_module(name)
    except Exception as error:  # whatever its code does on import
        raise SetupError(
            f"plug-in {name!r} cannot be imported ({type(error).__name__}); install it, on "
            "every executor too, or put its folder on PYTHONPATH."
        ) from error
    if not any(hasattr(module, kind) for kind in KINDS):
        raise ConfigError(f"plug-in {name!r} adds nothing; it may hold {', '.join(KINDS)}.")
    top = name.partition(".")[0]
    return Plugin(module=name, version=_hash(top), distribution=_distribution(top))


def _distribution(top: str) -> str:
    names = metadata.packages_distributions().get(top, ())
    return " ".join((names[0], metadata.version(names[0]))) if names else ""


def _hash(top: str) -> str:
    module = import_module(top)
    if not hasattr(module, "__path__"):
        source = module.__spec__.loader.get_data(module.__spec__.origin)  # type: ignore[union-attr]
        return content_id([(top, sha256(source).hexdigest())])
    return content_id(sorted(_files(resources.files(top), "")))


def _files(folder: Traversable, place: str) -> Iterator[tuple[str, str]]:
    """Each file's place and hash; what Python compiled from them is left out."""
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry, f"{place}{entry.name}/")
        elif not entry.name.endswith(".pyc"):
            yield f"{place}{entry.name}", sha256(entry.read_bytes()).hexdigest()
