"""Pages of the repository as pages of the site, with links between them and the API."""

import os
import posixpath
import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File

log = get_plugin_logger("site")

ROOT = Path(__file__).resolve().parent.parent
# Files outside docs that are pages of the site too.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "reporting.md",
    "notebooks/README.md": "notebooks.md",
}
STYLE = "site.css"
ERRORS = "medhelm_spark.errors."
SIGNATURES = "<!-- site: signatures -->"
FENCE = re.compile(r"^ *```.*?^ *```[^\n]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(
    r"(?<!!)\[((?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*)\]\(([^)\s]+)\)"
    r"|!\[([^\]]*)\]\(([^)\s]+)\)"
)
LIST_AFTER_TEXT = re.compile(
    r"^((?![-*] |\d+\. |[|#>]| )\S.*\n)(?=(?:[-*]|\d+\.) \S)", re.MULTILINE
)
NESTED = re.compile(r"^( {2,3})(?=[-*] |\d+\. )", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that lie outside docs, and the style."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, STYLE, abs_src_path=str(Path(__file__).with_name(STYLE))))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links as the site needs them; lists as Python-Markdown reads them."""
    site_path = page.file.src_uri
    source = next((s for s, p in PAGES.items() if p == site_path), f"docs/{site_path}")

    def prose(text: str) -> str:
        text = NESTED.sub("    ", LIST_AFTER_TEXT.sub(r"\1\n", text))
        return LINK.sub(lambda match: _link(match, source, site_path, config), text)

    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [prose(markdown[end : fence.start()]), fence.group()]
        end = fence.end()
    text = "".join([*parts, prose(markdown[end:])])
    return text.replace(SIGNATURES, _signatures()) if SIGNATURES in text else text


def _link(match: re.Match[str], source: str, site_path: str, config: Any) -> str:
    is_image = match[4] is not None
    label, target = (match[3], match[4]) if is_image else (match[1], match[2])
    if re.match(r"[a-z]+:|#", target):
        return match.group()
    path, _, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if not (ROOT / path).exists():
        log.warning("%s links to %s, which does not exist", source, path)
        return match.group()
    place = _place(path)
    if place is None:
        repository = config.extra["repository"].rstrip("/")
        return f"[{label}]({repository}/{path})" if repository else label
    start = posixpath.dirname(site_path)
    relative = os.path.relpath(place, start or ".").replace(os.sep, "/")
    return f"{'!' if is_image else ''}[{label}]({relative}{'#' + anchor if anchor else ''})"


def _place(path: str) -> str | None:
    """The file of the site that a file of the repository is, if it is one."""
    if path in PAGES:
        return PAGES[path]
    inside = path.startswith("docs/") and (ROOT / path).is_file() and not path.endswith(".py")
    return path.removeprefix("docs/") if inside else None


def _signatures() -> str:
    """A directive of mkdocstrings for every public name: Evaluation first, errors last."""
    package = griffe.load("medhelm_spark", search_paths=[str(ROOT)])
    names = sorted(package.exports or (), key=lambda name: (name != "Evaluation", name.lower()))
    targets = {str(name): package[name].final_target for name in names}
    errors = [name for name, target in targets.items() if target.path.startswith(ERRORS)]
    return "\n\n".join(
        [
            "## Signatures",
            *(_directive(name, target) for name, target in targets.items() if name not in errors),
            "## Signatures of errors",
            *(_directive(name, targets[name]) for name in errors),
        ]
    )


def _directive(name: str, target: Any) -> str:
    """The members of an enumeration have no docstrings and are shown all the same."""
    lines = [f"::: medhelm_spark.{name}"]
    if any("Enum" in str(base) for base in getattr(target, "bases", ())):
        lines += ["    options:", "      show_if_no_docstring: true"]
    return "\n".join(lines)
