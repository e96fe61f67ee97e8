"""Files that travel with the work: an executor has neither the driver's folders nor its downloads.

Only small files: the driver reads their bytes and sends them to every executor once.
"""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.scenarios.sources import open_source

MAX_CARRIED_BYTES = 64 << 20
"""All files of one step together; Spark sends them as one broadcast."""


@dataclass(frozen=True, slots=True)
class BroadcastFiles:
    """Opens a file: from the bytes that were sent along, else at its path.

    The bytes may be clinical text: a message never shows them.
    """

    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def __call__(self, path: str) -> BinaryIO:
        """As `open_source`."""
        content = self.contents.get(path)
        return open_source(path) if content is None else io.BytesIO(content)


def carried(
    paths: Iterable[str], most: int = MAX_CARRIED_BYTES
) -> tuple[BroadcastFiles, tuple[str, ...]]:
    """The files of this machine that fit together into `most` bytes, smallest first, and the rest.

    What is in an object store is in neither: it is read where it is needed.

    Raises:
        DataError: one cannot be read.
    """
    local = {path: Path(path) for path in paths if not is_uri(path)}
    sizes = {path: file.stat().st_size for path, file in local.items() if file.is_file()}
    contents: dict[str, bytes] = {}
    left = most
    for path in sorted(sizes, key=lambda path: (sizes[path], path)):
        if sizes[path] > left:
            break
        with open_source(path) as stream:
            contents[path] = stream.read()
        left -= len(contents[path])
    return BroadcastFiles(contents), tuple(path for path in local if path not in contents)
