"""Stats of whole runs over a group and over all others of its column."""

from dataclasses import replace

import pytest

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.stages.summarize.run_summarizer import Observed, RunSummarizer
from medhelm_spark.subgroups.part_summarizer import MARK, PartSummarizer

URGENT = {"labels": "urgent|routine", "positive": "urgent"}
YES = {"labels": "yes|no"}
NUMBERS = ("count", "num_unscored", "mean", "ci_low", "ci_high", "num_clusters", "denominator")
NUMBERS += ("num_effective_clusters",)


def of_site(site, letters, patients):
    """The rows of one group of the column `site`; letters of one patient follow each other."""
    names = iter(patients)
    return [
        Observed(
            run_spec_id="r",
            place=0,
            split=f"site{MARK}{site}",
            perturbation="",
            values=values,
            rows=rows,
            is_clustered=True,
            units=tuple(next(names) for _ in range(rows)),
        )
        for values, rows in letters
    ]


@pytest.mark.parametrize("name", ["diagnostic_accuracy", "classification", "calibration"])
def test_the_rest_of_a_part_is_what_all_other_parts_come_to_together(name):
    """Some patients are in two parts; a row without a value is in one of them."""
    params = {} if name == "calibration" else URGENT if name == "diagnostic_accuracy" else YES
    first, second = ((0.9, 1.0), (0.3, 0.0)) if name == "calibration" else ((1.0, 1.0), (2.0, 1.0))
    third = (0.4, 1.0) if name == "calibration" else (1.0, 2.0)
    sites = {
        "a": of_site("a", [(first, 9), (second, 5)], [n // 2 for n in range(14)]),
        "b": of_site("b", [(first, 4), (third, 8)], [n // 3 for n in range(12)]),
        "c": of_site("c", [(second, 6), (third, 3), ((None, 1.0), 2)], range(4, 15)),
    }
    metrics = {"r": (MetricSpec(name=name, args=params),)}
    made = PartSummarizer(metrics)([row for rows in sites.values() for row in rows])
    found = {(stat.name, stat.split): stat for stat in made}
    for site, rows in sites.items():
        others = [row for other, own_rows in sites.items() if other != site for row in own_rows]
        for split, instances in ((f"site{MARK}{site}", rows), (f"{MARK}site{MARK}{site}", others)):
            together = [replace(row, split="test") for row in instances]
            for alone in RunSummarizer(metrics)(together):
                of_part = found.pop((alone.name, split))
                for number in NUMBERS:
                    assert getattr(of_part, number) == pytest.approx(getattr(alone, number)), number
    assert not found


def test_the_only_part_of_a_whole_has_no_rest():
    rows = of_site("a", [((1.0, 1.0), 9), ((2.0, 1.0), 5)], range(14))
    metrics = {"r": (MetricSpec(name="diagnostic_accuracy", args=URGENT),)}
    assert {stat.split for stat in PartSummarizer(metrics)(rows)} == {f"site{MARK}a"}
