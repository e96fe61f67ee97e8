"""A gate as JUnit XML, which CI systems read: a test case for each line."""

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as xml

from medhelm_spark.candidate_gate.verdict import GateLine, GateVerdict

_TAGS = {GateVerdict.NO_GO: "failure", GateVerdict.INCONCLUSIVE: "error"}


def junit_text(
    name: str, lines: Sequence[GateLine], deciding: Mapping[int, GateVerdict], texts: Sequence[str]
) -> str:
    """The lines as one test suite; it fails exactly where the verdict is not GO.

    A line that keeps the verdict from GO is a failure where it is NO-GO, and an error where it is
    INCONCLUSIVE. Any other line that is not GO is skipped.

    Args:
        name: of the suite.
        lines: the lines.
        deciding: the indices of the lines that keep the verdict from GO.
        texts: the message of each line.
    """
    tags = [_tag(line, index in deciding) for index, line in enumerate(lines)]
    counts = {
        "tests": len(lines),
        "failures": tags.count("failure"),
        "errors": tags.count("error"),
        "skipped": tags.count("skipped"),
    }
    root = xml.Element("testsuites", {key: str(value) for key, value in counts.items()})
    suite = xml.SubElement(
        root, "testsuite", {"name": name, **{key: str(value) for key, value in counts.items()}}
    )
    for line, tag, text in zip(lines, tags, texts, strict=True):
        name = f"{line.label}, limit {line.limit:g}"
        attributes = {"classname": f"candidate_gate.{line.tier}", "name": name}
        case = xml.SubElement(suite, "testcase", attributes)
        if tag:
            xml.SubElement(case, tag, {"message": text})
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _tag(line: GateLine, is_deciding: bool) -> str:
    if line.verdict is GateVerdict.GO:
        return ""
    return _TAGS[line.verdict] if is_deciding else "skipped"
