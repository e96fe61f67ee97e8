"""XML files, and Word documents, which are XML in a zip archive.

In XML each element of one name is a record, and a path below the element is a column. In a Word
document each question is followed by its answer, and a wrong answer has red text.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as ET

from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios.raw_files import CheckColumns, RawFile, seekable
from medhelm_spark.scenarios.records import BadReason
from medhelm_spark.scenarios.text_files import stem
from medhelm_spark.scenarios.unpacking import check_parts, size_of

BAD_PATH = (SyntaxError, TypeError, KeyError)
"""The errors that ElementTree raises, depending on its version, for a path it cannot read."""
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BODY = "word/document.xml"
RED = "FF0000"
QUESTION, RESPONSE, IS_RED = COLUMNS = ("Question", "Response", "True/False")


def read_xml(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, str] | BadReason]:
    """A record for each element named `record_path`; without one, the document is the record.

    A column's path is an ElementTree path; `@name` at its end reads an attribute. A record lacks
    the columns whose paths find nothing. The column `file` is the file's name without its ending.
    The reader keeps one record in memory at a time.

    Raises:
        DataError: the file is not well-formed XML, or in an encoding that the parser lacks.
        ConfigError: ElementTree cannot read a path.
    """
    paths = {column: _split_path(path) for column, path in file.source.paths.items()}
    check((*paths, "file"))
    try:
        for element in _elements(file):
            texts = {column: _text_at(element, *path) for column, path in paths.items()}
            yield {
                **{column: text for column, text in texts.items() if text is not None},
                "file": stem(file.member or file.path),
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
    try:
        for event, element in ET.iterparse(file.stream, events=("start", "end")):
            if event == "start":
                root = element if root is None else root
            elif element.tag == name or (name is None and element is root):
                yield element
    except (ValueError, LookupError):  # of the parser alone, which knows no such encoding
        raise DataError(
            f"{file.path}: XML in an encoding that cannot be read here; save it as UTF-8."
        ) from None


def _split_path(path: str) -> tuple[str, str | None]:
    """The path of an element, and the attribute that its end names.

    >>> _split_path("TAGS/MI@met"), _split_path("Answer[@rank='1']/Text"), _split_path("@id")
    (('TAGS/MI', 'met'), ("Answer[@rank='1']/Text", None), ('.', 'id'))
    """
    head, mark, attribute = path.rpartition("@")
    if not mark or "]" in attribute:
        return path, None
    return head or ".", attribute


def _text_at(element: ET.Element, path: str, attribute: str | None) -> str | None:
    try:
        match = element.find(path)
    except BAD_PATH:
        raise ConfigError(f"{path!r} is no path of XML; see ElementTree's XPath support.") from None
    if match is None:
        return None
    return "".join(match.itertext()) if attribute is None else match.get(attribute)


def read_docx(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, str] | BadReason]:
    """A record for each question: a paragraph that begins with `record_path` and has a colon.

    A beginning matches with any kind of white space, such as Word's no-break spaces. `Question` is
    the text after the first colon before white space (else after the first colon). `Response` is
    the paragraphs up to the next question, one a line. `True/False` is True where the response has
    pure red text. The reader skips paragraphs before the first question.

    Raises:
        DataError: the file is no Word document or is cut off.
        ConfigError: the card has no `record_path`.
    """
    start = file.source.record_path
    if not start:
        raise ConfigError(
            f"{file.path}: record_path must be the beginning of a question's paragraph."
        )
    check(COLUMNS)
    question: str | None = None
    lines: list[str] = []
    is_red = False
    for paragraph in _paragraphs(file):
        text = _text_of(paragraph)
        if _plain(text).startswith(start) and ":" in text:
            if question is not None:
                yield _record(question, lines, is_red)
            question, lines, is_red = _after_colon(text), [], False
        elif question is not None:
            lines.append(text)
            is_red = is_red or _has_red(paragraph)
    if question is not None:
        yield _record(question, lines, is_red)


def _plain(text: str) -> str:
    """The text with one plain space for each run of white space, and none at its beginning."""
    return re.sub(r"\s+", " ", text).lstrip()


def _after_colon(text: str) -> str:
    first = re.search(r":\s", text) or re.search(":", text)
    return text[first.end() :] if first else ""


def _record(question: str, lines: list[str], is_red: bool) -> dict[str, str]:
    response = "\n".join(lines).strip()
    return {QUESTION: question.strip(), RESPONSE: response, IS_RED: str(is_red)}


def _paragraphs(file: RawFile) -> Iterator[ET.Element]:
    try:
        stream = seekable(file.stream)
        with zipfile.ZipFile(stream) as document:
            check_parts(file.path, document, size_of(stream))
            root = ET.fromstring(document.read(BODY))
    except (zipfile.BadZipFile, LookupError, ValueError, ET.ParseError) as error:
        kind = type(error).__name__
        raise DataError(f"{file.path}: not a readable Word document ({kind}).") from None
    yield from root.iter(f"{W}p")


def _text_of(element: ET.Element) -> str:
    breaks = {f"{W}tab": "\t", f"{W}br": "\n"}
    parts = (
        each.text or "" if each.tag == f"{W}t" else breaks.get(each.tag, "")
        for each in element.iter()
    )
    return "".join(parts)


def _has_red(paragraph: ET.Element) -> bool:
    return any(
        color.get(f"{W}val", "").upper() == RED and _text_of(run).strip()
        for run in paragraph.iter(f"{W}r")
        for color in run.findall(f"{W}rPr/{W}color")
    )
