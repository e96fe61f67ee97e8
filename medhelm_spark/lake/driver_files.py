"""Small files in a lake's folder that the driver itself writes, without waiting for a Spark job.

A Spark job waits for a core, and while slots ask all of them are busy for minutes. These calls go
from the driver to the store: by Python where it sees the folder, else by the session's own Hadoop
file system, with Spark's own credentials. A catalog gives no folder and Spark Connect no file
system: there are none then.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from pyspark.sql import SparkSession

from medhelm_spark.errors import LakeError
from medhelm_spark.lake.links import is_reached_by_link
from medhelm_spark.lake.location import Location

S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"
TAKEN = ("Status Code: 412", "Status Code: 409")
"""There is an object; another put of it is under way."""
EXISTS = "FileAlreadyExistsException"
ABSENT = "FileNotFoundException"


class DriverFiles(Protocol):
    """Files by their paths below the lake's folder, parted by `/`."""

    def create(self, path: str, data: bytes) -> bool:
        """Write a file that is not there yet; False where it is. Of two drivers one gets True.

        Who reads meanwhile may see an empty file.
        """
        ...

    def read(self, path: str) -> bytes | None:
        """A file's content; None where it is not there."""
        ...

    def names(self, folder: str) -> list[str]:
        """What lies in a folder, sorted; nothing where it is not there."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that lies in it; nothing where it is not there."""
        ...


def driver_files(location: Location, spark: SparkSession | None) -> DriverFiles | None:
    """The files of a lake; `spark` is None where this process sees the lake's folder by itself.

    None for a catalog, and for a session without a JVM of this process.
    """
    if location.is_catalog:
        return None
    if spark is None:
        return LocalFiles(Path(location.name))
    try:
        files = HadoopFiles(spark, location.name)
    except Exception:  # a session without a JVM raises what its own library has for it
        return None
    return LocalFiles(Path(location.name)) if files.is_local else files


class LocalFiles:
    """Files of a folder that this process sees."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def create(self, path: str, data: bytes) -> bool:
        """See DriverFiles; written whole before it has its name."""
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        written = target.with_name(f".{target.name}-{uuid4().hex}")
        written.write_bytes(data)
        try:
            os.link(written, target)
        except FileExistsError:
            return False
        except OSError:  # a mount without hard links
            return _create(target, data)
        finally:
            written.unlink()
        return True

    def read(self, path: str) -> bytes | None:
        """See DriverFiles."""
        with suppress(FileNotFoundError):
            return (self._root / path).read_bytes()
        return None

    def names(self, folder: str) -> list[str]:
        """See DriverFiles."""
        with suppress(FileNotFoundError):
            names = (entry.name for entry in (self._root / folder).iterdir())
            return sorted(name for name in names if not name.startswith("."))
        return []

    def remove(self, path: str) -> None:
        """See DriverFiles; of a symbolic link the link goes, and not what it leads to."""
        target = self._root / path
        if is_reached_by_link(self._root, path):
            raise LakeError(
                f"{target} was not removed: a symbolic link leads there; put a folder in its place."
            )
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target, ignore_errors=True)
        else:
            target.unlink(missing_ok=True)


def _create(target: Path, data: bytes) -> bool:
    try:
        with target.open("xb") as file:
            file.write(data)
    except FileExistsError:
        return False
    return True


class HadoopFiles:
    """Files of any store that Spark reads, by the Hadoop file system of a session's own JVM.

    `create` excludes another driver where the store does: HDFS, Azure and Google do, and S3 by a
    request of its own (`_put_once`). Another server of `s3:` may return True to two.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        jvm: Any = spark._jvm
        self._jvm = jvm
        conf = spark._jsparkSession.sessionState().newHadoopConf()
        self._root = jvm.org.apache.hadoop.fs.Path(root)
        self._fs = self._root.getFileSystem(conf)

    @property
    def is_local(self) -> bool:
        """Whether the store is a folder of this machine."""
        return str(self._fs.getUri().getScheme()) == "file"

    def create(self, path: str, data: bytes) -> bool:
        """See DriverFiles."""
        if _is_s3a(self._fs):
            return _put_once(self._jvm, self._fs, self._path(path), data)
        try:
            stream = self._fs.create(self._path(path), False)
            try:
                stream.write(data)
            finally:
                stream.close()
        except Exception as error:  # Java's, whose class is in the text
            if EXISTS not in str(error):
                raise
            return False
        return True

    def read(self, path: str) -> bytes | None:
        """See DriverFiles."""
        try:
            stream = self._fs.open(self._path(path))
        except Exception as error:  # Java's, whose class is in the text
            if ABSENT not in str(error):
                raise
            return None
        try:
            return bytes(self._jvm.org.apache.hadoop.io.IOUtils.readFullyToByteArray(stream))
        finally:
            stream.close()

    def names(self, folder: str) -> list[str]:
        """See DriverFiles."""
        try:
            found = self._fs.listStatus(self._path(folder))
        except Exception as error:  # Java's, whose class is in the text
            if ABSENT not in str(error):
                raise
            return []
        return sorted(str(status.getPath().getName()) for status in found)

    def remove(self, path: str) -> None:
        """See DriverFiles."""
        self._fs.delete(self._path(path), True)

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, path)


def _is_s3a(file_system: Any) -> bool:
    """Whether a Hadoop file system is Hadoop's own for S3."""
    return bool(file_system.getClass().getName() == S3A)


def _put_once(jvm: Any, file_system: Any, path: Any, data: bytes) -> bool:
    """Write a file of an S3 bucket that is not there; False where it is.

    Hadoop's own `create` looks first and writes then: two drivers may both get True. S3 itself
    refuses a put with `If-None-Match: *` where there is an object. The request goes by the client
    of the session's own file system, with its credentials, endpoint and encryption: Hadoop 3.4.1
    (Spark 4.0) has no call for it, 3.5.0 (Spark 4.2) another than other stores.

    Args:
        jvm: the session's view of its JVM.
        file_system: an S3AFileSystem.
        path: a Hadoop Path of a file in its bucket.
        data: the content, some hundred bytes.
    """
    key = str(path.toUri().getPath()).lstrip("/")
    only_new = jvm.software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration.builder()
    request = (
        file_system.getRequestFactory()
        .newPutObjectRequestBuilder(key, None, len(data), False)
        .overrideConfiguration(only_new.putHeader("If-None-Match", "*").build())
        .build()
    )
    body = jvm.software.amazon.awssdk.core.sync.RequestBody.fromBytes(data)
    client = file_system.getS3AInternals().getAmazonS3Client("a lease")
    try:
        client.putObject(request, body)
    except Exception as error:  # Java's, whose status is in the text
        if not any(status in str(error) for status in TAKEN):
            raise
        return False
    return True
