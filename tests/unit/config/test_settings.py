"""Settings: the platform's file, the site's, the environment's variables."""

import pytest

from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.settings import Platform, detect_platform, load_settings
from medhelm_spark.errors import ConfigError

LOCAL = {"MEDHELM_SPARK_PLATFORM": "local"}


def test_local_settings_make_small_lakes_fast() -> None:
    settings = load_settings(environ=LOCAL)
    assert settings.platform is Platform.LOCAL
    assert settings.commit_seconds == 10
    assert settings.spark["spark.databricks.delta.snapshotPartitions"] == "1"
    assert settings.spark["spark.sql.adaptive.enabled"] == "false"
    assert (settings.slots, settings.tracking_uri, settings.jars) == (None, None, None)


@pytest.mark.parametrize("platform", list(Platform))
def test_every_platform_has_settings_without_a_clusters_own_keys(platform: Platform) -> None:
    settings = load_settings(environ={"MEDHELM_SPARK_PLATFORM": platform})
    assert settings.platform is platform
    if platform is not Platform.LOCAL:
        assert settings.chunk_requests == 64
        assert "spark.driver.memory" not in settings.spark


def test_variables_win_over_the_site_and_the_site_over_the_platform(write) -> None:
    site = write(
        "site/settings.yaml", "commit_seconds: 3\nslots: 2\nspark: {spark.driver.memory: 4g}"
    ).parent
    from_site = load_settings(site, LOCAL)
    assert (from_site.commit_seconds, from_site.slots) == (3, 2)
    assert from_site.spark["spark.driver.memory"] == "4g"
    assert from_site.spark["spark.ui.enabled"] == "false"
    environ = {
        **LOCAL,
        "MEDHELM_SPARK_COMMIT_SECONDS": "0.5",
        "MEDHELM_SPARK_TRACKING_URI": "http://localhost:5000",
        "MEDHELM_SPARK_JARS": "/a.jar,/b.jar",
        "MEDHELM_SPARK_LOG_LEVEL": "info",
    }
    from_environ = load_settings(site, environ)
    assert (from_environ.commit_seconds, from_environ.slots) == (0.5, 2)
    assert from_environ.tracking_uri == "http://localhost:5000"
    assert from_environ.jars == "/a.jar,/b.jar"
    assert from_environ.spark["spark.log.level"] == "info"
    assert "spark.log.level" not in from_site.spark, "somebody has to ask"
    assert from_environ.origins[-1] == str(site / "settings.yaml")


def test_every_setting_has_its_value_and_source(write) -> None:
    site = write("site/settings.yaml", "slots: 2\nspark: {spark.driver.memory: 4g}")
    environ = {**LOCAL, "MEDHELM_SPARK_COMMIT_SECONDS": "0.5", "MEDHELM_SPARK_LOG_LEVEL": "info"}
    rows = {
        name: (value, source) for name, value, source in load_settings(site.parent, environ).rows
    }
    shipped = str(conf_path("settings", "local.yaml"))
    assert rows["platform"] == ("local", "MEDHELM_SPARK_PLATFORM")
    assert rows["commit_seconds"] == ("0.5", "MEDHELM_SPARK_COMMIT_SECONDS")
    assert rows["slots"] == ("2", str(site))
    assert rows["spark.driver.memory"] == ("4g", str(site))
    assert rows["spark.ui.enabled"] == ("false", shipped)
    assert rows["spark.log.level"] == ("info", "MEDHELM_SPARK_LOG_LEVEL")
    assert rows["lake_permissions"] == ("private", "default")


def test_a_file_of_comments_alone_means_the_defaults(write) -> None:
    site = write("site/settings.yaml", "# slots: 2\n---\n# none yet\n").parent
    settings, without = load_settings(site, LOCAL), load_settings(environ=LOCAL)
    assert (settings.slots, settings.spark) == (None, without.spark)
    write("site/settings.yaml", "\n")
    with pytest.raises(ConfigError, match=r"settings.yaml: the document is empty"):
        load_settings(site, LOCAL)


def test_databricks_is_known_by_its_runtime() -> None:
    assert detect_platform({"DATABRICKS_RUNTIME_VERSION": "17.3"}) is Platform.DATABRICKS
    assert detect_platform({"DATABRICKS_RUNTIME_VERSION": "17.3", **LOCAL}) is Platform.LOCAL


@pytest.mark.parametrize(
    ("master", "platform"),
    [
        ("", Platform.LOCAL),
        ("local[*,4]", Platform.LOCAL),
        ("local-cluster[2,1,1024]", Platform.CLUSTER),
        ("spark://head:7077", Platform.CLUSTER),
        ("yarn", Platform.CLUSTER),
        ("k8s://https://api:443", Platform.CLUSTER),
        ("sc://", Platform.CLUSTER),
        ("custom:emr-serverless", Platform.EMR),
    ],
)
def test_a_master_tells_a_cluster_of_the_sites_own(master: str, platform: Platform) -> None:
    assert detect_platform({}, master) is platform
    assert load_settings(environ={}, master=master).platform is platform


def test_a_master_that_the_site_names_tells_too(write) -> None:
    site = write("site/settings.yaml", "spark: {spark.master: 'spark://head:7077'}").parent
    assert load_settings(site, {}).platform is Platform.CLUSTER
    assert load_settings(site, {}, "local[2]").platform is Platform.LOCAL, "the session's own"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("PLATFORM", "loacl", "unknown platform 'loacl'. Did you mean 'local'?"),
        ("COMMIT_SECONDS", "ten", "MEDHELM_SPARK_COMMIT_SECONDS is 'ten'; allowed: a number"),
        ("SLOTS", "1.5", "MEDHELM_SPARK_SLOTS is '1.5'; allowed: a whole number"),
        ("STAGING_FOLDER", "mnt/x", "setting staging_folder is 'mnt/x'; allowed: an absolute path"),
        ("SLOTS", "0", "slots is 0; allowed: a number above 0"),
        ("CHUNK_REQUESTS", "0", "chunk_requests is 0; allowed: a number from 1 to 65,536"),
        ("CHUNK_REQUESTS", "65537", "chunk_requests is 65537; allowed: a number from 1 to 65,536"),
        ("COMMIT_SECONDS", "nan", "commit_seconds is nan"),
        ("LOG_LEVEL", "loud", "(MEDHELM_SPARK_LOG_LEVEL) is 'loud'; allowed: ALL, DEBUG, ERROR"),
    ],
)
def test_bad_variables(variable: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(environ={**LOCAL, f"MEDHELM_SPARK_{variable}": value})
    assert message in str(caught.value)


def test_spark_values_are_text(write) -> None:
    site = write("site/settings.yaml", "spark: {spark.sql.shuffle.partitions: 4}").parent
    with pytest.raises(ConfigError, match=r"spark\.spark\.sql\.shuffle\.partitions is a number"):
        load_settings(site, LOCAL)


@pytest.mark.attack("secrets", "a key of digits in spark: of settings.yaml, shown by the error")
@pytest.mark.parametrize("value", ["123456", "1234.56", "[a123456]", "{a123456: b}"])
def test_a_key_that_is_no_text_is_not_shown(write, value: str) -> None:
    site = write("site/settings.yaml", f"spark: {{spark.ssl.keyPassword: {value}}}").parent
    with pytest.raises(ConfigError, match="allowed: text") as caught:
        load_settings(site, LOCAL)
    assert "1234" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "spark.hadoop.fs.s3a.secret.key",
        "spark.hadoop.fs.s3a.bucket.notes.session.token",
        "spark.hadoop.fs.azure.account.key.ward.dfs.core.windows.net",
        "spark.hadoop.fs.azure.account.oauth2.client.secret",
        "spark.ssl.keyPassword",
        "spark.authenticate.secret",
    ],
)
@pytest.mark.attack(
    "secrets", "a key of an object store in settings.yaml, read from the process list"
)
def test_a_key_written_out_for_spark_is_refused_and_not_shown(write, name: str) -> None:
    site = write("site/settings.yaml", f"spark: {{{name}: Xq7Lw2}}").parent
    with pytest.raises(ConfigError, match="is a key written out") as caught:
        load_settings(site, LOCAL)
    assert name in str(caught.value)
    assert "Xq7Lw2" not in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "spark.hadoop.fs.s3a.aws.credentials.provider: a.Class",
        "spark.hadoop.hadoop.security.credential.provider.path: jceks://file/etc/keys.jceks",
        "spark.hadoop.fs.s3a.delegation.token.binding: a.Class",
        "spark.hadoop.fs.s3a.secret.key: '{{secrets/clinic/s3}}'",
        "spark.kubernetes.driver.secrets.notes: /etc/secrets",
        "spark.authenticate: 'true'",
    ],
)
def test_a_setting_that_says_where_a_key_is_passes(write, line: str) -> None:
    name, _, value = line.partition(": ")
    site = write("site/settings.yaml", f"spark:\n  {line}").parent
    assert load_settings(site, LOCAL).spark[name] == value.strip("'")


@pytest.mark.parametrize(
    "address",
    [
        "https://me:secret@boards.example.org",
        "https://boards.example.org/?suite=s",
        "https://boards.example.org/#top",
        "boards.example.org",
    ],
)
def test_the_dashboards_address_holds_no_login_and_no_query(address: str) -> None:
    with pytest.raises(ConfigError, match=r"dashboard_address .* is no base address") as caught:
        load_settings(environ={**LOCAL, "MEDHELM_SPARK_DASHBOARD_ADDRESS": address})
    assert "secret" not in str(caught.value)
