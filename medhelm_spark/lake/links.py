"""Symbolic links below a lake's folder: what deletes or rewrites files follows none.

Delta's own clean-up lists a table's folder through links, and deletes at their far end what the
table's log does not name: another lake's files.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from medhelm_spark.errors import LakeError


def refuse_links(root: Path) -> None:
    """Refuse a lake with a link below its folder; the folder itself may be reached by one.

    Raises:
        LakeError: Names the first link.
    """
    if link := next(_links(root), None):
        raise link_error(link)


def link_error(link: Path) -> LakeError:
    """The error of a link where something would be deleted."""
    return LakeError(
        f"{link} is a symbolic link, and no maintenance follows one; nothing was changed: remove "
        "the link, or put what it leads to in its place."
    )


def is_reached_by_link(root: Path, path: str) -> bool:
    """Whether a folder between a lake's own and `path` below it is a link; the last may be one."""
    steps = (root / part for part in Path(path).parents)
    return any(step.is_symlink() for step in steps if step != root)


def _links(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        for name in sorted((*folders, *files)):
            path = Path(folder, name)
            if path.is_symlink():
                yield path
