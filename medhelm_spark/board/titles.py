"""Distinct titles for benchmarks, by which a page lists and links to them."""

from collections.abc import Iterable
from itertools import chain, count


def distinct_titles(benchmarks: Iterable[tuple[str, str]]) -> list[str]:
    """A title for each (title, scenario name); the first of equal titles stays unchanged.

    >>> distinct_titles([("MedQA", "med_qa"), ("MedQA", "ours"), ("MedQA", "ours")])
    ['MedQA', 'MedQA (ours)', 'MedQA (ours, 2)']
    """
    titles: dict[str, None] = {}
    for title, scenario_name in benchmarks:
        numbered = (f"{title} ({scenario_name}, {number})" for number in count(2))
        names = chain((title, f"{title} ({scenario_name})"), numbered)
        titles[next(name for name in names if name not in titles)] = None
    return list(titles)
