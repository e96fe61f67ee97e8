"""EHRSQL's query texts: the query in an answer, and the notation that its authors leave in queries.

The rules and numbers are those of the authors' scoring programs (EHRSQL 2022 and EHRSQL-2024).
"""

import re

NO_QUERY = frozenset({"", "null"})
"""Answers that mean: this question cannot be answered from the database."""

_TAGGED = re.compile(r"<\s*sql\s*>(.*?)</?\s*sql\s*>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```(?:[a-z0-9]*[ \t]*\n|sql(?:ite)?\b)?(.*?)```", re.DOTALL | re.IGNORECASE)
_NORMAL_RANGES = {
    "temperature": (35.5, 38.1),
    "sao2": (95.0, 100.0),
    "heart_rate": (60.0, 100.0),
    "respiration": (12.0, 18.0),
    "systolic_bp": (90.0, 120.0),
    "diastolic_bp": (60.0, 90.0),
    "mean_bp": (60.0, 110.0),
}
_NOTATION = re.compile(
    r"(?P<format>strftime\s*\(\s*'[^']*')"
    r"|(?P<literal>'[^']*')"
    r"|(?P<now>(?<![\w.])current_time\b)"
    rf"|\b(?P<vital>{'|'.join(_NORMAL_RANGES)})_(?P<end>lower|upper)\b",
    re.IGNORECASE,
)


def query_in(answer: str) -> str:
    r"""The query of an answer: between <sql> tags, else in the first fenced block, else all of it.

    The semicolon at its end is dropped, so that `;` and `NULL;` are no query either.

    >>> query_in("Here it is: ```sql\nSELECT 1;\n```")
    'SELECT 1'
    """
    match = _TAGGED.search(answer) or _FENCED.search(answer)
    query = (match[1] if match else answer).strip().rstrip("; \t\r\n")
    return "" if query.lower() in NO_QUERY else query


def resolved(query: str, now: str) -> str:
    """A query in SQLite's SQL: the benchmark's notation replaced, string literals unchanged.

    >>> resolved("SELECT strftime('%y', current_time) > sao2_lower", "2105-12-31 23:59:00")
    "SELECT strftime('%Y', '2105-12-31 23:59:00') > 95.0"
    """

    def replacement(match: re.Match[str]) -> str:
        if match["now"]:
            return f"'{now}'"
        if match["vital"]:
            low, high = _NORMAL_RANGES[match["vital"].lower()]
            return str(low if match["end"].lower() == "lower" else high)
        if match["format"]:
            return match["format"].replace("%y", "%Y").replace("%j", "%J")
        return match["literal"]

    return _NOTATION.sub(replacement, query)


def medhelm_gold(gold: str) -> str:
    """The gold query as MedHELM 0.8.0 runs it: `current_time` replaced wherever it occurs."""
    return re.sub("current_time", "'2105-12-31 23:59:00'", gold, flags=re.IGNORECASE)


def medhelm_query(answer: str) -> str:
    """The query that MedHELM 0.8.0 runs for an answer.

    SQLite would give the time of day for `current_time`; noon is used, so that scores do not depend
    on when they are computed.
    """
    match = _TAGGED.search(answer)
    query = (match[1].strip() if match else answer).replace("`", "").strip()
    query = re.sub(r"^sql\n", "", query, flags=re.MULTILINE)
    return re.sub(r"(?<![\w.'])current_time(?![\w'])", "'12:00:00'", query, flags=re.IGNORECASE)
