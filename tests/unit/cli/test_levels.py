"""Commands refuse a level that nobody may state, before they read any data."""

from pathlib import Path

import pytest
import yaml

from medhelm_spark.cli import main
from medhelm_spark.config.resources import conf_path
from tests.cards import NOTES

REFUSED = 1


def command(folder: Path, *arguments: str) -> int:
    flags = ["-o", str(folder / "lake"), "--local-path", str(folder / "prod_env")]
    return main([*arguments, *flags])


@pytest.mark.attack("levels", "a site's card that says public of a gated scenario that ships")
@pytest.mark.attack("levels", "a site's card whose data is a data version of the lake")
@pytest.mark.attack("levels", "ward notes by --source under a public card, without a word")
def test_what_a_card_may_not_say_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cards = tmp_path / "prod_env" / "scenarios"
    cards.mkdir(parents=True)
    shipped = conf_path("scenarios", "mimic_bhc.yaml")
    looser = cards / "mimic_bhc.yaml"
    looser.write_text(shipped.read_text().replace("access_level: gated", "access_level: public"))
    assert command(tmp_path, "ingest", "--scenario", "mimic_bhc") == REFUSED
    assert "a site's card may be stricter, never looser" in capsys.readouterr().err
    looser.unlink()

    (cards / "notes.yaml").write_text(
        yaml.safe_dump({**NOTES, "source": {"data_version": "0" * 32}})
    )
    assert command(tmp_path, "ingest", "--scenario", "notes") == REFUSED
    assert "source.data_version is no key of a card" in capsys.readouterr().err

    (cards / "notes.yaml").write_text(yaml.safe_dump(NOTES))
    assert command(tmp_path, "ingest", "--scenario", "notes", "--source", "absent.csv") == REFUSED
    printed = capsys.readouterr().err
    assert "add --access-level public|gated|private to the command" in printed
    gated = ["--source", "absent.jsonl", "--access-level", "public"]
    assert command(tmp_path, "ingest", "--scenario", "mimic_bhc", *gated) == REFUSED
    assert "medhelm-spark level lower" in capsys.readouterr().err
    assert not (tmp_path / "lake").exists()
