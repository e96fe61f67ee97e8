"""What a caller may hand over as run entries, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.domain.groups import group_columns
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.workspace.entries import Entries, columns_named, entries_of

MODEL = "huggingface/smollm2-135m-instruct"
ENTRY = f"pubmed_qa:model={MODEL}"


def conf(folder: Path) -> Path:
    path = folder / "entries.conf"
    path.write_text(f'entries: [{{description: "{ENTRY}", priority: 1}}]')
    return path


def test_one_text_is_a_list_of_one(tmp_path: Path) -> None:
    path = conf(tmp_path)
    for paths in (str(path), path, [str(path)], [path]):
        (entry,) = entries_of((), {"conf_paths": paths}).load(None).entries
        assert entry.name == "pubmed_qa"
    for entries in (ENTRY, [ENTRY], Entries(run_entries=ENTRY)):
        assert len(entries_of(entries, {}).load(None).entries) == 1
    assert len(entries_of((), {"run_entries": ENTRY}).load(None).entries) == 1
    loaded = entries_of("pubmed_qa", {"models_to_run": MODEL}).load(None)
    (run,) = loaded.resolve(load_site())
    assert run.deployment.name == MODEL
    grouped = entries_of(ENTRY, {"groups_to_run": "pubmed_qa"}).load(None)
    assert len(grouped.resolve(load_site())) == 1


def test_run_entries_at_an_address_are_refused_before_anything_is_read() -> None:
    for address in ("s3://ward/entries.conf", Path("s3://ward/entries.conf")):
        with pytest.raises(ConfigError, match="not from an address"):
            entries_of((), {"conf_paths": [address]}).load(None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compat": "helm"}, "compat is 'helm'; allowed: 'medhelm-0.8' or None"),
        ({"compat": True}, "compat is True; allowed"),
        ({"compat": ""}, "compat is ''; allowed"),
        ({"num_threads": 0}, "num_threads is 0; allowed: a whole number of at least 1"),
        ({"num_threads": -3}, "num_threads is -3"),
        ({"priority": "1"}, "priority is '1'; allowed: a whole number"),
        ({"models_to_run": [1]}, "models_to_run contains a int"),
        ({"run_entries": "b:model=c"}, "run_entries is given twice"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        entries_of(ENTRY, options).load(None)
    assert message in str(caught.value)


def test_a_path_is_no_run_entry(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="run_entries contains a PosixPath; allowed"):
        entries_of(conf(tmp_path), {}).load(None)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="option 'max_instances'"):
        entries_of(ENTRY, {"max_instances": 3})


def test_compat_of_the_known_release_is_taken() -> None:
    loaded = entries_of(ENTRY, {"compat": "medhelm-0.8"}).load(None)
    (run,) = loaded.resolve(load_site())
    assert run.deployment.on_failure


def test_blanks_around_the_names_of_crossed_columns_do_not_count() -> None:
    """On the command line, and in a file of a card or benchmark."""
    assert columns_named("ward * pat, sex") == columns_named(["ward*pat", " sex "])
    spaced, plain = (group_columns([name], {}) for name in ("ward * pat", "ward*pat"))
    assert spaced == plain
    assert [each.columns for each in plain] == [("ward",), ("pat",), ("ward", "pat")]
