"""What one rater rates: the instances of an invitation, blinded, and the stored ratings.

The dashboard's page reads and writes through this module, without Spark. The module's objects name
no model, run or request: the page identifies an answer by its index.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from medhelm_spark.config.registry import policy_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.scenario import Message
from medhelm_spark.errors import ConfigError, LakeError
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import WRITE_ID
from medhelm_spark.ratings.answers import RatedAnswer, answers_of, specs_of, texts_of, within
from medhelm_spark.ratings.invitations import opened_by
from medhelm_spark.ratings.stored import stored_ratings
from medhelm_spark.ratings.tables import Invitation, RatedCriterion, Rating

Key = tuple[str, str, int, str]
"""The run, instance, trial and criterion of a rating."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindedItem:
    """An instance as a rater sees it: the question, and the answers in the rater's own order."""

    question: tuple[Message, ...]
    answers: tuple[str, ...]


def level_of_links(site: Path | None) -> AccessLevel:
    """The strictest level that the policy lets a link open now.

    `site` is the folder of the site's own configuration. A policy in a catalog's table is not read
    here, where there is no Spark: links open public text alone then.
    """
    try:
        return policy_of(site).rating_links.highest_level
    except ConfigError:
        return AccessLevel.PUBLIC


def queue_of(reader: Reader, token: str, highest: AccessLevel) -> "RaterQueue | None":
    """The queue that a token opens now; None where it opens nothing.

    Args:
        reader: the lake.
        token: the token of a link.
        highest: the strictest level that the policy lets a link open.
    """
    invitation = opened_by(reader, token, datetime.now(UTC))
    if invitation is None:
        return None
    queue = RaterQueue(reader, invitation, highest)
    return queue if queue.size else None


def is_open(reader: Reader, token: str) -> bool:
    """Whether a token still opens an invitation."""
    return opened_by(reader, token, datetime.now(UTC)) is not None


class RaterQueue:
    """The instances that one rater rates, with the ratings of this rater."""

    def __init__(self, reader: Reader, invitation: Invitation, highest: AccessLevel) -> None:
        self._reader, self._invitation = reader, invitation
        levels = (invitation.highest_level, highest)
        self._level = min(levels, key=lambda level: level.strictness)
        specs = specs_of(reader, invitation.suite, invitation.scenario_name)
        allowed = within(answers_of(reader, specs), self._level)
        self._items = [self._shuffled(allowed[i]) for i in invitation.instance_ids if i in allowed]
        units = [spec.run_spec_id for spec in specs]
        own = [row for row in stored_ratings(reader, units) if row.rater == invitation.rater]
        self._ratings: dict[Key, Rating] = {_key(row): row for row in own}
        self._read: tuple[int, BlindedItem] | None = None

    def _shuffled(self, answers: tuple[RatedAnswer, ...]) -> tuple[RatedAnswer, ...]:
        """The answers to one instance, in the order of a hash of rater, instance and answer."""

        def order(answer: RatedAnswer) -> str:
            rater, instance = self._invitation.rater, answer.instance_id
            return content_id(rater, instance, answer.run_spec_id, answer.trial_index)

        return tuple(sorted(answers, key=order))

    @property
    def scenario(self) -> str:
        """The benchmark whose answers are rated."""
        return self._invitation.scenario_name

    @property
    def suite(self) -> str:
        """The suite whose answers are rated."""
        return self._invitation.suite

    @property
    def rater(self) -> str:
        """The rater's pseudonym."""
        return self._invitation.rater

    def opened(self, item: int) -> tuple[list[AccessLevel], list[str]]:
        """The level of each answer to an instance, and the runs of the answers."""
        answers = self._items[item]
        return [each.access_level for each in answers], [each.run_spec_id for each in answers]

    @property
    def criteria(self) -> tuple[RatedCriterion, ...]:
        """What each answer is rated by."""
        return self._invitation.criteria

    @property
    def ends_at(self) -> datetime:
        """From this moment on the link opens nothing."""
        return self._invitation.ends_at

    @property
    def size(self) -> int:
        """How many instances there are."""
        return len(self._items)

    @property
    def num_rated(self) -> int:
        """How many instances have a rating of each answer by each criterion."""
        return sum(map(self.is_rated, range(self.size)))

    @property
    def first_unrated(self) -> int | None:
        """The index of the first instance that lacks a rating; None where none lacks one."""
        return next((item for item in range(self.size) if not self.is_rated(item)), None)

    def is_rated(self, item: int) -> bool:
        """Whether every answer to an instance has a rating by every criterion."""
        return all(
            _key_of(answer, criterion.name) in self._ratings
            for answer in self._items[item]
            for criterion in self.criteria
        )

    def texts(self, item: int) -> BlindedItem:
        """The texts of an instance, read once while the rater stays with it.

        Raises:
            PolicyError: a row has a stricter level by now than the link opens.
        """
        if self._read is None or self._read[0] != item:
            texts = texts_of(self._reader, self._items[item], self._level)
            self._read = (item, BlindedItem(question=texts.question, answers=texts.answers))
        return self._read[1]

    def values(self, item: int, answer: int) -> Mapping[str, float]:
        """The rater's values of an answer, by criterion."""
        return {name: row.value for name, row in self._rows(item, answer).items()}

    def comment(self, item: int, answer: int) -> str:
        """The rater's comment on an answer; empty without one."""
        rows = sorted(self._rows(item, answer).values(), key=lambda row: row.rated_at)
        return rows[-1].comment if rows else ""

    def _rows(self, item: int, answer: int) -> dict[str, Rating]:
        named = ((c.name, _key_of(self._items[item][answer], c.name)) for c in self.criteria)
        return {name: self._ratings[key] for name, key in named if key in self._ratings}

    def rate(self, item: int, answer: int, criterion: str, value: float) -> None:
        """Store a value; it is in the lake when this returns.

        Raises:
            ConfigError: the criterion is none of the invitation's, or the value is off its scale or
                between two classes.
            LakeError: the value was not stored.
        """
        scale = next((each for each in self.criteria if each.name == criterion), None)
        is_off = scale is None or not scale.minimum <= value <= scale.maximum
        if scale is None or is_off or (scale.classes and not float(value).is_integer()):
            raise ConfigError(
                "a rating has a criterion of the invitation and a value on its scale."
            )
        rated = self._items[item][answer]
        row = Rating(
            run_spec_id=rated.run_spec_id,
            instance_id=rated.instance_id,
            trial_index=rated.trial_index,
            rater=self._invitation.rater,
            criterion=criterion,
            value=value,
            comment=self.comment(item, answer),
            access_level=rated.access_level,
            rated_at=now(row.rated_at for row in self._rows(item, answer).values()),
            source=f"queue {self._invitation.invitation_id}",
        )
        self._store([row])

    def write_comment(self, item: int, answer: int, text: str) -> None:
        """Store a comment with each value that the answer has; without a value nothing is stored.

        Raises:
            LakeError: the comment was not stored.
        """
        rows = self._rows(item, answer).values()
        at = now(row.rated_at for row in rows)
        source = f"queue {self._invitation.invitation_id}"
        self._store([replace(row, comment=text, rated_at=at, source=source) for row in rows])

    def _store(self, rows: list[Rating]) -> None:
        """Append rows in one commit; a commit that meets another writer's is tried again."""
        if not rows:
            return
        table = pa.Table.from_batches([encode_batch(Rating, rows)])
        table = table.append_column(WRITE_ID, pa.array([uuid4().hex] * len(rows), pa.string()))
        try:
            FileTables(self._reader.location).append("ratings", table)
        except Exception as error:  # delta-rs, Arrow and the disk raise errors of their own
            raise LakeError(f"a rating was not stored ({type(error).__name__}).") from None
        self._ratings |= {_key(row): row for row in rows}


def _key(row: Rating) -> Key:
    return row.run_spec_id, row.instance_id, row.trial_index, row.criterion


def _key_of(answer: RatedAnswer, criterion: str) -> Key:
    return answer.run_spec_id, answer.instance_id, answer.trial_index, criterion
