"""XML: the elements of one name are records, their columns are paths below them."""

from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as ET

from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios.records import BadReason
from medhelm_spark.scenarios.tables import CheckColumns, RawFile
from medhelm_spark.scenarios.text_files import stem

BAD_PATH = (SyntaxError, TypeError, KeyError)
"""What ElementTree raises for paths it cannot read, by its version."""


def read_xml(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, str] | BadReason]:
    """A record for every element named `record_path`, or for the whole document without one.

    A column's path is ElementTree's, with `@name` at its end for an attribute; what it does not
    find is absent. The file's name without the ending is the column `file`. One record is held in
    memory at a time.

    Raises:
        DataError: the file is not well-formed XML.
        ConfigError: a path is none that ElementTree knows.
    """
    paths = {column: _split(path) for column, path in file.source.paths.items()}
    check((*paths, "file"))
    try:
        for element in _elements(file):
            found = {column: _text(element, *path) for column, path in paths.items()}
            yield {
                **{column: text for column, text in found.items() if text is not None},
                "file": stem(file.path),
            }
            element.clear()
    except ET.ParseError as error:
        line, column = error.position
        raise DataError(
            f"{file.path}: not well-formed XML at line {line}, column {column}."
        ) from None


def _elements(file: RawFile) -> Iterator[ET.Element]:
    name = file.source.record_path
    root: ET.Element | None = None
    for event, element in ET.iterparse(file.stream, events=("start", "end")):
        if event == "start":
            root = element if root is None else root
        elif element.tag == name or (name is None and element is root):
            yield element


def _split(path: str) -> tuple[str, str | None]:
    """The path of an element, and the attribute that its end names.

    >>> _split("TAGS/MI@met"), _split("Answer[@rank='1']/Text"), _split("@id")
    (('TAGS/MI', 'met'), ("Answer[@rank='1']/Text", None), ('.', 'id'))
    """
    head, mark, attribute = path.rpartition("@")
    if not mark or "]" in attribute:
        return path, None
    return head or ".", attribute


def _text(element: ET.Element, path: str, attribute: str | None) -> str | None:
    try:
        found = element.find(path)
    except BAD_PATH:
        raise ConfigError(f"{path!r} is no path of XML; see ElementTree's XPath support.") from None
    if found is None:
        return None
    return "".join(found.itertext()) if attribute is None else found.get(attribute)
