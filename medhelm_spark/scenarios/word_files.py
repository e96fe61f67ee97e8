"""Word documents in which questions with answers follow one another, wrong answers in red."""

import zipfile
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as ET

from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios.archives import seekable
from medhelm_spark.scenarios.records import BadReason
from medhelm_spark.scenarios.tables import CheckColumns, RawFile

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BODY = "word/document.xml"
RED = "FF0000"
QUESTION, RESPONSE, IS_RED = COLUMNS = ("Question", "Response", "True/False")


def read_docx(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, str] | BadReason]:
    """A record for every paragraph that begins with `record_path` and holds a colon.

    What follows its first ": " is the `Question`; the paragraphs up to the next such one are the
    `Response`, a line each; `True/False` is True where any of their text is pure red. Paragraphs
    before the first question are passed over.

    Raises:
        DataError: the file is no Word document or is cut off.
        ConfigError: the card does not say how a question begins.
    """
    start = file.source.record_path
    if not start:
        raise ConfigError(f"{file.path}: record_path must say how a question's paragraph begins.")
    check(COLUMNS)
    question: str | None = None
    lines: list[str] = []
    is_red = False
    for paragraph in _paragraphs(file):
        text = _text(paragraph)
        if text.startswith(start) and ":" in text:
            if question is not None:
                yield _record(question, lines, is_red)
            question, lines, is_red = text.partition(": ")[2], [], False
        elif question is not None:
            lines.append(text)
            is_red = is_red or _has_red(paragraph)
    if question is not None:
        yield _record(question, lines, is_red)


def _record(question: str, lines: list[str], is_red: bool) -> dict[str, str]:
    response = "\n".join(lines).strip()
    return {QUESTION: question.strip(), RESPONSE: response, IS_RED: str(is_red)}


def _paragraphs(file: RawFile) -> Iterator[ET.Element]:
    try:
        with zipfile.ZipFile(seekable(file.stream)) as document:
            root = ET.fromstring(document.read(BODY))
    except (zipfile.BadZipFile, KeyError, ET.ParseError) as error:
        kind = type(error).__name__
        raise DataError(f"{file.path}: not a readable Word document ({kind}).") from None
    yield from root.iter(f"{W}p")


def _text(of: ET.Element) -> str:
    breaks = {f"{W}tab": "\t", f"{W}br": "\n"}
    parts = (
        each.text or "" if each.tag == f"{W}t" else breaks.get(each.tag, "") for each in of.iter()
    )
    return "".join(parts)


def _has_red(paragraph: ET.Element) -> bool:
    return any(
        color.get(f"{W}val", "").upper() == RED and _text(run).strip()
        for run in paragraph.iter(f"{W}r")
        for color in run.findall(f"{W}rPr/{W}color")
    )
