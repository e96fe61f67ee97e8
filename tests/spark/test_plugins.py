"""docs/plugins.md as it stands: its package, card and data, on the driver and in executors."""

import re
import shlex
import zipfile
from collections.abc import Iterator

import pytest
import yaml

from medhelm_spark import plugins
from tests.meta.tree import ROOT
from tests.spark.conftest import Site

PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`(\S+\.\w+)`\n\n```\w*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
PACKAGE = "hospital_eval/__init__.py"
CARD = "prod_env/scenarios/letters.yaml"
JUDGES = [{"name": "j", "model": "acme/judge", "model_deployment": "acme/judge"}]


@pytest.fixture(autouse=True)
def without_plugins() -> Iterator[None]:
    yield
    plugins.activate()


def arguments() -> list[str]:
    """What the page's own command says, for a model that is always there."""
    line = next(one for one in PAGE.splitlines() if one.startswith("medhelm-spark run"))
    words = shlex.split(line)[2:]
    place = words.index("--suite")
    del words[place : place + 2]
    return [word.replace("huggingface/smollm2-135m-instruct", "acme/plain") for word in words]


def test_the_page_runs(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(FILES) == [PACKAGE, CARD, "prod_env/rubrics/plain.md", "letters.jsonl"]
    for name, content in FILES.items():
        (site.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (site.folder / name).write_text(content, encoding="utf-8")
    with zipfile.ZipFile(site.folder / "hospital_eval.zip", "w") as archive:
        archive.write(site.folder / PACKAGE, PACKAGE)
    site.spark.sparkContext.addPyFile(str(site.folder / "hospital_eval.zip"))  # --py-files
    replies = {"knee is fine": "Your knee is well. Regards"}
    site.deploy("acme/plain", mode="script", replies=replies, text="Come in May.")
    site.deploy("acme/judge", mode="script", replies={"May": "No"}, text="Yes")
    judges = yaml.safe_dump({"judges": JUDGES})
    (site.folder / "prod_env" / "judges.yaml").write_text(judges, encoding="utf-8")
    without = [word for word in arguments() if word not in ("--plugins", "hospital_eval")]
    assert site.run(*without) == 1
    assert "unknown shape 'letter'" in capsys.readouterr().err
    assert site.run(*arguments()) == 0
    assert "plug-in hospital_eval (" in capsys.readouterr().err
    (cell,) = site.board()
    assert (cell["mean"], cell["count"], cell["main_metric"]) == (0.5, 2, "greets")
    said = [score["score"] for row in site.rows("annotations") for score in row["scores"]]
    assert sorted(said) == [0.0, 1.0]
    texts = {row["input"] for row in site.rows("instances")}
    assert "Dear Ms A,\n\nyour knee is fine.\n\nRegards" in texts
    assert site.run(*arguments()) == 0
    assert "\n0 model calls" in capsys.readouterr().err
