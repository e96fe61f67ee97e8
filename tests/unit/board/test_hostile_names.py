"""Names with quotes, and ids that contain SQL, reach no query as anything but a value."""

import pytest

from medhelm_spark.board import choose
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.literals import literal, literals
from medhelm_spark.lake.reader import Reader

NAMES = [
    "x' OR '1'='1",
    "x'; DROP TABLE stats; --",
    "x\\",
    "x\0",
    '"x"',
    "{stats}",
    "x" * 200,
    "é'",
]


@pytest.mark.attack("inputs", "a suite, a release and an id that hold SQL")
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_looked_up_as_it_is_or_refused(name: str, reader: Reader) -> None:
    with pytest.raises(LakeError):
        literal(name)
    with pytest.raises(LakeError):
        literals(["a", name])
    for suite, release in ((name, None), (None, name)):
        with pytest.raises(LakeError) as refusal:
            choose(reader, suite, release)
        assert "\n" not in str(refusal.value)
