"""Pages of documentation as they are: their files, and the commands that they show."""

import re
import shlex
from pathlib import Path

from tests.meta.tree import ROOT

NAMED_FILE = re.compile(r"^`(\S+\.\w+)`\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    """The text of a page, by its path in the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def write_files(text: str, folder: Path) -> list[str]:
    """Write the files that a page shows under their names; returns the names in its order."""
    files = NAMED_FILE.findall(text)
    for name, content in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return [name for name, _ in files]


def commands(text: str, command: str = "run") -> list[list[str]]:
    """The arguments of every shown `medhelm-spark COMMAND ...`, without its suite's name."""
    lines = text.replace("\\\n", " ").splitlines()
    commands_found = [
        shlex.split(one)[2:] for one in lines if one.startswith(f"medhelm-spark {command} ")
    ]
    for words in commands_found:
        index = words.index("--suite")
        del words[index : index + 2]
    return commands_found


def asking(words: list[str], model: str) -> list[str]:
    """The same arguments for a model that is always there."""
    return [word.replace("huggingface/smollm2-135m-instruct", model) for word in words]
