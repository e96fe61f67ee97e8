"""What encrypting Spark's shuffles and spills costs: the same shuffle of text, with and without.

`python -m benchmarks.at_rest` prints a table of the seconds of each of ROUNDS shuffles; the first
of a process warms the JVM and does not count. The setting is a session's, so each has a process.
"""

import statistics
import subprocess
import sys
import time

ROWS, CHARACTERS, ROUNDS = 200_000, 1_000, 4


def measured(is_encrypted: bool) -> list[float]:
    """The seconds of each shuffle, in this process."""
    from pyspark.sql import functions as F

    from medhelm_spark.config.settings import load_settings
    from medhelm_spark.lake.session import open_session

    spark = open_session(load_settings(None, {}).spark, is_encrypted=is_encrypted)
    text = F.substring(F.repeat(F.sha2(F.col("id").cast("string"), 512), 8), 1, CHARACTERS)
    rows = spark.range(ROWS).withColumn("text", text)
    seconds = []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        rows.repartition(8, "text").sortWithinPartitions("text").write.format("noop").mode(
            "overwrite"
        ).save()
        seconds.append(time.perf_counter() - started)
    spark.stop()
    return seconds[1:]


def main() -> None:
    """Print the table, or (with an argument) measure in this process."""
    if len(sys.argv) > 1:
        sys.stdout.write(
            " ".join(f"{seconds:.2f}" for seconds in measured(sys.argv[1] == "on")) + "\n"
        )
        return
    sys.stdout.write("| Encryption | Seconds of each shuffle | Median |\n|---|---|---|\n")
    for kind in ("off", "on", "off", "on"):
        words = [sys.executable, "-m", "benchmarks.at_rest", kind]
        numbers = subprocess.run(
            words, stdout=subprocess.PIPE, text=True, check=True
        ).stdout.split()
        median = statistics.median(map(float, numbers))
        sys.stdout.write(f"| {kind} | {', '.join(numbers)} | {median:.2f} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
