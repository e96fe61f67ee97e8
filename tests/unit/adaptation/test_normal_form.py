"""The compatibility form of texts with marks is that of the standard library."""

import sys
import unicodedata
from random import Random

from hypothesis import given, settings, strategies as st

from medhelm_spark.adaptation.normal_form import nfkc

MARKS = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c).startswith("M")]
TEXT = st.text(st.sampled_from([*MARKS, *"aé½ﬁ각 \n"]), max_size=30)


@settings(max_examples=200, deadline=None)
@given(TEXT, st.integers(0, 200), st.integers(0), TEXT)
def test_long_runs_of_marks_change_nothing(before: str, length: int, seed: int, after: str) -> None:
    text = before + "".join(Random(seed).choices(MARKS, k=length)) + after
    assert nfkc(text) == unicodedata.normalize("NFKC", text)
