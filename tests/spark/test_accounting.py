"""Every record of a source is in one line of ingest's output, and in the lake's counts."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cards import NOTES
from tests.spark.conftest import Site
from tests.spark.notes import card, ingest, read

OPEN = {role: column for role, column in NOTES["fields"].items() if role != "id"}
ROWS = """case,note,question,answer
0,Note 0.,Is it?,yes
1,Note 1.,Is it?,yes
2,Note 0.,Is it?,yes
3,Note 3.,,yes
4,Note 4.,Is it?,skip
5,Note 0.,Is it?,yes
6,Note 0.,Is it?,no
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the site's folder `served`."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    (site.folder / "served").mkdir()
    handler = partial(Quiet, directory=str(site.folder / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_kept_quarantined_left_out_and_merged_are_all_that_was_read(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    (site.folder / "notes.csv").write_text(ROWS)
    card(site, fields=OPEN, drop={"answer": ["skip"]}, merge_identical=True)
    expected = (
        "ingest: notes read 7 = 3 kept (3 test) + 1 quarantined (1 empty_input) + "
        "1 left out by the card's rules + 2 identical merged\n"
    )
    for _ in range(2):
        assert ingest(site) == 0
        assert capsys.readouterr().err == expected
    assert sorted(row["source_index"] for row in read(site)) == [0, 1, 6]
    (version,) = read(site, "scenarios")
    assert (version["num_instances"], version["num_quarantined"]) == (3, 1)
    (record,) = read(site, "runs")
    assert dict(record["counts"]) == {
        "test": 3,
        "quarantined:empty_input": 1,
        "read": 7,
        "left out": 1,
        "identical merged": 2,
    }
    variants = [{"name": name, "options": {"question_prefix": f"{name}: "}} for name in ("Q", "R")]
    card(site, fields=OPEN, variants=variants)
    assert ingest(site, lake="variants") == 0
    makes = "read 7, which make 14 = 12 kept (12 test) + 2 quarantined (2 empty_input)\n"
    assert capsys.readouterr().err == f"ingest: notes {makes}"


def test_what_an_address_gives_first_is_pinned_and_other_bytes_are_refused(
    site: Site, address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served = site.folder / "served" / "notes.csv"
    served.write_text(ROWS)
    files = [{"path": "own/notes.csv", "url": f"{address}/notes.csv"}]
    card(site, source={"files": files})
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(site.folder / "cache"))
    assert ingest(site) == 0
    (pin,) = read(site, "pins")
    assert (pin["address"], pin["scenario_name"]) == (f"{address}/notes.csv", "notes")
    stderr = capsys.readouterr().err
    assert f"{pin['address']} is new here and pinned from now on: {pin['pin']}\n" in stderr

    served.write_text(ROWS.replace("Note 6", "Other"), newline="\r\n")
    assert ingest(site) == 0, "the copy of the first fetch"
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(Path("another")))
    capsys.readouterr()
    assert ingest(site) == 1
    assert f"this lake pinned at its first fetch {pin['pin']}" in capsys.readouterr().err
    assert (len(read(site, "pins")), len(read(site, "scenarios"))) == (1, 1)
