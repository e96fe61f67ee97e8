"""A password in MLflow's address is shown to nobody."""

import traceback

import pytest

from medhelm_spark.cli.exit_codes import again, for_models
from medhelm_spark.errors import SetupError
from medhelm_spark.tracking.store import opened, without_login

SECRET = "planted-0123"


@pytest.mark.parametrize(
    "uri",
    [
        f"nosuchscheme://me:{SECRET}@127.0.0.1:1/x",
        f"http://me:{SECRET}@127.0.0.1:1",
        f"http://me:a/{SECRET}@127.0.0.1:1",
        f"http://127.0.0.1:1/x?token={SECRET}",
        f"postgresql://me:{SECRET}@127.0.0.1:1/mlflow",
    ],
)
@pytest.mark.attack("secrets", "a password in MLflow's address is printed when MLflow refuses")
def test_no_error_shows_the_password(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(SetupError) as caught, opened(uri, "medhelm-spark"):
        pass
    trace = "".join(traceback.format_exception(caught.value))
    assert SECRET not in trace
    assert "MLflow at" in str(caught.value)


@pytest.mark.attack("secrets", "a printed command repeats the password of --tracking-uri")
def test_no_printed_command_shows_the_password() -> None:
    for flag in (["--tracking-uri", f"http://me:{SECRET}@h"], [f"--tracking-uri=//me:{SECRET}@h"]):
        typed = ["run", "-r", "a:model=x", *flag]
        assert SECRET not in again(typed)
        assert SECRET not in for_models(typed, ["y"])


def test_an_address_without_a_login_is_shown_whole() -> None:
    for uri in ("sqlite:////tmp/lake/mlflow.db", "http://127.0.0.1:5000", "databricks"):
        assert without_login(uri) == uri
