"""A site folder and a benchmark folder, small and real, for every test of configuration."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from medhelm_spark.config.registry import Registry
from medhelm_spark.medhelm.site import load_site

# A machine that does other work too is no fault of the code.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

Write = Callable[[str, str], Path]

CARD = """
name: triage
display_name: Triage
description: Made-up triage questions.
access_level: public
source:
  files:
    - path: triage_test.csv
shape: tabular
args: [subject, data_path, jury_config_path]
options:
  template: "{question}"
adapter_spec:
  instructions: Answer with one letter.
  max_tokens: 5
  stop_sequences: ["\\n"]
metrics:
  - name: exact_match
main_metric: exact_match
groups: [clinical, triage]
"""

DEPLOYMENTS = """
model_deployments:
  - name: site/small
    model_name: acme/small
    engine: canned
    client_spec: {args: {mode: echo}}
  - name: site/big
    model_name: acme/big
    engine: openai
    client_spec: {args: {base_url: "https://models.example.org/v1", api_key: "env:SITE_KEY"}}
"""

BENCHMARK = """
name: FEVER
description: Made-up questions about fever.
prompt_file: prompt.txt
dataset_file: data.csv
max_tokens: 8
metrics:
  - name: exact_match
"""

JUDGED = """
name: NOTES
description: Made-up notes.
prompt_file: prompt.txt
dataset_file: data.csv
metrics:
  - name: jury_score
    prompt_file: judge.txt
    judges:
      - name: canned/judge
        model_name: canned/judge
"""

JUDGE_PROMPT = """Judge {RESPONSE} to {QUESTION}.
<rubric_criteria>
{"accuracy": ["score", "explanation"]}
</rubric_criteria>
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file below the test's folder."""

    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def _write_site(folder: Path) -> Path:
    site = folder / "site"
    (site / "scenarios").mkdir(parents=True)
    (site / "scenarios" / "triage.yaml").write_text(CARD, encoding="utf-8")
    (site / "model_deployments.yaml").write_text(DEPLOYMENTS, encoding="utf-8")
    return site


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site folder of the test's own with one scenario and two deployments."""
    return _write_site(tmp_path)


@pytest.fixture
def benchmark(write: Write) -> Path:
    """The configuration of a complete exact-match benchmark."""
    write("bench/prompt.txt", "Case: {case}\nAnswer yes or no.")
    write("bench/data.csv", "id,case,correct_answer\n001,38.5 degrees,yes\n002,36.6 degrees,no\n")
    return write("bench/fever.yaml", BENCHMARK)


@pytest.fixture
def judged(benchmark: Path, write: Write) -> Path:
    """The configuration of a complete jury benchmark, on the same data."""
    write("bench/judge.txt", JUDGE_PROMPT)
    return write("bench/notes.yaml", JUDGED)


@pytest.fixture(scope="session")
def shipped() -> Registry:
    """What ships, alone."""
    return load_site()


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """What ships, with the scenario and deployments of a site like the fixture `site`."""
    return load_site(_write_site(tmp_path_factory.mktemp("registry")))
