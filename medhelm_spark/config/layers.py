"""Named things gathered from the shipped files and a site's folder, the later file winning."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from medhelm_spark.config.loader import refuse_misnamed
from medhelm_spark.config.resources import conf_path


class Named(Protocol):
    """Anything that a configuration file defines by name."""

    @property
    def name(self) -> str:
        """Its name, unique within its kind."""


N = TypeVar("N", bound=Named)
Load = Callable[[Path], Iterable[N]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The file that gave a named thing, and those it won over, the nearest first."""

    kind: str
    name: str
    file: str
    overridden: tuple[str, ...] = ()


class LayeredFiles:
    """Reads files in order and remembers which of them gave what."""

    def __init__(self, local_path: Path | None) -> None:
        """Starts empty; `local_path` is the site's folder, where there is one."""
        self._site = local_path
        self._given: dict[tuple[str, str], tuple[str, ...]] = {}

    def read(self, kind: str, paths: Iterable[Path], load: Load[N]) -> dict[str, N]:
        """The things of all files by name; one that is overridden moves to the end."""
        things: dict[str, N] = {}
        for path in paths:
            for thing in load(path):
                things.pop(thing.name, None)
                things[thing.name] = thing
                self.note(kind, thing.name, path)
        return things

    def note(self, kind: str, name: str, path: Path | str) -> None:
        """Remembers that this file gives the thing from now on."""
        self._given[kind, name] = (str(path), *self._given.get((kind, name), ()))

    def origins(self) -> tuple[Origin, ...]:
        """One row per thing, by kind and name."""
        return tuple(
            Origin(kind=kind, name=name, file=files[0], overridden=files[1:])
            for (kind, name), files in sorted(self._given.items())
        )

    def files(self, name: str) -> list[Path]:
        """The shipped file of that name and, where it exists, the site's."""
        site = self._site / name if self._site else None
        if site:
            refuse_misnamed(site)
        return [conf_path(name), *([site] if site and site.is_file() else [])]

    def folder(self, name: str, pattern: str) -> list[Path]:
        """The files of the shipped folder, then of the site's, each sorted by name."""
        folders = [conf_path(name), *([self._site / name] if self._site else [])]
        return [path for folder in folders for path in sorted(folder.glob(pattern))]
