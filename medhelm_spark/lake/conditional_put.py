"""Writing a file of an S3 bucket that is not there yet, so that of two writers one is told so.

Hadoop's own `create` looks first and writes then: two drivers may both be told that they were so.
S3 itself refuses a put with `If-None-Match: *` where there is an object. The request goes by the
client of the session's own file system, with its credentials, endpoint and encryption; Hadoop 3.4.1
(Spark 4.0) has no call for it, 3.5.0 (Spark 4.2) another than other stores.
"""

from typing import Any

S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"
TAKEN = ("Status Code: 412", "Status Code: 409")
"""There is an object; another put of it is under way."""


def is_s3a(file_system: Any) -> bool:
    """Whether a Hadoop file system is Hadoop's own for S3."""
    return bool(file_system.getClass().getName() == S3A)


def put_once(jvm: Any, file_system: Any, path: Any, data: bytes) -> bool:
    """Write a file that is not there; False where it is.

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
    except Exception as error:  # Java's, whose status stands in the text
        if not any(status in str(error) for status in TAKEN):
            raise
        return False
    return True
