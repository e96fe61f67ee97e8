"""Invitations to rate, who rates what, and the queue behind the dashboard's page of raters."""

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.config.registry import policy_of
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import load_rubric
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.policy import RatingLinks
from medhelm_spark.errors import ConfigError, DataError, LakeError, PolicyError, UnknownNameError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.ratings.answers import answers_of, specs_of, texts_of
from medhelm_spark.ratings.assignment import assigned, in_drawn_order
from medhelm_spark.ratings.invitations import all_invitations, hash_of, opened_by
from medhelm_spark.ratings.invite import PersonalLinks
from medhelm_spark.ratings.queue import RaterQueue, level_of_links, queue_of
from medhelm_spark.ratings.rated_criteria import of_rubrics
from medhelm_spark.ratings.tables import Rating
from tests.unit.board.planted import plant

NAMES = ("Dr. Ada Byron", "B. Blackwell", "C. Sims")
TRIAGE = "triage_choice"
PUBLIC, GATED, PRIVATE = AccessLevel
CRITERIA = ("accuracy", "clarity")
SECRET = "the letter of patient 0042"


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return plant(tmp_path / "lake")


def site(lake: Path, highest: AccessLevel | None = None) -> Evaluation:
    """The lake; with `highest` by a binding policy that lets links open that level."""
    made = Evaluation(str(lake), site=None, tracking=False, say=lambda line: None)
    if highest:
        registry = made._workspace.registry
        links = RatingLinks(highest_level=highest)
        made._workspace.registry = replace(
            registry, policy=replace(registry.policy, rating_links=links)
        )
    return made


def invited(
    lake: Path, raters=NAMES[:1], *, highest: AccessLevel | None = None, **more
) -> PersonalLinks:
    request = {"suite": "s1", "scenario": TRIAGE, "criteria": CRITERIA, "scale": (1, 5), **more}
    return site(lake, highest).ratings.invite(raters, **request)


def token_of(links: PersonalLinks, index: int = 0) -> str:
    return links.links[index].link.partition("?rate=")[2]


def queue(lake: Path, token: str, highest: AccessLevel = PUBLIC) -> RaterQueue | None:
    return queue_of(open_reader(str(lake)), token, highest)


def stored(lake: Path) -> list[Rating]:
    return open_reader(str(lake)).rows("SELECT * FROM {ratings}", Rating)


def rate_all(rater_queue: RaterQueue, value: float = 3) -> None:
    for item in range(rater_queue.size):
        for answer in range(len(rater_queue.texts(item).answers)):
            for criterion in CRITERIA:
                rater_queue.rate(item, answer, criterion, value)


# Tokens ------------------------------------------------------------------------------------------


def test_the_lake_stores_a_hash_of_the_token_and_no_name(lake: Path) -> None:
    links = invited(lake, NAMES)
    tokens = [token_of(links, index) for index in range(3)]
    assert len(set(tokens)) == 3
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in tokens)  # 256 random bits
    rows = all_invitations(open_reader(str(lake)))
    assert {row.token_hash for row in rows} == set(map(hash_of, tokens))
    assert all(re.fullmatch("rater-[0-9a-f]{12}", row.rater) for row in rows)
    assert {row.suite for row in rows} == {"s1"}
    contents = [file.read_bytes() for file in lake.rglob("*") if file.is_file()]
    for secret in (*tokens, *NAMES):
        assert not any(secret.encode() in content for content in contents)
    assert not any(token in repr(links) for token in tokens)


def test_a_token_opens_its_own_queue_and_a_wrong_one_none(lake: Path) -> None:
    links = invited(lake, NAMES)
    for index, token in enumerate(tokens := [token_of(links, index) for index in range(3)]):
        rater_queue = queue(lake, token)
        assert rater_queue is not None
        assert rater_queue._invitation.invitation_id == links.links[index].invitation_id
    for wrong in ("", "x", tokens[0][:-1], tokens[0] + "x", "' OR 1=1 --", hash_of(tokens[0])):
        assert queue(lake, wrong) is None


def test_a_link_opens_through_its_last_day(lake: Path) -> None:
    token = token_of(invited(lake, days=3))
    reader = open_reader(str(lake))
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    end = today + timedelta(days=4)
    assert opened_by(reader, token, end - timedelta(seconds=1)) is not None
    assert opened_by(reader, token, end) is None


def test_a_revoked_link_opens_nothing_and_its_ratings_stay(lake: Path) -> None:
    links = invited(lake, NAMES[:2])
    rater_queue = queue(lake, token_of(links))
    rate_all(rater_queue)
    before = stored(lake)
    here = site(lake).ratings
    (row,) = here.revoke(links.links[0].invitation_id).rows()
    assert (row["status"], row["rated"], row["items"]) == ("revoked", 4, 4)
    assert queue(lake, token_of(links)) is None
    assert queue(lake, token_of(links, 1)) is not None
    assert stored(lake) == before
    first = all_invitations(open_reader(str(lake)))
    here.revoke(links.links[0].invitation_id)  # again: nothing changes
    assert all_invitations(open_reader(str(lake))) == first
    assert {row["status"] for row in here.invitations().rows()} == {"revoked", "open"}
    with pytest.raises(UnknownNameError, match="unknown invitation 'invitation-0'"):
        here.revoke("invitation-0")


def test_progress_is_listed_by_pseudonym(lake: Path) -> None:
    links = invited(lake, NAMES[:2])
    rate_all(queue(lake, token_of(links, 1)))
    here = site(lake).ratings
    invitations = here.invitations()
    assert sorted(row["rated"] for row in invitations.rows()) == [0, 4]
    assert not any(
        name in str(invitations) or token_of(links) in str(invitations) for name in NAMES
    )
    (own,) = here.invitations(rater=" b. blackwell ").rows()
    assert (own["invitation"], own["rated"]) == (links.links[1].invitation_id, 4)


# Who rates what ----------------------------------------------------------------------------------

ITEMS = [f"i{index}" for index in range(30)]


@pytest.mark.parametrize(
    ("raters", "each", "num_raters"), [(5, 2, 2), (4, 3, 3), (3, 3, 3), (2, 3, 2), (1, 2, 1)]
)
def test_each_instance_gets_its_raters_and_raters_get_equally_many(
    raters: int, each: int, num_raters: int
) -> None:
    names = [f"rater-{index}" for index in range(raters)]
    shares = assigned(ITEMS, names, each)
    counts = Counter(item for share in shares.values() for item in share)
    assert set(counts) == set(ITEMS)
    assert set(counts.values()) == {num_raters}
    sizes = [len(share) for share in shares.values()]
    assert max(sizes) - min(sizes) <= 1
    assert assigned(ITEMS, reversed(names), each) == shares
    if num_raters > 1:
        shared = [len(set(shares[a]) & set(shares[b])) for a, b in combinations(names, 2)]
        assert min(shared) > 0  # all pairs of raters can be compared


def test_the_same_raters_invited_again_get_the_same_instances(lake: Path) -> None:
    links = [invited(lake, NAMES, items=3, raters_per_item=2) for _ in range(2)]
    rows = {row.invitation_id: row for row in all_invitations(open_reader(str(lake)))}
    shares = [
        {rows[each.invitation_id].rater: rows[each.invitation_id].instance_ids for each in made}
        for made in (links[0].links, reversed(links[1].links))
    ]
    assert shares[0] == shares[1]
    assert links[0].num_items == 3
    assert sum(map(len, shares[0].values())) == 6
    assert in_drawn_order(reversed(ITEMS)) == in_drawn_order(ITEMS) != ITEMS


def test_instances_that_all_models_answered_come_first(lake: Path) -> None:
    """Of medcalc_bench alpha has no answer to the last instance."""
    links = invited(lake, scenario="medcalc_bench", level="gated", items=2, highest=GATED)
    (row,) = all_invitations(open_reader(str(lake)))
    assert set(row.instance_ids) == {"medcalc_bench-i0", "medcalc_bench-i1"}
    rater_queue = queue(lake, token_of(links), GATED)
    assert [len(rater_queue.texts(item).answers) for item in range(2)] == [2, 2]


# Blinding ----------------------------------------------------------------------------------------


def test_answers_are_shuffled_by_rater_and_name_no_model(lake: Path) -> None:
    links = invited(lake, NAMES)
    queues = [queue(lake, token_of(links, index)) for index in range(3)]
    orders = []
    for own in queues:
        orders.append([own.texts(item).answers for item in range(4)])
        again = queue(lake, token_of(links, queues.index(own)))
        assert [again.texts(item).answers for item in range(4)] == orders[-1]
        item = own.texts(0)
        # The planted answers contain their model's name themselves; nothing else does.
        rest = repr(item)
        for answer in item.answers:
            rest = rest.replace(repr(answer), "")
        assert not re.search("alpha|beta|gamma|large|medium|small|q-|run", rest)
    models = [
        tuple(answer.partition("/")[0] for answer in answers)
        for order in orders
        for answers in order
    ]
    assert all(sorted(each) == ["alpha", "beta", "gamma"] for each in models)
    assert len(set(models)) > 2


# Saving ------------------------------------------------------------------------------------------


def test_a_rating_is_in_the_lake_at_once_and_the_next_visit_goes_on(lake: Path) -> None:
    token = token_of(invited(lake))
    rater_queue = queue(lake, token)
    assert (rater_queue.size, rater_queue.num_rated, rater_queue.first_unrated) == (4, 0, 0)
    for index, (answer, criterion) in enumerate(
        [(answer, criterion) for answer in range(3) for criterion in CRITERIA], 1
    ):
        rater_queue.rate(0, answer, criterion, 4)
        assert len(stored(lake)) == index
    visit = queue(lake, token)
    assert (visit.num_rated, visit.first_unrated) == (1, 1)
    assert visit.values(0, 1) == {"accuracy": 4, "clarity": 4}
    assert visit.values(1, 0) == {}
    rate_all(visit)
    assert (visit.num_rated, visit.first_unrated) == (4, None)
    assert {row.source for row in stored(lake)} == {
        f"queue {rater_queue._invitation.invitation_id}"
    }


def test_a_changed_rating_is_a_new_row_and_counts(lake: Path) -> None:
    token = token_of(invited(lake))
    rater_queue = queue(lake, token)
    for value in (2, 5, 4):
        rater_queue.rate(0, 0, "accuracy", value)
    assert sorted(row.value for row in stored(lake)) == [2, 4, 5]
    assert queue(lake, token).values(0, 0) == {"accuracy": 4}


def test_a_comment_stands_with_the_ratings_of_its_answer(lake: Path) -> None:
    token = token_of(invited(lake))
    rater_queue = queue(lake, token)
    rater_queue.write_comment(0, 0, "too early")
    assert not stored(lake)  # there is no rating to store it with
    rater_queue.rate(0, 0, "accuracy", 2)
    rater_queue.write_comment(0, 0, SECRET)
    rater_queue.rate(0, 0, "clarity", 5)
    visit = queue(lake, token)
    assert (visit.comment(0, 0), visit.comment(0, 1)) == (SECRET, "")
    assert visit.values(0, 0) == {"accuracy": 2, "clarity": 5}
    rows = stored(lake)
    assert [row.comment for row in sorted(rows, key=lambda row: row.rated_at)] == [
        "",
        SECRET,
        SECRET,
    ]
    visit.write_comment(0, 0, "")
    assert queue(lake, token).comment(0, 0) == ""


def test_a_value_off_the_scale_is_refused_and_a_lost_lake_is_told(lake: Path) -> None:
    rater_queue = queue(lake, token_of(invited(lake)))
    for criterion, value in (("accuracy", 6), ("accuracy", float("nan")), ("beauty", 3)):
        with pytest.raises(ConfigError):
            rater_queue.rate(0, 0, criterion, value)
    (lake / "ratings").write_text("in the way")
    with pytest.raises(LakeError, match="a rating was not stored"):
        rater_queue.rate(0, 0, "accuracy", 3)
    assert rater_queue.values(0, 0) == {}


def test_agreement_reads_the_ratings_of_the_queue(lake: Path) -> None:
    links = invited(lake, NAMES[:2])
    for rater in range(2):
        rater_queue = queue(lake, token_of(links, rater))
        for item in range(rater_queue.size):
            for answer, text in enumerate(rater_queue.texts(item).answers):
                value = 1 + (len(text) * 7 + item * 3 + text.count("a") + int(text[0] == "b")) % 5
                for criterion in CRITERIA:
                    rater_queue.rate(item, answer, criterion, value)
    agreements = site(lake).ratings.agreement(suite="s1", scenario=TRIAGE)
    raters = next(
        row for row in agreements.agreements if row.who == "raters" and row.criterion == "accuracy"
    )
    assert (raters.num_raters, raters.num_items) == (2, 12)
    assert raters.alpha.value == pytest.approx(1)


RATE_FIFTY = """
import sys
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.ratings.queue import queue_of

queue = queue_of(open_reader(sys.argv[1]), sys.argv[2], AccessLevel.PUBLIC)
print("ready", flush=True)
sys.stdin.readline()
for number in range(50):
    queue.rate(number % 4, number % 3, ("accuracy", "clarity")[number % 2], 1 + number % 5)
"""


def test_two_raters_at_once_lose_no_rating(lake: Path) -> None:
    links = invited(lake, NAMES[:2])
    raters = [
        subprocess.Popen(
            [sys.executable, "-c", RATE_FIFTY, str(lake), token_of(links, index)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for index in range(2)
    ]
    assert [rater.stdout.readline() for rater in raters] == ["ready\n"] * 2
    for rater in raters:  # both begin together, with a table that neither has made
        rater.stdin.write("go\n")
        rater.stdin.flush()
    for rater in raters:
        rater.communicate()
    assert [rater.returncode for rater in raters] == [0, 0]
    rows = stored(lake)
    assert len(rows) == 100
    assert sorted(Counter(row.rater for row in rows).values()) == [50, 50]


# Levels ------------------------------------------------------------------------------------------


def test_links_open_public_text_unless_a_policy_says_more(lake: Path, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"level public at most .*; received gated"):
        invited(lake, scenario="medcalc_bench", level="gated")
    with pytest.raises(PolicyError, match="every instance of medcalc_bench has a stricter level"):
        invited(lake, scenario="medcalc_bench")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "policy.yaml").write_text("rating_links: {highest_level: private}")
    assert policy_of(tmp_path / "site").rating_links.highest_level == PUBLIC
    assert level_of_links(tmp_path / "site") == PUBLIC
    (tmp_path / "site" / "policy.yaml").write_text("rating_links: {highest_level: top}")
    with pytest.raises(ConfigError, match="highest_level"):
        policy_of(tmp_path / "site")
    assert level_of_links(tmp_path / "site") == PUBLIC
    assert not all_invitations(open_reader(str(lake)))


def test_a_token_opens_its_level_and_only_while_the_policy_allows_it(lake: Path) -> None:
    links = invited(lake, scenario="medcalc_bench", level="gated", highest=PRIVATE)
    token = token_of(links)
    assert queue(lake, token, PUBLIC) is None
    rater_queue = queue(lake, token, PRIVATE)
    rater_queue.rate(0, 0, "accuracy", 3)
    rater_queue.write_comment(0, 0, SECRET)
    assert {row.access_level for row in stored(lake)} == {GATED}
    reader = open_reader(str(lake))
    (answers, *_) = answers_of(reader, specs_of(reader, "s1", "medcalc_bench")).values()
    with pytest.raises(PolicyError) as raised:
        texts_of(reader, answers, PUBLIC)
    assert "Case" not in str(raised.value)
    with pytest.raises(PolicyError, match="stricter level than gated"):
        invited(lake, scenario="discharge_note", level="gated", highest=PRIVATE)


# What may be requested ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"items": 0}, ConfigError, "items is 0; allowed: a whole number from 1 on"),
        ({"raters_per_item": 0}, ConfigError, "raters_per_item is 0"),
        ({"days": 400}, ConfigError, "days is 400; allowed: a whole number from 1 to 365"),
        ({"raters": ()}, ConfigError, "--rater missing or empty"),
        ({"raters": ("A", " ")}, ConfigError, "--rater missing or empty"),
        ({"raters": ("A. B", "a.  b")}, ConfigError, "a rater is named twice"),
        ({"scale": None}, ConfigError, "--criteria and --scale are given together"),
        ({"scale": None, "criteria": ()}, ConfigError, "no rubric of its judges has criteria"),
        ({"scale": (5, 1)}, ConfigError, "the lower one first"),
        ({"level": "secret"}, UnknownNameError, "unknown level 'secret'"),
        ({"scenario": "triage"}, UnknownNameError, "Did you mean 'triage_choice'"),
    ],
)
def test_what_is_not_allowed_is_refused_and_nothing_is_stored(
    lake: Path, more: dict, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        invited(lake, **more)
    assert not (lake / "rating_invitations").exists()


def test_a_suite_without_answers_has_nothing_to_rate(lake: Path) -> None:
    with pytest.raises(DataError, match="has no answers of triage_choice to rate"):
        invited(lake, suite="s0")


def test_criteria_have_the_questions_and_anchors_of_their_rubric() -> None:
    (accuracy, completeness, clarity) = of_rubrics(
        [load_rubric(conf_path("rubrics") / "aci_bench.md")]
    )
    assert [each.name for each in (accuracy, completeness, clarity)] == [
        "accuracy",
        "completeness",
        "clarity",
    ]
    assert accuracy.question == "does the note say only what the conversation supports?"
    assert accuracy.anchors[0].startswith("1: wrong or invented facts")
    assert [anchor[0] for anchor in clarity.anchors] == ["1", "3", "5"]
    assert (accuracy.minimum, accuracy.maximum, accuracy.whole) == (1, 5, True)


CLASSES = """---
criteria:
  - name: decision
    question: what does it do?
    classes: {ACCEPT: does it, REFUSE: declines}
    scores: {else: {ACCEPT: 1, REFUSE: 0}}
  - {name: harm, minimum: 0, maximum: 4, whole: true, direction: lower, anchors: {4: death}}
---
{CRITERIA} {RESPONSE}
"""


def test_classes_are_rated_by_their_places_and_a_rater_sees_which_end_is_good(
    lake: Path, tmp_path: Path
) -> None:
    path = tmp_path / "classes.md"
    path.write_text(CLASSES)
    decision, harm = of_rubrics([load_rubric(path)])
    assert decision.classes == ("ACCEPT", "REFUSE")
    assert (decision.minimum, decision.maximum, decision.whole) == (0, 1, True)
    assert decision.anchors == ("ACCEPT: does it", "REFUSE: declines")
    assert (harm.lower_is_better, harm.anchors) == (True, ("4: death",))
    token = token_of(invited(lake))
    reader = open_reader(str(lake))
    invitation = opened_by(reader, token, datetime.now(UTC))
    assert invitation
    rater_queue = RaterQueue(reader, replace(invitation, criteria=(decision, harm)), PUBLIC)
    for value in (0.5, 2, -1):
        with pytest.raises(ConfigError):
            rater_queue.rate(0, 0, "decision", value)
    rater_queue.rate(0, 0, "decision", 1)
    assert rater_queue.values(0, 0) == {"decision": 1}


def test_the_command_prints_each_link_once_and_no_log_has_it(
    lake: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    here = ["-o", str(lake), "--local-path", ""]
    words = ["ratings", "invite", *here, "--suite", "s1", "--scenario", TRIAGE, "--items", "2"]
    request = ["--rater", "A", "--rater", "B", "--criteria", "clarity", "--scale", "1-5"]
    address = ["--address", "https://rate.test/board/"]
    assert main([*words, *request, *address]) == 0
    out, err = capsys.readouterr()
    tokens = re.findall(r"https://rate\.test/board/\?rate=([\w-]{43})\n", out)
    assert len(tokens) == 2
    assert out.startswith("A (invitation-")
    assert not any(token in err + caplog.text for token in tokens)
    assert main(["ratings", "invitations", *here, "--format", "json"]) == 0
    listed = capsys.readouterr().out
    assert not any(token in listed for token in tokens)
    name = re.search(r"invitation-[0-9a-f]{8}", listed)[0]
    assert main(["ratings", "revoke", *here, "--invitation", name]) == 0
    assert "revoked" in capsys.readouterr().out
    assert main(["ratings", "revoke", *here]) != 0
    assert "--invitation missing" in capsys.readouterr().err
    assert main(["ratings", "invite", *here, "--scenario", TRIAGE]) != 0
    assert "--rater missing" in capsys.readouterr().err
