"""What counts as a critical failure: an error that another error does not make good."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalFailure:
    """Which answers are critical failures: exactly one of the three is stated."""

    missed_positives: bool = False
    """Positive cases that are not answered as positive, by the classes that the run declares."""

    missed_class: str | None = None
    """Cases of this class that are not answered as it."""

    score_at_most: float | None = None
    """Answers whose score is at this value or below."""

    @property
    def is_one(self) -> bool:
        """Whether exactly one kind is stated."""
        stated = (self.missed_class is not None, self.score_at_most is not None)
        return self.missed_positives + sum(stated) == 1

    def __str__(self) -> str:
        if self.score_at_most is not None:
            return f"scores at most {self.score_at_most:g}"
        return f"missed {self.missed_class}" if self.missed_class else "missed positives"
