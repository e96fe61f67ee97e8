"""The folder of a send order: its requests in files of chunks, and files of answers to them.

Driver and slots see the same folder. Each file has one writer and exists whole or not at all. The
driver moves answers into a new folder before it commits them: the files of such a folder are one
commit, however often it is repeated (tests/unit/stages/test_commits.py).
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from medhelm_spark.domain.judged import JudgedInstance
from medhelm_spark.domain.request import Request, RequestResult
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.columnar import arrow_schema, decode_batch, encode_batch
from medhelm_spark.lake.reader import as_schema
from medhelm_spark.stages.infer.dispatcher import Chunk
from medhelm_spark.stages.infer.order import OrderedChunk, chunks_of, listed

ORDER, JUDGED, ANSWERS, COMMIT = "order", "judged", "answers", "commit-"
REQUEST_ID = "request_id"
COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
MOST_FILES = 1000
"""Files of answers of one commit: the driver then has some 64,000 answers in memory."""

_READING = threading.Lock()
"""An open file is read by one thread at a time."""


@dataclass(frozen=True, slots=True)
class OrderFolder:
    """The folder at `root`."""

    root: str

    @property
    def is_one(self) -> bool:
        """Whether the folder exists, and is not one that Spark wrote rows into."""
        return Path(self.root, ANSWERS).is_dir()

    def make(self) -> None:
        """Make the folder and those in it."""
        for name in (ORDER, JUDGED, ANSWERS):
            Path(self.root, name).mkdir(parents=True, exist_ok=True)

    def write_requests(
        self, batches: Iterable[pa.RecordBatch], most: int, *, is_follow_up: bool = False
    ) -> list[OrderedChunk]:
        """Write rows of OrderedRequest in order as one file, a record batch a chunk; list them.

        The judged instances of JudgedRequests are a file with the same name and record batches.

        Raises:
            LakeError: the folder, which the driver made, is not on this machine.
        """
        if not self.is_one:
            raise LakeError(
                f"{self.root} is on the driver and not on an executor; allowed for staging_folder, "
                "and for a lake in a folder: a folder that driver and executors share."
            )
        name = f"{uuid4().hex}.arrow"
        chunks: list[OrderedChunk] = []
        with ExitStack() as files:
            for number, chunk in enumerate(chunks_of(batches, most)):
                is_judged = JUDGED in chunk.column_names
                if not chunks:
                    write = self._file_of(files, ORDER, name, Request)
                    if is_judged:
                        write_judged = self._file_of(files, JUDGED, name, JudgedInstance)
                write(chunk)
                if is_judged:
                    write_judged(_judged(chunk))
                chunks.append(listed(chunk, name, number, is_follow_up=is_follow_up))
        return chunks

    def _file_of(
        self, files: ExitStack, folder: str, name: str, row: type
    ) -> Callable[[pa.Table], None]:
        """Open a new file; returns the function that writes rows, or none, as one record batch."""
        schema, path = arrow_schema(row), Path(self.root, folder, name)
        sink = files.enter_context(pa.OSFile(str(path), "wb"))
        writer = files.enter_context(pa.ipc.new_file(sink, schema, options=COMPRESSED))

        def write(rows: pa.Table) -> None:
            # Not `write_table`: it writes no record batch of a table without rows, and the chunks
            # after it would have the numbers of others.
            columns = [column.chunk(0) for column in as_schema(rows, schema).columns]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))

        return write

    def requests(self, chunk: Chunk) -> list[Request]:
        """The requests of a chunk."""
        rows = self._record_batch(chunk)
        return list(decode_batch(Request, rows.take(pa.array(chunk.rows, pa.int64()))))

    def judged(self, chunk: Chunk) -> list[JudgedInstance]:
        """The instances that judges read with the answers to the whole record batch of a chunk."""
        return list(decode_batch(JudgedInstance, self._record_batch(chunk, JUDGED)))

    def request_ids(self, chunk: Chunk) -> list[str]:
        """The ids of the whole record batch of a chunk."""
        ids: list[str] = self._record_batch(chunk).column(REQUEST_ID).to_pylist()
        return ids

    def close(self) -> None:
        """Close the files that this process has open to read chunks."""
        with _READING:
            _file.cache_clear()

    def remove_requests(self) -> None:
        """Remove the files of requests."""
        for name in (ORDER, JUDGED):
            for path in Path(self.root, name).glob("*"):
                path.unlink(missing_ok=True)

    def write_answers(self, name: str, results: Sequence[RequestResult]) -> None:
        """Write results as a file of their own."""
        folder = Path(self.root, ANSWERS)
        hidden = folder / f".{name}"
        pq.write_table(pa.Table.from_batches([encode_batch(RequestResult, list(results))]), hidden)
        hidden.replace(folder / f"{name}.parquet")

    def take_answers(self) -> list[str]:
        """Move the answers into folders, each for one commit; returns the folders' names.

        A file that another driver moves meanwhile belongs to that driver.
        """
        files = self._answer_files()
        parts = [files[at : at + MOST_FILES] for at in range(0, len(files), MOST_FILES)]
        return [name for part in parts if (name := self._taken(part))]

    def _taken(self, files: Iterable[Path]) -> str | None:
        name, taken = f"{COMMIT}{uuid4().hex}", False
        for path in files:
            with suppress(FileNotFoundError):
                Path(self.root, name).mkdir(exist_ok=True)
                path.replace(Path(self.root, name, path.name))
                taken = True
        return name if taken else None

    def commits(self) -> list[str]:
        """Folders whose commit may be incomplete."""
        return sorted(path.name for path in Path(self.root).glob(f"{COMMIT}*"))

    def commit(self, name: str) -> str:
        """The folder of the answers of one commit."""
        return str(Path(self.root, name))

    def end_commit(self, name: str) -> None:
        """Remove the folder of a finished commit."""
        for path in Path(self.root, name).glob("*"):
            path.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            Path(self.root, name).rmdir()

    def answered(self) -> set[str]:
        """The requests whose answers are in files, including those that a commit has taken."""
        files = [*self._answer_files(), *Path(self.root).glob(f"{COMMIT}*/*.parquet")]
        tables = [pq.read_table(path, columns=[REQUEST_ID]) for path in files]
        return {name for table in tables for name in table[REQUEST_ID].to_pylist()}

    def count_files(self) -> int:
        """How many files of answers no commit has taken."""
        return len(self._answer_files())

    def _record_batch(self, chunk: Chunk, folder: str = ORDER) -> pa.RecordBatch:
        with _READING:
            return _file(str(Path(self.root, folder, chunk.file))).get_batch(chunk.number)

    def _answer_files(self) -> list[Path]:
        return sorted(Path(self.root, ANSWERS).glob("[!.]*.parquet"))


def _judged(chunk: pa.Table) -> pa.Table:
    judged = pc.list_flatten(chunk[JUDGED]).combine_chunks()
    return pa.Table.from_arrays(judged.flatten(), [field.name for field in judged.type])


@lru_cache(maxsize=8)
def _file(path: str) -> pa.ipc.RecordBatchFileReader:
    """An open file, cached: finding its record batches takes longer than reading one."""
    return pa.ipc.open_file(pa.OSFile(path))
