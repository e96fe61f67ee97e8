"""Messages of errors: what failed, where, what was received, what is allowed."""

import inspect

from medhelm_spark import errors
from medhelm_spark.errors import ConfigError, MedhelmSparkError, UnknownNameError


def test_an_unknown_name_gets_the_nearest_known_one() -> None:
    error = UnknownNameError(
        "metric", "exact_mach", ["rouge_l", "exact_match"], where="cards/x.yaml"
    )
    assert str(error) == (
        "cards/x.yaml: unknown metric 'exact_mach'. Did you mean 'exact_match'? "
        "Known: exact_match, rouge_l."
    )


def test_a_name_far_from_all_gets_no_suggestion() -> None:
    error = UnknownNameError("scenario", "zzz", ["pubmed_qa"])
    assert str(error) == "unknown scenario 'zzz'. Known: pubmed_qa."


def test_a_long_registry_is_cut_and_an_empty_one_is_said() -> None:
    names = [f"name_{number:02}" for number in range(21)]
    assert str(UnknownNameError("judge", "zzz", names)).endswith("name_18, name_19, ....")
    assert str(UnknownNameError("judge", "zzz", [])) == "unknown judge 'zzz'. Known: none."


FAMILIES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if kind.__module__ == errors.__name__ and issubclass(kind, Exception)
]


def test_every_error_is_caught_by_the_base() -> None:
    assert all(issubclass(family, MedhelmSparkError) for family in FAMILIES)


def test_an_unknown_name_is_an_error_of_configuration() -> None:
    assert issubclass(UnknownNameError, ConfigError)
