"""The answer that a table gives: in a column for it, by its only mark, by verdicts on options."""

import re

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.lines import of_cell
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply

_LONGEST_VERDICT = 60
"""Characters of a table's cell that is a verdict."""
_FEWEST_MARKS = 2
"""Options of a table's head that make it a head of options."""
_FEWEST_OTHERS = 2
"""Of two rows either may be the exception."""
_OF_ANSWER = re.compile(
    r"\W*(?:(?:the|my|final|predicted|correct|right|best|chosen|selected|model'?s?) ){0,3}(?:answer"
    r"|label|choice|prediction|class|category|selection|pick|selected|chosen|correct\??|antwort"
    r"|respuesta|r[eé]ponse|risposta|antwoord|odpowied[zź]|svar|resposta|उत्तर)\W*"
)
_OF_WEIGHT = re.compile(
    r"\W*(?:\w+ )?(?:likelihood|probability|prob\.?|match|confidence|fit"
    r"|plausibility|wahrscheinlichkeit|probabilit[eéà]|probabilidade?|kans|sannolikhet"
    r"|prawdopodobie[nń]stwo)\b[^|]{0,20}"
)
_OF_VERDICT = re.compile(
    r"\W*(?:verdict|decision|status|assessment|evaluation|judge?ment|correct\?|bewertung|urteil"
    r"|verdicto|veredicto|valutazione|oordeel|ocena|bed[oö]mning|avalia[cç][aã]o|निर्णय)\W*"
)
_NUMBER = re.compile(r"\W*(?:about |approx\.? )?(\d{1,3}(?:\.\d{1,3})?) ?(?:%|/ ?\d{1,3})?\W*")
_BLANK = re.compile(r"[\s–—-]*")
_POINTER = re.compile(r"\W*(?:[✓✔✅☑←⬅⇐👈⭐★●•]|<-{1,2}|yes\b)[^|]{0,30}")
_CROSS = re.compile(r"\W*[x✗✘×*+]\W*|[*+]+")


def only_row(reply: Reply) -> NamedOption | None:
    """The only option that a table calls right, where it calls all others wrong.

    Where the question asks for the exception, also the only one that it calls wrong.
    """
    if "|" not in reply.low:
        return None
    if named := _only_column(reply) or _stated(reply):
        return named
    right: list[NamedOption] = []
    wrong: list[NamedOption] = []
    for row in patterns.TABLE_ROW.finditer(reply.low):
        verdict = _verdict(reply, row.start(), row[0].strip("|").split("|"), row[0])
        if verdict is None:
            continue
        named, is_right = verdict
        (right if is_right else wrong).append(named)
    if reply.asks.for_worst:
        return _only(right, wrong, _FEWEST_OTHERS) or _only(wrong, right, _FEWEST_OTHERS)
    return _only(right, wrong, 1)


def _only_column(reply: Reply) -> NamedOption | None:
    """The only option of a table's head whose column all rows call right."""
    names, *verdicts = _rows(reply) or [[]]
    head = [of_cell(cell, reply.options) for cell in names]
    if len({result for result in head if result}) < _FEWEST_MARKS:
        return None
    right = [
        result
        for at, result in enumerate(head, start=-len(head))
        if result
        and verdicts
        and all(len(row) >= -at and patterns.CELL_RIGHT.fullmatch(row[at]) for row in verdicts)
    ]
    return NamedOption(right[0], 0, len(reply.low)) if len(right) == 1 else None


def _only(some: list[NamedOption], others: list[NamedOption], fewest: int) -> NamedOption | None:
    """The single option of some, where there are so many others and it is none of them."""
    if len(some) != 1 or len(others) < fewest:
        return None
    return None if some[0].result in {other.result for other in others} else some[0]


def _verdict(reply: Reply, at: int, cells: list[str], row: str) -> tuple[NamedOption, bool] | None:
    """The option of a table's row, and whether the row calls it right; None without a verdict."""
    options = reply.options
    for number, cell in enumerate(cells):
        result = of_cell(cell, options)
        if result is None:
            continue
        rest = [other for other in cells[number + 1 :] if len(other) < _LONGEST_VERDICT]
        if rest and of_cell(rest[0], options) == result:
            rest = rest[1:]  # its text, in a column of its own
        is_right = any(patterns.CELL_RIGHT.fullmatch(other) for other in rest)
        is_wrong = any(patterns.CELL_WRONG.fullmatch(other) for other in rest)
        if is_right and is_wrong:  # several columns: the last one is the verdict
            is_right = patterns.CELL_RIGHT.fullmatch(rest[-1]) is not None
            is_wrong = patterns.CELL_WRONG.fullmatch(rest[-1]) is not None
        if is_right == is_wrong:
            return None
        return NamedOption(result, at, at + len(row)), is_right
    return None


def _rows(reply: Reply) -> list[list[str]]:
    """The cells of a table by row, its head first; without the line below the head."""
    rows = [
        [cell.strip() for cell in row[0].strip().removeprefix("|").removesuffix("|").split("|")]
        for row in patterns.TABLE_ROW.finditer(reply.low)
    ]
    return [row for row in rows if any(sign not in " -:|" for cell in row for sign in cell)]


def _stated(reply: Reply) -> NamedOption | None:
    """The option in the only row below "Answer", the only one marked, or the most likely one."""
    head, *rows = _rows(reply) or [[]]
    for row in (head, *rows):
        is_pair = len(row) == len(("name", "value")) and _OF_ANSWER.fullmatch(row[0])
        if is_pair and (result := of_cell(row[1], reply.options)):
            return NamedOption(result, 0, len(reply.low))
    rows = [row for row in rows if len(row) == len(head)]
    if not rows or not reply.options.texts or _is_option(reply, head):
        return None
    results = (_stated_in(reply, at, title, rows) for at, title in enumerate(head))
    found = {result for result in results if result}
    end = len(reply.low)
    return NamedOption(found.pop(), 0, end) if len(found) == 1 else None


def _stated_in(reply: Reply, at: int, title: str, rows: list[list[str]]) -> str | None:
    """The option that a column states."""
    is_of_answer = _OF_ANSWER.fullmatch(title) is not None
    cells = [row[at] for row in rows]
    if is_of_answer and len(rows) == 1:
        return of_cell(cells[0], reply.options)
    results = [_of_row(reply, row) for row in rows]
    if None in results or len(set(results)) < len(rows) or len(rows) < _FEWEST_MARKS:
        return None
    if _OF_VERDICT.fullmatch(title) and not reply.asks.for_worst:
        right = [bool(patterns.CELL_RIGHT.fullmatch(cell)) for cell in cells]
        return results[right.index(True)] if right.count(True) == 1 else None
    filled = [number for number, cell in enumerate(cells) if not _BLANK.fullmatch(cell)]
    if len(filled) == 1:
        cell = cells[filled[0]]
        is_mark = _POINTER.fullmatch(cell) or (is_of_answer and _CROSS.fullmatch(cell))
        return results[filled[0]] if is_mark else None
    numbers = [_NUMBER.fullmatch(cell) for cell in cells] if _OF_WEIGHT.fullmatch(title) else []
    if reply.asks.for_worst or not numbers or None in numbers:
        return None
    weights = [float(number[1]) for number in numbers if number]
    highest = max(weights)
    return results[weights.index(highest)] if weights.count(highest) == 1 else None


def _is_option(reply: Reply, row: list[str]) -> bool:
    return any(of_cell(cell, reply.options) for cell in row)


def _of_row(reply: Reply, row: list[str]) -> str | None:
    """The option that a row is about: the first that a cell of it names."""
    return next((result for cell in row if (result := of_cell(cell, reply.options))), None)
