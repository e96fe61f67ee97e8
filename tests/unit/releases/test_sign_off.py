"""Who signs a release off: people by key and token, what approvals state, and when they end."""

import base64
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.hashes import SHA256

from medhelm_spark.cli import main
from medhelm_spark.cli.exit_codes import GATED
from medhelm_spark.config.policy import load_policy
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.release import ReleaseChange, ReleaseStatus
from medhelm_spark.domain.sign_off import ListedPerson, Person, ReleasePeople, TokenIssuer
from medhelm_spark.errors import ConfigError, GateError, IntegrityError, ReleaseError
from medhelm_spark.releases.commands import keep
from medhelm_spark.releases.identity import Signer
from medhelm_spark.releases.keys import SigningKey, key_name, signing_key
from medhelm_spark.releases.source import release_of
from medhelm_spark.releases.tokens import subject_of
from tests.unit.provenance.made import RELEASE, SUITE, Made, write_key

ISSUER = "https://login.example.org"
OTHER_ISSUER = "https://ci.example.org"
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A draft of a site whose policy names Ada and Bob by their keys."""
    folder = tmp_path_factory.mktemp("sign_off")
    made = Made.planned(folder / "made")
    made.evaluation.releases.publish(RELEASE, SUITE)
    for name in ("ada", "bob", "eve"):
        write_key(made.folder / f"{name}.pem")
    return made


@pytest.fixture
def made(drafted: Made, tmp_path: Path) -> Made:
    copied = drafted.copied(tmp_path / "copy")
    listed(copied)
    return copied


def listed(made: Made, may: list[str] | None = None, **require: Any) -> None:
    people = [
        {"name": name.title(), "key": public(made, name), "may": may or ["approve", "publish"]}
        for name in ("ada", "bob")
    ]
    release = {"people": people, "require": require}
    (made.site / "policy.yaml").write_text(yaml.safe_dump({"release": release}))


def public(made: Made, name: str) -> str:
    return signing_key(str(made.folder / f"{name}.pem"), "a test", "nowhere").public


def by(made: Made, name: str) -> Path:
    return made.folder / f"{name}.pem"


def test_two_people_share_one_user_of_one_machine(made: Made) -> None:
    releases = made.evaluation.releases
    releases.submit(RELEASE, key=by(made, "ada"))
    with pytest.raises(ReleaseError, match="'Ada' submitted it"):
        releases.approve(RELEASE, note="mine", key=by(made, "ada"))
    done = releases.approve(RELEASE, note="read it", key=by(made, "bob"))
    (_, submitted, approved) = done.changes
    assert submitted.who.startswith("Ada (key ")
    assert (approved.changed_by, approved.is_verified) == ("Bob", True)
    releases.publish(RELEASE, key=by(made, "bob"))
    assert made.verified().endswith("(integrity only)")


@pytest.mark.attack("releases", "an approval by a key that nobody has, or by the system's user")
@pytest.mark.parametrize(
    ("name", "message"), [("eve", "lists nobody with this key"), ("", "a system user alone")]
)
def test_who_is_not_listed_does_not_approve(made: Made, name: str, message: str) -> None:
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    with pytest.raises(ReleaseError, match=message):
        made.evaluation.releases.approve(RELEASE, key=by(made, name) if name else None)


def test_a_step_is_for_those_who_are_listed_for_it(made: Made) -> None:
    listed(made, may=["publish"])
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    made.evaluation.releases.approve(RELEASE, key=by(made, "bob"))
    with pytest.raises(ReleaseError, match="lets Ada, Bob do this"):
        made.evaluation.releases.publish(RELEASE)


@pytest.mark.attack("releases", "one person submits as the system's user and approves by a key")
def test_an_approver_who_is_known_needs_a_submitter_who_is(made: Made) -> None:
    made.evaluation.releases.submit(RELEASE)
    with pytest.raises(ReleaseError, match="nothing shows that its approver is somebody else"):
        made.evaluation.releases.approve(RELEASE, key=by(made, "bob"))
    made.evaluation.releases.submit(RELEASE, key=by(made, "bob"))
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    with pytest.raises(ReleaseError, match="'Bob' submitted it"):
        made.evaluation.releases.approve(RELEASE, key=by(made, "bob"))


@pytest.mark.attack("releases", "a signed approval in another's name, or with another note")
@pytest.mark.parametrize("column", ["changed_by", "note", "expires_at", "signature"])
def test_a_changed_approval_is_no_longer_signed(made: Made, column: str) -> None:
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    made.evaluation.releases.approve(
        RELEASE, note="read it", until="2099-01-01", key=by(made, "bob")
    )
    values = {"changed_by": "Ada", "note": "x", "expires_at": NOW, "signature": "AAAA"}

    def edit(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {**row, **({column: values[column]} if row["to_status"] == "approved" else {})}
            for row in rows
        ]

    made.edit("release_changes", edit)
    with pytest.raises(IntegrityError, match="signature of approved by"):
        made.verified()


def appended(made: Made, to: ReleaseStatus, signer: Signer, **values: Any) -> None:
    """A status written into the table and the chain by who shares the account, by no command."""
    workspace = made.evaluation._workspace
    stored = release_of(workspace.reader, RELEASE)
    change = ReleaseChange(
        release=RELEASE,
        manifest_hash=stored.manifest_hash,
        from_status=stored.state.status,
        to_status=to,
        changed_by="",
        changed_at=datetime.now(UTC),
        note="fine",
    )
    made._append("release_changes", [replace(signer.signed(change), **values)])


def recorded(made: Made) -> None:
    workspace = made.evaluation._workspace
    ctx = workspace.context("", is_in_process=True)
    keep(workspace, ctx, release_of(workspace.reader, RELEASE))


FORGED = {
    "by another key": ("signature", {}),
    "by another key that it names": ("name", {"identified_by": "its own"}),
    "without a key": ("signature", {"key": None, "signature": None}),
    "by a token": ("name", {"key": None, "signature": None, "identified_by": ISSUER}),
    "by nothing": ("signature", {"key": None, "signature": None, "identified_by": None}),
}


@pytest.mark.parametrize("how", FORGED)
def test_an_approval_in_a_listed_persons_name_without_their_key_is_refused(
    made: Made, how: str
) -> None:
    named, values = FORGED[how]
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    other = SigningKey(ed25519.Ed25519PrivateKey.generate())
    is_own = values.get("identified_by") == "its own"
    method = f"key {key_name(other.public if is_own else public(made, 'bob'))}"
    person = Person(name="Bob", identified_by=method)
    changed = {} if is_own else values
    appended(made, ReleaseStatus.APPROVED, Signer(person=person, key=other), **changed)
    recorded(made)
    listed(made, verified_people=True)
    releases = made.evaluation.releases
    for refused in (made.verified, lambda: releases.gate(RELEASE)):
        with pytest.raises(IntegrityError, match=f"{named} of approved by Bob"):
            refused()
    with pytest.raises((IntegrityError, ReleaseError), match="approved by Bob"):
        releases.publish(RELEASE, key=by(made, "bob"))


def test_keys_of_who_left_the_site_stay_in_the_policy(made: Made) -> None:
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    made.evaluation.releases.approve(RELEASE, note="read it", key=by(made, "bob"))
    left = [{"name": "Bob", "key": public(made, "bob"), "may": []}]
    ada = [{"name": "Ada", "key": public(made, "ada"), "may": ["approve"]}]
    for people, is_refused in ((ada, True), ([*ada, *left], False), ([], False)):
        (made.site / "policy.yaml").write_text(yaml.safe_dump({"release": {"people": people}}))
        if is_refused:
            with pytest.raises(IntegrityError, match="name of approved by Bob"):
                made.verified()
        else:
            assert made.verified().endswith("(integrity only)")


@pytest.mark.parametrize("is_of_bob", [True, False])
def test_an_approval_written_into_the_table_is_recorded_for_who_may_approve_alone(
    made: Made, is_of_bob: bool
) -> None:
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    name = "bob" if is_of_bob else "ada"
    key = signing_key(str(by(made, name)), "a test", "nowhere")
    person = Person(name=name.title(), identified_by=f"key {key_name(key.public)}")
    appended(made, ReleaseStatus.APPROVED, Signer(person=person, key=key))
    releases = made.evaluation.releases
    if is_of_bob:
        assert (
            releases.approve(RELEASE, note="again", key=by(made, name)).changes[-1].note == "fine"
        )
        assert made.verified().endswith("(integrity only)")
        return
    with pytest.raises(ReleaseError, match="'Ada' submitted it"):
        releases.approve(RELEASE, note="again", key=by(made, name))
    with pytest.raises(ReleaseError, match="no record of an earlier status: approved by Ada"):
        releases.approve(RELEASE, note="again", key=by(made, "bob"))


def test_an_approval_by_who_is_not_listed_is_not_published(made: Made) -> None:
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    appended(made, ReleaseStatus.APPROVED, Signer(person=Person(name="ward")))
    recorded(made)
    with pytest.raises(ReleaseError, match=r"approved by ward \(unverified\); the policy lets Ada"):
        made.evaluation.releases.publish(RELEASE, key=by(made, "bob"))


def test_the_policy_may_refuse_names_that_nobody_checked(made: Made) -> None:
    made.evaluation.releases.submit(RELEASE)
    listed(made, verified_people=True)
    releases = made.evaluation.releases
    with pytest.raises(GateError, match="whom nobody has checked"):
        releases.submit(RELEASE)
    (finding,) = releases.gate(RELEASE).blocking
    assert finding.reason.startswith("in review by ")
    releases.submit(RELEASE, key=by(made, "ada"))
    assert releases.approve(RELEASE, key=by(made, "bob")).status == "approved"


def test_an_approval_states_what_the_policy_asks(made: Made) -> None:
    rules = {"approval_owner": True, "approval_monitoring": True, "approval_days": 30}
    listed(made, approval_note=True, **rules)
    releases = made.evaluation.releases
    releases.submit(RELEASE, key=by(made, "ada"))
    with pytest.raises(GateError, match=r"a note .*--owner.*--margin and --every.*--until"):
        releases.approve(RELEASE, key=by(made, "bob"))
    soon = (datetime.now(UTC) + timedelta(days=20)).date()
    done = releases.approve(
        RELEASE,
        note="read it",
        conditions=["English letters only"],
        until=soon,
        owner="Ward 4",
        monitoring={"margin": 0.05, "sample": 5, "days": 7},
        key=by(made, "bob"),
    )
    rendered = done.render()
    for text in ("English letters only", "Ward 4", "margin 0.05, sample 5, days 7", str(soon)[:7]):
        assert text in rendered
    assert releases.gate(RELEASE).is_passed
    listed(made, approval_days=7)
    assert not made.evaluation.releases.gate(RELEASE).is_passed, "by the policy of now"


def test_the_monitoring_plan_is_what_a_look_runs(made: Made) -> None:
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    plan = {"margin": 0.05, "sample": 5}
    made.evaluation.releases.approve(RELEASE, monitoring=plan, key=by(made, "bob"))
    look = made.evaluation.watch.look(RELEASE)
    scores = [line for line in look.lines if line.part == "scores"]
    assert {(line.margin, line.n) for line in scores} == {(0.05, 5)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"until": "soon"}, "a day as 2027-06-30"),
        ({"until": "2020-01-01"}, "which is over"),
        ({"until": "9999-12-31"}, "is 9999-12-31; allowed: a day up to 9999-12-30"),
        ({"monitoring": {"margin": -1}}, "a number above 0"),
        ({"monitoring": {"margin": "inf"}}, "margin is 'inf'; allowed: a number above 0"),
        ({"monitoring": {"answers_margin": 1}}, "a number above 0 and below 1"),
        ({"monitoring": {"sample": 1.5}}, "a whole number above 0"),
        ({"monitoring": {"size": 1}}, "unknown 'size'"),
    ],
    ids=["no_day", "over", "last", "negative", "infinite", "share", "broken", "unknown"],
)
def test_a_wrong_statement_is_refused(made: Made, options: Any, message: str) -> None:
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    with pytest.raises(ConfigError, match=message):
        made.evaluation.releases.approve(RELEASE, key=by(made, "bob"), **options)


def test_an_expired_approval_shows_everywhere(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    made.evaluation.releases.approve(RELEASE, until="2099-06-30", key=by(made, "bob"))
    assert "EXPIRED" not in made.evaluation.board(release=RELEASE).render()
    later = datetime(2100, 1, 1, tzinfo=UTC)
    for module in ("source", "status", "render"):
        monkeypatch.setattr(f"medhelm_spark.releases.{module}.now", lambda *_: later)
    banner = "EXPIRED: the approval of release 'r1' ended at 2099-07-01"
    assert made.evaluation.board(release=RELEASE).render().startswith(banner)
    assert "EXPIRED at 2099-07-01" in made.evaluation.releases.show(RELEASE).render()
    made.verified()
    assert "its approval expired at 2099-07-01" in " ".join(made.messages)
    made.evaluation.evidence.make(RELEASE, "chai", made.folder / "evidence")
    assert banner in (made.folder / "evidence" / "evidence.json").read_text()
    with pytest.raises(ReleaseError, match="its approval ended"):
        made.evaluation.releases.publish(RELEASE, key=by(made, "bob"))


def test_as_shipped_a_release_asks_for_something(made: Made) -> None:
    (made.site / "policy.yaml").unlink()
    releases = made.evaluation.releases
    releases.submit(RELEASE)
    assert {each.requirement for each in releases.gate(RELEASE).findings} == {
        "no_demo_juries",
        "complete_models",
        "coverage_floor",
        "approval_note",
    }
    words = ["release", "approve", RELEASE, "-o", str(made.lake), "--local-path", str(made.site)]
    assert main(words) != 0, "who made it does not approve it"
    made.step(ReleaseStatus.APPROVED, "bob")
    assert [each.reason for each in releases.gate(RELEASE).blocking] == [
        "its approval lacks a note"
    ]
    assert main([*words[:1], "gate", *words[2:]]) == GATED


@pytest.mark.parametrize("written", ["allowed: {public: [local]}", "comparison: {}"])
def test_a_written_policy_requires_what_it_says_and_no_more(tmp_path: Path, written: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(written)
    shipped = load_policy(conf_path("policy.yaml"))
    assert shipped.release.required
    assert not load_policy(path, shipped).release.required


def test_the_version_of_a_policy_of_before_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("allowed: {public: [local]}\nrelease: {require: {every_run: true}}\n")
    assert load_policy(path).version == "5e884cbc386d903596c48b82edec2b6f"


class TokenMaker:
    """An issuer: its keys as a JWKS file, and tokens that it signs."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.kind = kind
        self.key = {
            "RS256": lambda: rsa.generate_private_key(65537, 2048),
            "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
        }[kind]()
        path = folder / "jwks.json"
        path.write_text(json.dumps({"keys": [self._jwk()]}))
        self.issuer = TokenIssuer(issuer=ISSUER, audience="medhelm-spark", keys=str(path))

    def token(self, head: dict[str, Any] | None = None, **claims: Any) -> str:
        body = {"iss": ISSUER, "aud": "medhelm-spark", "sub": "ada", "exp": NOW.timestamp() + 60}
        parts = [{"alg": self.kind, "kid": "1", **(head or {})}, {**body, **claims}]
        text = ".".join(_base64(json.dumps(part).encode()) for part in parts)
        return f"{text}.{_base64(self._signed(text.encode()))}"

    def _signed(self, text: bytes) -> bytes:
        key: Any = self.key
        if self.kind == "RS256":
            return bytes(key.sign(text, padding.PKCS1v15(), SHA256()))
        if self.kind == "ES256":
            halves = utils.decode_dss_signature(key.sign(text, ec.ECDSA(SHA256())))
            return b"".join(half.to_bytes(32, "big") for half in halves)
        return bytes(key.sign(text))

    def _jwk(self) -> dict[str, str]:
        public: Any = self.key.public_key()
        if self.kind == "RS256":
            numbers = public.public_numbers()
            return {"kty": "RSA", "kid": "1", "n": _number(numbers.n), "e": _number(numbers.e)}
        if self.kind == "ES256":
            numbers = public.public_numbers()
            point = {"x": _number(numbers.x, 32), "y": _number(numbers.y, 32)}
            return {"kty": "EC", "kid": "1", "crv": "P-256", **point}
        return {"kty": "OKP", "kid": "1", "crv": "Ed25519", "x": _base64(public.public_bytes_raw())}


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _number(value: int, size: int | None = None) -> str:
    return _base64(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


@pytest.mark.parametrize("kind", ["RS256", "ES256", "EdDSA"])
def test_a_token_names_its_subject(tmp_path: Path, kind: str) -> None:
    made = TokenMaker(tmp_path, kind)
    assert subject_of(made.token(), [made.issuer], NOW) == ("ada", ISSUER)
    several = made.token(aud=["other", "medhelm-spark"])
    assert subject_of(several, [made.issuer], NOW) == ("ada", ISSUER)


TRIES: dict[str, tuple[Callable[[TokenMaker], str], str]] = {
    "no_signature": (lambda made: made.token({"alg": "none"}), "no key of"),
    "the_public_key_as_a_secret": (lambda made: made.token({"alg": "HS256"}), "no key of"),
    "another_key": (lambda made: made.token({"kid": "2"}), "no key of"),
    "another_body": (lambda made: _with_body(made.token(), sub="bob"), "no key of"),
    "another_issuer": (lambda made: made.token(iss="https://evil.example.org"), "none of"),
    "for_another_use": (lambda made: made.token(aud="other"), "is not for"),
    "expired": (lambda made: made.token(exp=NOW.timestamp() - 3600), "not valid now"),
    "not_yet": (lambda made: made.token(nbf=NOW.timestamp() + 3600), "not valid now"),
    "for_ever": (lambda made: made.token(exp=None), "until when"),
    "nobody": (lambda made: made.token(sub=""), "names no subject"),
    "no_token": (lambda made: "secret", "three parts"),
}


def _with_body(token: str, **claims: Any) -> str:
    head, body, mark = token.split(".")
    payload = json.loads(base64.urlsafe_b64decode(body + "=="))
    return ".".join([head, _base64(json.dumps({**payload, **claims}).encode()), mark])


@pytest.mark.attack("releases", "a token that is forged, for another use, or expired")
@pytest.mark.parametrize("kind", ["RS256", "ES256", "EdDSA"])
@pytest.mark.parametrize("tried", TRIES)
def test_no_other_token_names_anybody(tmp_path: Path, kind: str, tried: str) -> None:
    made = TokenMaker(tmp_path, kind)
    forge, message = TRIES[tried]
    token = forge(made)
    with pytest.raises(ReleaseError, match=message) as refused:
        subject_of(token, [made.issuer], NOW)
    assert token.split(".")[-1] not in str(refused.value)


def test_a_person_is_named_by_a_token(made: Made, tmp_path: Path) -> None:
    issuer = TokenMaker(tmp_path, "EdDSA")
    people = [
        {"name": "Carol", "issuer": ISSUER, "subject": "c-17", "may": ["approve"]},
        {"name": "Ada", "key": public(made, "ada"), "may": ["submit"]},
    ]
    issuers = [{"issuer": ISSUER, "audience": "medhelm-spark", "keys": issuer.issuer.keys}]
    (made.site / "policy.yaml").write_text(
        yaml.safe_dump({"release": {"people": people, "issuers": issuers}})
    )
    made.evaluation.releases.submit(RELEASE, key=by(made, "ada"))
    token = tmp_path / "token"
    token.write_text(issuer.token(sub="c-17", exp=datetime.now(UTC).timestamp() + 600))
    made.set(identity_token=str(token))
    done = made.evaluation.releases.approve(RELEASE)
    assert done.changes[-1].who == f"Carol ({ISSUER})"
    assert replace(done.changes[-1], note="x").is_verified


def test_who_only_has_a_listed_persons_name_may_not_do_what_that_person_may() -> None:
    people = ReleasePeople(people=(ListedPerson(name="Carol", key="AAAA"),))
    namesake = Person(name="Carol", identified_by="Databricks")
    assert not people.may(namesake, ReleaseStatus.APPROVED)
    assert people.may(replace(namesake, is_listed=True), ReleaseStatus.APPROVED)
    assert people.may(namesake, ReleaseStatus.IN_REVIEW), "a step for which nobody is listed"
    assert ReleasePeople().may(Person(name="ward"), ReleaseStatus.APPROVED)


@pytest.mark.parametrize(("name", "issued_by"), [("Carol", OTHER_ISSUER), ("Ada", ISSUER)])
def test_a_subject_of_a_listed_persons_name_does_not_approve(
    made: Made, tmp_path: Path, name: str, issued_by: str
) -> None:
    issuer = TokenMaker(tmp_path, "EdDSA")
    keys = {"audience": "medhelm-spark", "keys": issuer.issuer.keys}
    issuers = [{"issuer": each, **keys} for each in (ISSUER, OTHER_ISSUER)]
    people = [
        {"name": "Carol", "issuer": ISSUER, "subject": "c-17", "may": ["approve"]},
        {"name": "Ada", "key": public(made, "ada"), "may": ["approve"]},
        {"name": "Bob", "key": public(made, "bob"), "may": ["submit"]},
    ]
    (made.site / "policy.yaml").write_text(
        yaml.safe_dump({"release": {"people": people, "issuers": issuers}})
    )
    made.evaluation.releases.submit(RELEASE, key=by(made, "bob"))
    token = tmp_path / "token"
    until = datetime.now(UTC).timestamp() + 600
    token.write_text(issuer.token(iss=issued_by, sub=name, exp=until))
    made.set(identity_token=str(token))
    message = re.escape(f"'{name}' ({issued_by}) is not listed for it")
    with pytest.raises(ReleaseError, match=message):
        made.evaluation.releases.approve(RELEASE)


@pytest.mark.parametrize(
    ("person", "message"),
    [
        ({"name": "A", "key": "short"}, "no Base64 of 32 bytes"),
        ({"name": "A"}, "one of key, platform"),
        ({"name": "A", "subject": "a"}, "one of key, platform"),
        ({"name": "A", "subject": "a", "issuer": "https://x"}, "issuers does not list"),
        ({"name": "A", "platform": "a", "may": ["pin"]}, "may is 'pin'"),
    ],
    ids=["key", "nothing", "no_issuer", "unknown_issuer", "step"],
)
def test_a_wrong_person_is_refused(tmp_path: Path, person: dict[str, Any], message: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(yaml.safe_dump({"allowed": {}, "release": {"people": [person]}}))
    with pytest.raises(ConfigError, match=message):
        load_policy(path)
