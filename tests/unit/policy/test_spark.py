"""Settings and servers of Spark beside gated and private text."""

from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.config.policy import load_policy
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.network import Network
from medhelm_spark.errors import PolicyError
from medhelm_spark.policy.spark import check_remote, check_settings
from medhelm_spark.workspace.workspace import Workspace

PUBLIC, GATED, PRIVATE = AccessLevel
SHIPPED = load_policy(conf_path("policy.yaml"))

CODE = {
    "spark.python.daemon.module": "evil",
    "spark.python.worker.module": "evil",
    "spark.pyspark.python": "/opt/evil",
    "spark.jars": "/opt/evil.jar",
    "spark.jars.packages": "evil:evil:1",
    "spark.jars.repositories": "https://evil.example",
    "spark.submit.pyFiles": "evil.py",
    "spark.driver.extraClassPath": "/opt/evil",
    "spark.driver.extraJavaOptions": "-javaagent:/opt/evil.jar",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:OnOutOfMemoryError=/opt/evil",
    "spark.driver.defaultJavaOptions": "-XX:+HeapDumpOnOutOfMemoryError",
    "spark.executorEnv.PYTHONPATH": "/opt/evil",
    "spark.executorEnv.PYTHONSAFEPATH": "",
    "spark.extraListeners": "evil.Listener",
    "spark.sql.queryExecutionListeners": "evil.Listener",
    "spark.sql.extensions": "evil.Extension",
    "spark.sql.catalog.spark_catalog": "evil.Catalog",
    "spark.plugins": "evil.Plugin",
    "spark.eventLog.dir": "s3a://outside/events",
    "spark.hadoop.fs.s3a.endpoint": "https://evil.example",
    "spark.hadoop.fs.file.impl": "evil.FileSystem",
    "spark.hadoop.fs.s3a.proxy.host": "evil.example",
    "spark.executor.resource.gpu.discoveryScript": "/opt/evil.sh",
    "spark.ui.filters": "evil.Filter",
    "spark.kubernetes.container.image": "evil",
    "spark.master": "spark://evil.example:7077",
    "spark.sql.ui.explainMode": "a b",
    "spark.authenticate": "false",
    "spark.network.crypto.enabled": "false",
    "jars": "/opt/evil.jar",
    "staging_folder": "/srv/www",
}
HARMLESS = {
    "spark.master": "local[4,2]",
    "spark.driver.memory": "4g",
    "spark.executor.instances": "4",
    "spark.executor.resource.gpu.amount": "1",
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC -Xss4m",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.hadoop.parquet.enable.dictionary#input": "true",
    "spark.log.level": "INFO",
    "spark.authenticate": "true",
}


@pytest.mark.attack("code", "settings of a site that have Spark run other code or send text out")
@pytest.mark.parametrize("name", CODE)
def test_a_setting_that_is_not_on_the_list_is_refused_beside_private_text(name: str) -> None:
    with pytest.raises(PolicyError, match=name.replace(".", r"\.")) as caught:
        check_settings({**HARMLESS, name: CODE[name]}, "site/settings.yaml")
    assert str(caught.value).startswith("site/settings.yaml: ")
    assert CODE[name] == "" or CODE[name] not in str(caught.value)


def test_memory_cores_and_switches_may_be_set() -> None:
    check_settings(HARMLESS, "site/settings.yaml")
    for name, value in HARMLESS.items():
        with pytest.raises(PolicyError):
            check_settings({name: f"{value} /opt/x"}, "site/settings.yaml")


@pytest.mark.parametrize("level", AccessLevel)
@pytest.mark.parametrize(
    "text",
    ["spark: {spark.plugins: evil.Plugin}", "jars: /opt/evil.jar", "staging_folder: /srv/www"],
)
def test_no_session_is_started_by_such_settings_where_text_is_not_public(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: AccessLevel, text: str
) -> None:
    started = []
    monkeypatch.setattr(
        "medhelm_spark.workspace.workspace.session_of", lambda *_, **__: started.append(1)
    )
    monkeypatch.setattr("medhelm_spark.workspace.workspace.not_applied", lambda *_: [])
    monkeypatch.setattr("medhelm_spark.workspace.workspace.warm_up", lambda _: None)
    (tmp_path / "settings.yaml").write_text(text)
    workspace = Workspace(str(tmp_path / "lake"), tmp_path)
    workspace.expect([level])
    if level is PUBLIC:
        workspace._open_session()
    else:
        with pytest.raises(PolicyError, match="may not be set beside gated or private text"):
            workspace._open_session()
    assert bool(started) == (level is PUBLIC)


OUTSIDE, TENANT = "203.0.113.7", "10.20.0.7"


def names(host: str) -> list[str]:
    return {"outside.example": [OUTSIDE], "both.example": ["127.0.0.1", OUTSIDE]}.get(host, [host])


@pytest.mark.attack("network", "SPARK_REMOTE that names a Spark Connect server outside")
@pytest.mark.parametrize("level", [GATED, PRIVATE])
@pytest.mark.parametrize(
    "remote",
    [
        "sc://outside.example",
        "sc://outside.example:443/;use_ssl=true",
        "sc://outside.example:443/;token=abc",
        "sc://both.example:15002/;use_ssl=true",
        "sc://gone.example/;use_ssl=true",
        f"sc://[::ffff:{OUTSIDE}]:15002",
        f"sc://user@{OUTSIDE}:15002",
        f"sc://{TENANT}/;use_ssl=true",
        "sc://",
    ],
)
def test_a_connect_server_outside_gets_no_text_above_public(
    level: AccessLevel, remote: str
) -> None:
    with pytest.raises(PolicyError, match="SPARK_REMOTE names a Spark Connect server at"):
        check_remote(SHIPPED, [PUBLIC, level], remote, names)
    check_remote(SHIPPED, [PUBLIC], remote, names)
    check_remote(SHIPPED, [PUBLIC, level], "sc://127.0.0.1:15002", names)
    check_remote(SHIPPED, [PUBLIC, level], "sc://[::1]:15002/;user_id=x", names)


LISTED = replace(
    SHIPPED,
    allowed=(
        *(each for each in SHIPPED.allowed if each[0] is not GATED),
        (GATED, (Locality.TENANT,)),
    ),
    networks=((Locality.TENANT, (Network(cidr="10.20.0.0/16"),)),),
)


@pytest.mark.parametrize(
    "parameters",
    [
        "use_ssl=true",
        "use_ssl=True",
        "token=abc",
        "user_id=x;use_ssl=true",
        "use_ssl=false;token=a",
    ],
)
def test_a_connect_server_in_a_listed_network_is_asked_by_tls(parameters: str) -> None:
    remote = f"sc://{TENANT}:443/;{parameters}"
    check_remote(LISTED, [GATED], remote, names)
    with pytest.raises(PolicyError, match="to which private text may not be sent"):
        check_remote(LISTED, [GATED, PRIVATE], remote, names)


@pytest.mark.parametrize(
    "parameters",
    [
        "user_id=use_ssl",
        "use_ssl=false",
        "USE_SSL=true",
        "Token=abc",
        "use_ssl=trueish",
        "use_ssl=true;use_ssl=false",
        "use_ssl=false;use_ssl=true",
    ],
)
def test_what_pyspark_does_not_read_as_tls_is_refused(parameters: str) -> None:
    with pytest.raises(PolicyError, match="it is asked without TLS outside this machine"):
        check_remote(LISTED, [GATED], f"sc://{TENANT}:443/;{parameters}", names)
