"""The processes below one, as Linux lists them."""

from collections.abc import Iterator
from pathlib import Path


def command_line(pid: int) -> str:
    """How a process was started; empty once it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def below(pid: int) -> list[int]:
    """All processes that a process started, and those that they did."""
    parents = dict(_parents())
    found = [pid]
    for one in found:
        found.extend(child for child, parent in parents.items() if parent == one)
    return found[1:]


def _parents() -> Iterator[tuple[int, int]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                after_name = (folder / "stat").read_text().rpartition(")")[2]
            except OSError:
                continue
            yield int(folder.name), int(after_name.split()[1])
