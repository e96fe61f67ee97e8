"""Settings of `settings.yaml` in a session that somebody else started."""

from typing import Any

from medhelm_spark.lake.defaults import not_applied, with_defaults

ROWS, MEMORY, SHUFFLE = "spark.sql.rows", "spark.driver.memory", "spark.sql.shuffle"
DEFAULTS = {ROWS: "10000", SHUFFLE: "200"}


class Conf:
    """A session that takes SQL settings alone; `serverless` ones return none."""

    def __init__(self, values: dict[str, str], *, serverless: bool = False) -> None:
        self.values, self.serverless = dict(values), serverless

    def get(self, key: str, default: str | None) -> str | None:
        if self.serverless:
            raise RuntimeError("CONFIG_NOT_AVAILABLE")
        return self.values.get(key, DEFAULTS.get(key, default))

    def isModifiable(self, key: str) -> bool:
        return key.startswith("spark.sql.")

    def set(self, key: str, value: str) -> None:
        self.values[key] = value

    def unset(self, key: str) -> None:
        del self.values[key]


class Session:
    """As much of a session as is used."""

    def __init__(self, conf: Conf) -> None:
        self.conf = conf

    def sql(self, statement: str) -> Any:
        assert statement == "SET"
        if self.conf.serverless:
            raise RuntimeError("not here")
        return self

    def collect(self) -> list[tuple[str, str]]:
        return list(self.conf.values.items())


def test_what_nobody_set_holds_for_a_while_and_the_rest_stays() -> None:
    session: Any = Session(Conf({SHUFFLE: "8"}))
    requested = {ROWS: "1000", SHUFFLE: "2", MEMORY: "4g"}
    with with_defaults(session, requested):
        assert session.conf.values == {SHUFFLE: "8", ROWS: "1000"}, "the user's own 8 stays"
    assert session.conf.values == {SHUFFLE: "8"}
    assert not_applied(session, requested) == [MEMORY]


def test_a_session_that_tells_nothing_is_left_as_it_is() -> None:
    session: Any = Session(Conf({}, serverless=True))
    with with_defaults(session, {ROWS: "1000"}):
        assert session.conf.values == {}
    assert not_applied(session, {ROWS: "1000", MEMORY: "4g"}) == []
