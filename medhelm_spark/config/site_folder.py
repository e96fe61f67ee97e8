"""A site's folder: that it is there, and what lies in it that no name reads."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from medhelm_spark.errors import ConfigError

DEFAULT_SITE = "prod_env"
"""HELM's name, which its users type without having one: absent, it is an empty folder."""

FILES = (
    "settings.yaml",
    "policy.yaml",
    "judges.yaml",
    "model_deployments.yaml",
    "model_metadata.yaml",
    "tokenizer_configs.yaml",
    "credentials.conf",
)
FOLDERS = {
    "scenarios": "*.yaml",
    "rubrics": "*.md",
    "suites": "*.yaml",
    "perturbations": "*.yaml",
}
ENDINGS = (".yaml", ".yml", ".json", ".conf")
"""Those of configuration; a README is nobody's policy."""


def site_folder(path: str | Path) -> Path:
    """The folder that is named: without it, a stricter policy of the site's would be lost.

    DEFAULT_SITE alone may be absent.

    Raises:
        ConfigError: there is no such folder.
    """
    folder = Path(path)
    if not folder.is_dir() and folder != Path(DEFAULT_SITE):
        raise ConfigError(
            f"site folder (--local-path) is {str(path)!r}, and there is no such folder, seen from "
            f"{Path.cwd()}; its policy would not apply. Allowed: a folder, or "
            f"{DEFAULT_SITE!r}, which is read where there is one."
        )
    return folder


def unread(site: Path) -> list[str]:
    """What of the site's folder no name reads, each with the name that it may be meant for.

    A jury or a sampling rule that something names by its path is among them.
    """
    return list(_unread(site)) if site.is_dir() else []


def _unread(site: Path) -> Iterator[str]:
    for path in sorted(site.iterdir()):
        if path.is_dir():
            if path.name in FOLDERS:
                yield from _unread_in(path)
            elif near := get_close_matches(path.name.lower(), FOLDERS, 1, 0.8):
                yield f"{path.name}/ (is {near[0]}/ meant?)"
        elif path.suffix.lower() in ENDINGS and path.name not in FILES:
            near = get_close_matches(path.name.lower(), FILES, 1)
            yield f"{path.name} (is {near[0]} meant?)" if near else path.name


def _unread_in(folder: Path) -> Iterator[str]:
    pattern = FOLDERS[folder.name]
    for path in sorted(folder.iterdir()):
        is_file = path.is_file() and not path.name.startswith((".", "README"))
        if is_file and not path.match(pattern):
            yield f"{folder.name}/{path.name} (read are {pattern})"
