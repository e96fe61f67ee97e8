"""The class path and the class archive of a session that this project starts."""

import os
from pathlib import Path

import pytest

from medhelm_spark.lake import jvm
from medhelm_spark.lake.jvm import (
    CLASS_PATH,
    EXCLUDES,
    IVY,
    JARS,
    PACKAGES,
    class_archive_options,
    on_class_path,
    with_delta,
)


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark with one jar, and an empty cache."""
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(jvm, "_find_spark_home", lambda: str(tmp_path / "spark"))
    folder = tmp_path / "spark" / "jars"
    folder.mkdir(parents=True)
    (folder / "spark-core.jar").write_bytes(b"")
    return folder


def written_to(settings: dict[str, str]) -> str:
    return class_archive_options(settings, "17.0.1", "4.2.0").split("ArchiveClassesAtExit=")[1]


def test_jars_of_this_machine_stand_on_the_class_path_of_the_one_jvm(tmp_path: Path) -> None:
    for name in ("io.delta_spark.jar", "io.delta_storage.jar"):
        (tmp_path / name).write_bytes(b"")
    paths = [str(tmp_path / name) for name in ("io.delta_spark.jar", "io.delta_storage.jar")]
    conf = {"spark.master": "local[*,4]", JARS: ",".join(paths), "spark.app.name": "a"}
    expected = {"spark.master": "local[*,4]", "spark.app.name": "a"}
    assert on_class_path(conf) == {**expected, CLASS_PATH: os.pathsep.join(paths)}


@pytest.mark.parametrize(
    "changed",
    [
        {"spark.master": "spark://host:7077"},
        {"spark.master": "local-cluster[2,1,1024]"},
        {JARS: "s3://bucket/io.delta_spark.jar"},
        {JARS: "/opt/site/bundle.jar"},
        {JARS: ""},
        {CLASS_PATH: "/opt/site.jar"},
    ],
)
def test_other_jars_stay_as_they_are_said(changed: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "io.delta_spark.jar").write_bytes(b"")
    conf = {"spark.master": "local[2]", JARS: str(tmp_path / "io.delta_spark.jar"), **changed}
    assert on_class_path(conf) == conf


def test_an_archive_serves_the_jars_that_it_was_written_with(jars: Path) -> None:
    plain = {"spark.master": "local[2]"}
    first = written_to(plain)
    assert written_to(plain) == first
    assert written_to({**plain, CLASS_PATH: "/cache/delta.jar"}) != first
    os.utime(jars / "spark-core.jar", (1, 1))
    assert written_to(plain) != first, "Java compares the time too"
    assert class_archive_options({**plain, PACKAGES: "io.delta:delta"}, "17.0.1", "4.2.0") == ""


def test_an_archive_that_is_complete_is_mapped_and_few_are_kept(jars: Path, tmp_path: Path) -> None:
    plain = {"spark.master": "local[2]"}
    folder = tmp_path / "cache" / "jvm"
    part = Path(written_to(plain).split()[0])
    for age in range(1, 5):
        old = folder / f"spark-4.1.0-java-17.0.1-{age}.jsa"
        old.write_bytes(b"")
        os.utime(old, (age, age))
    left = folder / "spark-4.1.0-java-17.0.1-5.99999998.part"
    writing = folder / f"spark-4.1.0-java-17.0.1-6.{os.getppid()}.part"
    for other in (left, writing):
        other.write_bytes(b"")
        os.utime(other, (0, 0))
    part.write_bytes(b"")
    assert "SharedArchiveFile" not in class_archive_options(plain, "17.0.1", "4.2.0"), (
        "still written"
    )
    ended = part.with_name(part.name.replace(f".{os.getpid()}.", ".99999999."))
    part.rename(ended)
    assert "SharedArchiveFile" in class_archive_options(plain, "17.0.1", "4.2.0")
    assert not left.exists(), "a process that was killed left it"
    assert writing.exists()
    archives = sorted(path.name for path in folder.glob("spark-4.1*.jsa"))
    assert archives == ["spark-4.1.0-java-17.0.1-3.jsa", "spark-4.1.0-java-17.0.1-4.jsa"]


def test_a_class_path_of_the_site_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "io.delta_spark.jar").write_bytes(b"")
    conf = {"spark.master": "local[2]", JARS: str(tmp_path / "io.delta_spark.jar")}
    assert CLASS_PATH in on_class_path(conf)
    with monkeypatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", "--driver-class-path /opt/site.jar pyspark-shell")
        assert on_class_path(conf) == conf
    (tmp_path / "spark-defaults.conf").write_text(f"{CLASS_PATH} /opt/site.jar")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert on_class_path(conf) == conf


S3 = "org.apache.hadoop:hadoop-aws:3.5.0"
DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"


def in_cache(folder: Path) -> str:
    """Delta's jars where a first start leaves them, as `spark.jars` names them."""
    jars = folder / "cache" / "ivy" / "jars"
    jars.mkdir(parents=True)
    names = ("delta-spark_4.2_2.13-4.4.0", "delta-storage-4.4.0")
    paths = [jars / f"io.delta_{name}.jar" for name in names]
    for path in paths:
        path.write_bytes(b"")
    return ",".join(map(str, paths))


def test_packages_of_the_site_are_fetched_beside_deltas(jars: Path, tmp_path: Path) -> None:
    conf = {PACKAGES: S3, "spark.app.name": "a"}
    first = with_delta(conf, "4.2.0")
    assert first[PACKAGES].split(",") == [DELTA, S3]
    assert first[IVY] == str(tmp_path / "cache" / "ivy"), "one cache, by which the next start looks"
    paths = in_cache(tmp_path)
    later = with_delta(conf, "4.2.0")
    assert (later[PACKAGES], later[JARS]) == (S3, paths)
    assert later[EXCLUDES] == first[EXCLUDES] and later[IVY] == first[IVY]
    assert not [each for each in first[EXCLUDES].split(",") if "hadoop:*" in each], "hadoop-aws"


def test_jars_of_the_site_stand_beside_deltas(jars: Path, tmp_path: Path) -> None:
    conf = {JARS: "/opt/site/codec.jar"}
    first = with_delta(conf, "4.2.0")
    assert (first[JARS], first[PACKAGES]) == ("/opt/site/codec.jar", DELTA)
    paths = in_cache(tmp_path)
    assert with_delta(conf, "4.2.0") == {JARS: f"{paths},/opt/site/codec.jar"}


@pytest.mark.parametrize("key", [JARS, PACKAGES])
def test_a_delta_that_the_site_names_is_the_only_one(key: str, jars: Path, tmp_path: Path) -> None:
    in_cache(tmp_path)
    own = {JARS: "/opt/delta-spark_2.13-4.0.1.jar", PACKAGES: "io.delta:delta-spark_2.13:4.0.1"}
    found = with_delta({key: own[key]}, "4.2.0")
    assert {each: found[each] for each in (JARS, PACKAGES) if each in found} == {key: own[key]}


def test_what_the_site_says_of_the_resolver_holds(jars: Path) -> None:
    own = {EXCLUDES: "a:b", IVY: "/opt/ivy"}
    found = with_delta({PACKAGES: S3, **own}, "4.2.0")
    assert {key: found[key] for key in own} == own
