"""What an invocation of infer has committed so far: what is kept if it is stopped now."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from medhelm_spark.domain.pluralize import counted
from medhelm_spark.errors import Interrupted, is_interrupt


@dataclass(slots=True)
class CommittedAnswers:
    """Waves and their requests that are committed, and the requests of the wave that is open."""

    waves: int = 0
    requests: int = 0
    open_requests: int = 0

    def begin(self, requests: int) -> None:
        """A wave is about to be asked."""
        self.open_requests = requests

    def commit(self) -> None:
        """The open wave is committed."""
        self.waves += 1
        self.requests += self.open_requests
        self.open_requests = 0

    def sentence(self, total: int) -> str:
        """What stopping now keeps and loses, of so many requests.

        >>> Kept(waves=2, requests=24, open_requests=12).sentence(40)
        '24 of 40 requests are kept, in 2 committed waves; 12 of the open wave are asked again'
        >>> Kept().sentence(40)
        '0 of 40 requests are kept, in 0 committed waves'
        """
        waves = counted(self.waves, "committed wave")
        kept = f"{self.requests:,} of {counted(total, 'request')} are kept, in {waves}"
        lost = f"{self.open_requests:,} of the open wave are asked again"
        return f"{kept}; {lost}" if self.open_requests else kept


@contextmanager
def report_on_interrupt(label: str, total: int, kept: CommittedAnswers) -> Iterator[None]:
    """Turn an interrupt into one that says what of `total` requests is kept."""
    try:
        yield
    except BaseException as error:
        if not is_interrupt(error):
            raise
        raise Interrupted(f"{label}: {kept.sentence(total)}") from None
