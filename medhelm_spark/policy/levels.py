"""Levels of derived rows, in SQL, and the one rule by which a level may be stated or raised.

A level is never lowered by stating another: only by a recorded change (`domain.level_change`).
"""

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.policy import Decision, Policy
from medhelm_spark.errors import PolicyError
from medhelm_spark.policy.policy import decide

_ORDERED = ", ".join(f"'{level.value}'" for level in AccessLevel)
_LOOSER = " ".join(
    f"WHEN '{level.value}' THEN {level.strictness}"
    for level in AccessLevel
    if level is not AccessLevel.PRIVATE
)
LEVELS = "|".join(level.value for level in AccessLevel)


def strictness_sql(column: str) -> str:
    """SQL: how strict a level is, 0 for public; what is absent or unknown counts as private."""
    return f"CASE {column} {_LOOSER} ELSE {AccessLevel.PRIVATE.strictness} END"


def level_sql(strictness: str) -> str:
    """SQL: the level of a strictness."""
    return f"element_at(array({_ORDERED}), 1 + {strictness})"


def strictest_sql(*columns: str) -> str:
    """SQL: the level of a row that is derived from rows of these levels."""
    return level_sql(f"greatest({', '.join(map(strictness_sql, columns))})")


def stated_level(
    level: AccessLevel,
    stated: AccessLevel | None,
    *,
    name: str,
    is_own: bool,
    policy: Policy,
) -> AccessLevel:
    """The level of data that is read for a card of `level`.

    A person's own files do not say who may have them. Under a card that lets text go
    further than private text may go, the person who provides them has to state the level.

    Args:
        level: the card's.
        stated: the level that the person stated; None where there is none.
        name: the scenario, for messages.
        is_own: whether the data is not the card's own: other files, a table, an import.
        policy: of the site.

    Raises:
        PolicyError: no level is stated where one has to be, or it is below the card's level.
    """
    if stated is not None:
        if stated.strictness < level.strictness:
            raise PolicyError(
                f"--access-level {stated}: scenario {name!r} is {level}, and a level is lowered "
                f"only on record: medhelm-spark level lower --scenario {name!r} --to {stated} "
                "--reason TEXT."
            )
        return stated
    if is_own and _goes_further(policy, level):
        raise PolicyError(
            f"scenario {name!r} is {level}, but its data was given by hand and may be anybody's: "
            f"say who may have it and add --access-level {LEVELS} to the command."
        )
    return level


def _goes_further(policy: Policy, level: AccessLevel) -> bool:
    """Whether text of this level may go where private text may not; public text always does."""
    if level is AccessLevel.PUBLIC:
        return True
    return any(
        decide(policy, level, locality).allowed
        and not decide(policy, AccessLevel.PRIVATE, locality).allowed
        for locality in Locality
    )


def without_review(decision: Decision, locality: Locality | str | None) -> Decision:
    """The decision about text whose level was lowered and not reviewed: it stays on local."""
    if locality == Locality.LOCAL:
        return decision
    return Decision(
        allowed=False,
        rule=f"its level was lowered and nobody else approved: local only, not {locality}",
    )
