"""Who takes a step of a release: by a key, a token, the platform, else the system's user."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.release import ReleaseChange
from medhelm_spark.domain.sign_off import Person, ReleasePeople
from medhelm_spark.errors import ConfigError, ReleaseError
from medhelm_spark.lake.user import platform_user, this_user
from medhelm_spark.releases.keys import SigningKey, is_signed, key_name, signing_key
from medhelm_spark.releases.tokens import subject_of
from medhelm_spark.releases.value_hash import row_digest
from medhelm_spark.workspace.workspace import Workspace

_BY_KEY = "key "
"""How `identified_by` begins where a key names the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A person, and their key where a key names them."""

    person: Person
    key: SigningKey | None = None

    def signed(self, change: ReleaseChange) -> ReleaseChange:
        """The change by this person, signed where they have a key."""
        named = self._by_person(change)
        return replace(named, signature=self.key.sign(row_digest(named))) if self.key else named

    def gave(self, change: ReleaseChange) -> bool:
        """Whether a status is by this person, by what names them now."""
        unsigned = replace(change, signature=None)
        return _is_as_signed(change) and unsigned == self._by_person(change)

    def _by_person(self, change: ReleaseChange) -> ReleaseChange:
        return replace(
            change,
            changed_by=self.person.name,
            is_verified=self.person.is_verified,
            identified_by=self.person.identified_by or None,
            key=self.key.public if self.key else None,
            signature=None,
        )


def signer_of(workspace: Workspace, key: str | Path | None = None) -> Signer:
    """Who takes a step now: by `key`, else by what the settings name, the platform, the system.

    Raises:
        ReleaseError: the policy lists nobody with the key, or the token names nobody.
        ConfigError: the file has no key or token.
    """
    people, settings = workspace.registry.policy.people, workspace.settings
    if file := str(key or settings.identity_key or ""):
        where = "--key" if key else "setting identity_key"
        return _by_key(signing_key(file, where, workspace.location), people, where)
    if settings.identity_token:
        return Signer(person=_by_token(settings.identity_token, people))
    spark = workspace.lake.spark if settings.platform in _PLATFORMS else None
    if spark and (found := platform_user(spark)):
        user, method = found
        listed = {each.platform: each.name for each in people.people if each.platform}
        return Signer(person=_named(listed.get(user), user, method))
    return Signer(person=Person(name=this_user()))


_PLATFORMS = (Platform.DATABRICKS, Platform.EMR)


def _by_key(key: SigningKey, people: ReleasePeople, where: str) -> Signer:
    names = {each.key: each.name for each in people.people if each.key}
    if key.public not in names:
        raise ReleaseError(
            f"{where}: the policy lists nobody with this key; allowed: an entry of release.people "
            f"with key {key.public}."
        )
    return Signer(person=_named(names[key.public], key.public, _method(key.public)), key=key)


def _by_token(file: str, people: ReleasePeople) -> Person:
    try:
        token = Path(file).expanduser().read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        raise ConfigError(
            f"setting identity_token is {file!r}; allowed: a file with a token."
        ) from None
    subject, issuer = subject_of(token, people.issuers, now())
    listed = {(each.issuer, each.subject): each.name for each in people.people}
    return _named(listed.get((issuer, subject)), subject, issuer)


def _named(listed: str | None, own: str, method: str) -> Person:
    """A person by the name that the policy lists, else by the name that the method gives."""
    return Person(name=listed or own, identified_by=method, is_listed=listed is not None)


def wrong_signatures(
    changes: Iterable[ReleaseChange], people: ReleasePeople, manifest_hash: str
) -> list[str]:
    """The statuses that whom they name did not give, by signature, key and the policy's people.

    A status that a key names has to be signed by that key. The policy has to list the keys that the
    statuses of the current manifest name, for that person; a policy without people lists none and
    cannot say whose a key is. What a token or the platform names has no signature: it may not be
    the name of somebody whom the policy lists for this step by something else.

    Args:
        changes: all statuses of a release.
        people: the policy's.
        manifest_hash: the current manifest's.
    """
    names = {each.key: each.name for each in people.people if each.key}
    wrong = []
    for change in changes:
        if not _is_as_signed(change):
            wrong.append(f"signature of {change.step}")
        elif names.get(change.key or "", change.changed_by) != change.changed_by or (
            change.manifest_hash == manifest_hash and _is_anothers_name(change, people)
        ):
            wrong.append(f"name of {change.step}")
    return wrong


def _is_as_signed(change: ReleaseChange) -> bool:
    """Whether a key that names a person signed the status, or nothing says that a key does."""
    method = change.identified_by or ""
    if change.is_verified and not method:
        return False
    if change.key is None:
        return not method.startswith(_BY_KEY)
    signed = row_digest(replace(change, signature=None))
    is_whole = is_signed(signed, change.signature or "", change.key)
    return is_whole and method == _method(change.key)


def _is_anothers_name(change: ReleaseChange, people: ReleasePeople) -> bool:
    if not change.is_verified or not people.people:
        return False
    is_claimed = change.changed_by in people.names(change.to_status)
    return (change.key is not None or is_claimed) and not people.has_named(change)


def _method(public: str) -> str:
    return f"{_BY_KEY}{key_name(public)}"
