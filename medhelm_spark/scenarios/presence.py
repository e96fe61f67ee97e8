"""Whether a scenario's data is at hand; looks at names only, opens and fetches nothing."""

import re
from enum import StrEnum
from pathlib import Path

from medhelm_spark.domain.scenario import ScenarioCard, SourceFile
from medhelm_spark.scenarios.fetch import beside, cached
from medhelm_spark.scenarios.patterns import STAR

ARGUMENT = re.compile(r"\{\w+(\.words)?\}")


class Presence(StrEnum):
    """What a run would find."""

    HERE = "here"
    PART = "part"
    DOWNLOAD = "download"
    HUB = "hub"
    TABLE = "table"
    ABSENT = "absent"


def presence(card: ScenarioCard, cache: Path) -> Presence:
    """Where the card's data is, seen from the working directory and the cache of downloads.

    PART is some of the files, DOWNLOAD a pinned address that has not been fetched, HUB a data set
    of the Hugging Face hub. A path that waits for an argument is found by any value of it.
    """
    source = card.source
    if source.table is not None:
        return Presence.TABLE
    if source.dataset is not None:
        folder = Path(ARGUMENT.sub(STAR, source.dataset)).expanduser()
        return Presence.HERE if folder.is_dir() else Presence.HUB
    files = [*source.files, *(SourceFile(path=path) for path in beside(source))]
    here = [_is_here(file, cache) for file in files]
    if all(here):
        return Presence.HERE
    if all(found or file.url for found, file in zip(here, files, strict=True)):
        return Presence.DOWNLOAD
    return Presence.PART if any(here) else Presence.ABSENT


def _is_here(file: SourceFile, cache: Path) -> bool:
    path = Path(ARGUMENT.sub(STAR, file.path)).expanduser()
    if "://" in file.path:
        return True
    if STAR not in str(path):
        return path.is_file() or cached(file, cache)
    first = next(place for place, part in enumerate(path.parts) if STAR in part)
    return any(Path(*path.parts[:first]).glob("/".join(path.parts[first:])))
