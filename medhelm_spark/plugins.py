"""Plug-ins: what a site's own modules add to the package's registries, on driver and executors.

A plug-in is an importable module that has literal mappings under the registries' own names, such
as `METRICS = {"tone": TONE}`. It is named by `--plugins` or by the settings' `plugins`; what is
installed is not loaded for that alone. Its files are hashed before any of its code runs, and it
runs from them, not from what Python compiled before. `lake.rows.map_rows` carries the loaded
plug-ins to every executor, which refuses one that is not the driver's to the byte.

Code in the same process can do anything. What defends gated and private text is the policy's list
of hashes, and who reads the code before it is listed.
"""

import dataclasses
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from importlib import import_module, invalidate_caches, metadata
from importlib.machinery import (
    ExtensionFileLoader,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from medhelm_spark.domain.ids import canonical_json, content_id
from medhelm_spark.domain.names import RULE, is_name
from medhelm_spark.errors import ConfigError, SetupError

PACKAGE = "medhelm_spark"
KINDS = ("ANNOTATORS", "ENGINES", "METRICS", "PARSERS", "PERTURBATIONS", "RUN_METRICS")
"""The registries that a plug-in may add to."""

SHOWN = 8

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A loaded module. `version` is the hash of every file of its top-level package or module.

    `sha256` is the same for a policy to list. `distribution` is the name and version of what was
    installed, empty for a module found on the path alone.
    """

    module: str
    version: str
    distribution: str
    sha256: str

    def __str__(self) -> str:
        known = f"{self.distribution}, " if self.distribution else ""
        return f"{self.module} ({known}{self.version[:SHOWN]})"


_ACTIVE: dict[str, Plugin] = {}
_LOADED: dict[str, tuple[ModuleType, str]] = {}
"""By top-level name what was loaded, and the version of the files that it was loaded from."""


def _names(module: str, kind: str) -> bool:
    """Whether a module's text names a kind of things; one without has none, and is not imported."""
    spec = find_spec(module)
    loader = spec.loader if spec else None
    text = loader.get_source(module) if isinstance(loader, SourceFileLoader) else None
    return text is None or kind in text


class PluginRegistry(Mapping[str, T]):
    """The package's own things of one kind by name, and after them those of loaded plug-ins.

    An entry of a plug-in has the plug-in's hash in its `version`, so that its results are made
    anew when the plug-in changes. Engines have no version: no model is asked again.
    """

    def __init__(self, kind: str, entry_type: type[T], package: str) -> None:
        """`kind`, one of KINDS, is the name under which a module has its entries of this type.

        The modules of `package` declare the package's own; the first look-up imports them.
        """
        self._kind, self._entry_type, self._package = kind, entry_type, package
        self._added: dict[str, T] = {}
        self._known: tuple[Plugin, ...] = ()

    @cached_property
    def _own(self) -> Mapping[str, T]:
        own: dict[str, T] = {}
        for found in iter_modules(import_module(self._package).__path__, f"{self._package}."):
            if not _names(found.name, self._kind):
                continue
            things: Mapping[str, T] = getattr(import_module(found.name), self._kind, {})
            if isinstance(things, PluginRegistry):
                continue
            if taken := own.keys() & things.keys():
                raise ConfigError(f"{found.name}: {self._kind} has {min(taken)!r}, which is taken.")
            own.update(things)
        return dict(sorted(own.items()))

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
                    emitted = getattr(thing, "emits", ())
                    names = [part for each in emitted for part in (each.name, each.display_name)]
                    if not all(map(is_name, (name, *names))):
                        raise ConfigError(
                            f"plug-in {plugin}: {self._kind} has a name that is not allowed; "
                            f"allowed: {RULE}."
                        )
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
        if not isinstance(thing, self._entry_type):
            raise ConfigError(
                f"plug-in {plugin}: {self._kind}[{name!r}] is a {type(thing).__name__}; "
                f"allowed: {self._entry_type.__name__}."
            )
        version = getattr(thing, "version", None)
        if version is None:
            return thing
        stamped: T = dataclasses.replace(  # type: ignore[type-var]
            thing, version=f"{version}+{plugin.version}"
        )
        return stamped


def activate(modules: Iterable[str] = ()) -> tuple[Plugin, ...]:
    """Load these modules, and no others.

    Raises:
        SetupError: a module cannot be imported.
        ConfigError: a module adds nothing.
    """
    loaded = [_load(name) for name in dict.fromkeys(modules)]
    _ACTIVE.clear()
    _ACTIVE.update({plugin.module: plugin for plugin in loaded})
    return active()


def use(modules: Iterable[str]) -> None:
    """Have these modules loaded, as `activate` does where others are; of no module others stay."""
    requested = tuple(dict.fromkeys(modules))
    if requested and requested != tuple(_ACTIVE):
        activate(requested)


def active() -> tuple[Plugin, ...]:
    """The loaded plug-ins."""
    return tuple(_ACTIVE.values())


def added(kind: str) -> tuple[str, ...]:
    """The names that loaded plug-ins add to a registry, for layers below the registry."""
    modules = (sys.modules[plugin.module] for plugin in active())
    return tuple(name for module in modules for name in getattr(module, kind, ()))


def ensure(plugins: Iterable[Plugin]) -> None:
    """Load, in an executor's process, what the driver has loaded.

    Raises:
        SetupError: a plug-in is absent here, or not the driver's.
    """
    for plugin in plugins:
        if _ACTIVE.get(plugin.module) != plugin:
            _load(plugin.module, of_driver=plugin)
            _ACTIVE[plugin.module] = plugin


class _FromSource(SourceFileLoader):
    """Compiles a file each time: what lies compiled beside it may be of another text.

    It is the text that was hashed, however late it is imported.
    """

    def get_data(self, path: str) -> bytes:
        """The file's bytes."""
        data = super().get_data(path)
        _check_hashed(self.name, path, data)
        return data

    def path_stats(self, path: Any) -> Any:
        raise OSError("compiled files are not used")


class _Finder:
    """Finds the modules of plug-ins, to be loaded from the files that were hashed."""

    tops: ClassVar[dict[str, frozenset[str]]] = {}
    """By top-level name the hashes of its files."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec, where it is a plug-in's."""
        if name.partition(".")[0] not in cls.tops:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and type(spec.loader) is SourceFileLoader:
            spec.loader = _FromSource(spec.loader.name, spec.loader.path)
        elif spec and isinstance(spec.loader, ExtensionFileLoader | SourcelessFileLoader):
            _check_hashed(name, spec.loader.path, Path(spec.loader.path).read_bytes())
        return spec


def _check_hashed(name: str, path: str, data: bytes) -> None:
    """Refuse a module of a plug-in whose text is not among what was hashed.

    A package can look for its modules elsewhere, and a file can change before it is imported.
    """
    if sha256(data).hexdigest() not in _Finder.tops.get(name.partition(".")[0], ()):
        raise ImportError(f"{Path(path).name} is none of the files that were hashed", name=name)


def _load(name: str, of_driver: Plugin | None = None) -> Plugin:
    top = name.partition(".")[0]
    plugin = _hashed(name, top)
    if of_driver and plugin.version != of_driver.version:
        raise SetupError(
            f"plug-in {of_driver} of the driver is {plugin} on an executor; install the same "
            "on every machine, and restart the executors."
        )
    _Finder.tops[top] = frozenset(sha for _, sha in _listing(top) or ())
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    outdated = _take_out_outdated(top, plugin.version)
    try:
        module = import_module(name)
    except Exception as error:  # whatever its code does on import
        sys.modules.update(outdated)
        raise SetupError(
            f"plug-in {name!r} cannot be imported ({type(error).__name__}); install it, on "
            "every executor too, or put its folder on PYTHONPATH."
        ) from error
    _LOADED[top] = (sys.modules[top], plugin.version)
    if not any(hasattr(module, kind) for kind in KINDS):
        raise ConfigError(f"plug-in {name!r} adds nothing; it may have {', '.join(KINDS)}.")
    return plugin


def _take_out_outdated(top: str, version: str) -> dict[str, ModuleType]:
    """Make Python forget a plug-in that was loaded from other files; returns what it forgot.

    A plug-in that is edited while Python runs would else go on as it was, under its new hash.
    """
    module, loaded = _LOADED.get(top, (None, version))
    if loaded == version or sys.modules.get(top) is not module:
        return {}
    names = [name for name in sys.modules if name.partition(".")[0] == top]
    invalidate_caches()
    return {name: sys.modules.pop(name) for name in names}


def _distribution(top: str) -> str:
    names = metadata.packages_distributions().get(top, ())
    return " ".join((names[0], metadata.version(names[0]))) if names else ""


def _hashed(name: str, top: str) -> Plugin:
    """The plug-in by the files that would be loaded; runs none of its code."""
    try:
        listing = _listing(top)
    except Exception as error:  # a broken archive, a folder that cannot be read
        raise SetupError(
            f"plug-in {name!r} cannot be read ({type(error).__name__}); install it again."
        ) from None
    if listing is None:
        raise SetupError(
            f"plug-in {name!r} cannot be imported (ModuleNotFoundError); install it, on every "
            "executor too, or put its folder on PYTHONPATH."
        )
    return Plugin(
        module=name,
        version=content_id(listing),
        distribution=_distribution(top),
        sha256=sha256(canonical_json(listing).encode()).hexdigest(),
    )


def _listing(top: str) -> list[tuple[str, str]] | None:
    """Place and hash of every file of a package, or of the one file of a module."""
    spec = find_spec(top)
    if spec is None:
        return None
    loader: Any = spec.loader
    if spec.submodule_search_locations is None:
        # Of a module that was loaded before, the loader gives the text of then alone.
        is_file = isinstance(loader, SourceFileLoader)
        data = Path(str(spec.origin)).read_bytes() if is_file else loader.get_data(spec.origin)
        return [(top, sha256(data).hexdigest())]
    if hasattr(loader, "get_resource_reader") and spec.origin:
        return sorted(_files(loader.get_resource_reader(top).files(), ""))
    folders = [Path(folder) for folder in spec.submodule_search_locations]
    return sorted(entry for folder in folders for entry in _files(folder, ""))


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    """Each file's path and hash; what Python compiled from them is left out, and not loaded."""
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", sha256(entry.read_bytes()).hexdigest()
