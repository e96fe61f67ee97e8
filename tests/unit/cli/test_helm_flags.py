"""HELM's flags that do nothing here are refused in a sentence that names what to write instead."""

import pytest

from medhelm_spark.cli.parser import parse
from medhelm_spark.medhelm.flags import REPLACED

ENTRY = "pubmed_qa:model=openai/gpt-4o"


@pytest.mark.parametrize("flag", REPLACED)
@pytest.mark.parametrize("value", [(), ("value",)])
def test_a_flag_of_helms_is_refused_with_its_replacement(
    flag: str, value: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([flag, *value], [f"{flag}={value}"]):
        with pytest.raises(SystemExit) as left:
            parse(["run", "--suite", "s", *words, "-r", ENTRY])
        assert left.value.code == 2
        line = capsys.readouterr().err.splitlines()[-1]
        assert f"{flag} is a flag of HELM's that does nothing here: {REPLACED[flag]}" in line
