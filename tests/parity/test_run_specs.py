"""Run entries: every one that ships with MedHELM means here what it means there, in compat.

Paths of Stanford's machines are put below a folder of our own, with empty files where MedHELM's
entries name files. Its deployments are named in a site's file, because the gateways behind them are
Stanford's. Compared are names, adapters, stats, groups, arguments and the files that are read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.ids import identity_of
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.expand import Selection, expand
from medhelm_spark.medhelm.run_entries import load_conf, parse_entry
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.metrics import stats_of
from tests.parity.entries import MODEL, MORE, with_local_paths
from tests.parity.peer import Peer

SUMMARIZATION = (
    *("rouge_1", "rouge_2", "rouge_l"),
    *(f"summarization_{name}" for name in ("coverage", "density", "compression")),
)
EHR_SQL = (
    *("execution_accuracy", "query_validity", "precision_answerable", "recall_answerable"),
    *("total_predicted_answerable", "total_ground_truth_answerable"),
)
STATS: Mapping[str, tuple[str, ...]] = {
    "MedCalcBenchMetric": ("medcalc_bench_accuracy",),
    "MedecMetric": ("medec_error_flag_accuracy", "medec_error_sentence_accuracy"),
    "EhrSqlMetric": tuple(f"ehr_sql_{name}" for name in EHR_SQL),
    "SCTBenchMetric": ("sct_score", "sct_expert_set_membership"),
    "MIMICIVBillingCodeMetric": tuple(
        f"mimiciv_billing_code_{name}" for name in ("precision", "recall", "f1")
    ),
    "SummarizationMetric": SUMMARIZATION,
    # Of requests that ask for each reference apart, which no scenario here makes.
    "BasicReferenceMetric": (),
    "InstancesPerSplitMetric": (),
}
"""The stats of MedHELM's metric classes; those of its basic set are computed where asked for."""

OWN_TEXT = 4
"""A prefix or suffix of more words is an instruction: ours has other words, but the same end."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("entries")


@pytest.fixture(scope="module")
def conf_files(medhelm: Peer, folder: Path) -> dict[str, Path]:
    """MedHELM's files of run entries, moved."""
    paths = {}
    for name, text in medhelm.ask("conf_files").items():
        paths[name] = folder / name
        paths[name].write_text(with_local_paths(text, folder), encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def registry(medhelm: Peer, conf_files: dict[str, Path], folder: Path) -> Registry:
    """A site that has MedHELM's models, and whose deployments are those of MedHELM's entries."""
    text = "".join(path.read_text(encoding="utf-8") for path in conf_files.values())
    pairs = set(re.findall(r"model=([^,\"]+),model_deployment=([^,\"]+)", text))
    deployments = [
        {"name": name, "model_name": model, "engine": "canned"} for model, name in sorted(pairs)
    ]
    site = folder / "site"
    site.mkdir()
    content = yaml.safe_dump({"model_deployments": deployments})
    (site / "model_deployments.yaml").write_text(content, encoding="utf-8")
    (site / "model_metadata.yaml").write_text(medhelm.ask("model_metadata"), encoding="utf-8")
    return load_site(site)


@pytest.fixture(scope="module")
def ours_and_theirs(
    medhelm: Peer, conf_files: dict[str, Path], registry: Registry, folder: Path
) -> list[tuple[ResolvedRun, dict[str, Any]]]:
    """Every run of MedHELM's files that is no agent's, and of `MORE`, resolved here and there."""
    texts = [
        text
        for name in conf_files
        if "dspy" not in name
        for text in medhelm.ask("entries", path=str(conf_files[name]))
    ]
    texts = [text for text in texts if not text.startswith("health_admin_bench")]
    assert len(texts) == 702
    further_texts = [
        with_local_paths(f"{text}{',' if ':' in text else ':'}{MODEL}", folder) for text in MORE
    ]
    texts = [*dict.fromkeys([*texts, *further_texts])]
    entries = [parse_entry(text, where=f"entry {index}") for index, text in enumerate(texts)]
    compat = Selection(compat=True)
    own_runs = [expand([entry], registry, base_dir=folder, selection=compat) for entry in entries]
    return [
        (run, spec)
        for (run,), spec in zip(own_runs, medhelm.ask("run_specs", descriptions=texts), strict=True)
    ]


def test_our_reader_finds_the_same_entries(medhelm: Peer, conf_files: dict[str, Path]) -> None:
    counts = {}
    for name, path in conf_files.items():
        expected = medhelm.ask("entries", path=str(path))
        assert list(load_conf(path)) == [
            parse_entry(text, where=f"{path}:entries[{index}]", priority=1)
            for index, text in enumerate(expected)
        ]
        counts[name.removeprefix("run_entries_medhelm_").removesuffix(".conf")] = len(expected)
    assert counts == {"public": 222, "gated": 143, "private_stanford": 338, "dspy": 64}


def test_run_names(ours_and_theirs: list[tuple[ResolvedRun, dict[str, Any]]]) -> None:
    assert not {spec["name"]: run.name for run, spec in ours_and_theirs if run.name != spec["name"]}


def same_text(ours: str, theirs: str) -> bool:
    """Equal, or both an instruction that ends alike."""
    if len(theirs.split()) <= OWN_TEXT:
        return ours == theirs
    tail = theirs[len(theirs.rstrip(": \n")) :]
    return ours.endswith(tail)


def adapter_differences(run: ResolvedRun, spec: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The fields of both AdapterSpecs that differ; a field of ours alone counts where it is set."""
    theirs, identity = spec["adapter_spec"], identity_of(run.adapter_spec)
    for name, value in asdict(run.adapter_spec).items():
        if name not in identity:
            continue
        their_value = tuple(theirs[name] or ()) if isinstance(value, tuple) else theirs[name]
        is_text = name.endswith(("prefix", "suffix"))
        if name != "instructions" and not (
            same_text(value, their_value) if is_text else value == their_value
        ):
            yield name, value, their_value


def test_adapter_specs(ours_and_theirs: list[tuple[ResolvedRun, dict[str, Any]]]) -> None:
    differences = {
        run.card.name: fields
        for run, spec in ours_and_theirs
        if (fields := [*adapter_differences(run, spec)])
    }
    assert not differences
    other_deployments = {
        run.card.name: (run.deployment.model, run.deployment.name)
        for run, spec in ours_and_theirs
        if [run.deployment.model, run.deployment.name]
        != [spec["adapter_spec"][key] for key in ("model", "model_deployment")]
    }
    assert not other_deployments


def expected_stats(metrics: Sequence[dict[str, Any]]) -> set[str]:
    """The stats by which MedHELM's metrics go, without its basic set."""
    stat_names: set[str] = set()
    for metric in metrics:
        name, args = metric["class_name"].rpartition(".")[2], metric["args"]
        if name == "BasicGenerationMetric":
            stat_names.update(args["names"])
        elif name == "LLMJuryMetric":
            stat_names.add(args["metric_name"])
        elif name != "GPQAChainOfThoughtMetric":  # not in MedHELM's package, so that its run fails
            stat_names.update(STATS[name])
    return stat_names


def test_metric_names(ours_and_theirs: list[tuple[ResolvedRun, dict[str, Any]]]) -> None:
    missing = {}
    for run, spec in ours_and_theirs:
        expected = expected_stats(spec["metrics"])
        if run.card.name == "chw_care_plan":  # its reference is the source note itself
            expected -= set(SUMMARIZATION)
        if absent := expected - {stat.name for stat in stats_of(run.metrics)}:
            missing[run.card.name] = absent
        assert bool(run.annotators) == ("jury" in str(spec["metrics"]))
    assert not missing


def test_groups(ours_and_theirs: list[tuple[ResolvedRun, dict[str, Any]]]) -> None:
    assert not {
        run.card.name: (run.groups, spec["groups"])
        for run, spec in ours_and_theirs
        if set(run.groups) != set(spec["groups"])
    }


def test_arguments_of_scenarios(ours_and_theirs: list[tuple[ResolvedRun, dict[str, Any]]]) -> None:
    """What MedHELM hands to its scenario is what the card was bound with, but for files."""
    differences = {}
    for run, spec in ours_and_theirs:
        args = {
            key: str(value) for key, value in spec["scenario"]["args"].items() if key != "data_path"
        }
        options = {
            key: run.card.options.get(
                key, args[key] if args[key] in DEFAULTS.get(key, ()) else None
            )
            for key in args
        }
        if {key: value.lower() for key, value in args.items()} != {
            key: str(value).lower() for key, value in options.items()
        }:
            differences[run.name] = (args, options)
    assert not differences


DEFAULTS = {"category": ("None",), "subject": ("all",), "language": ("en",)}
"""What MedHELM hands over where an entry leaves an argument out, and a card then has no option."""


def test_files_behind_data_path(
    medhelm: Peer, ours_and_theirs: list[tuple[ResolvedRun, dict[str, Any]]], folder: Path
) -> None:
    """MedHELM opens the very file, or begins in the very folder, that the card reads from."""
    cases = {
        run.card.name: (run, spec["scenario"])
        for run, spec in ours_and_theirs
        if "data_path" in spec["scenario"]["args"]
    }
    touched_paths = medhelm.ask(
        "touched", scenarios=[spec for _, spec in cases.values()], folder=str(folder)
    )
    untouched = {}
    for (name, (run, _)), paths in zip(cases.items(), touched_paths, strict=True):
        source = run.card.source
        own_paths = [*(file.path for file in source.files), *(one.path for one in source.lookups)]
        own_paths += source.history.files if source.history else ()
        own_locations = {str(Path(path)) for path in own_paths} | {
            str(Path(path).parent) for path in own_paths
        }
        touched_locations = {str(Path(path)) for path in paths} | {
            str(Path(path).parent) for path in paths
        }
        if not own_locations & touched_locations:
            untouched[name] = (own_paths, paths)
    assert not untouched
    assert len(cases) == 40


def test_the_jury_of_jury_config_path(
    ours_and_theirs: list[tuple[ResolvedRun, dict[str, Any]]],
) -> None:
    jury_runs = [
        (run, spec)
        for run, spec in ours_and_theirs
        if run.annotators and "first" in str(spec["annotators"])
    ]
    assert len(jury_runs) == 2
    for run, spec in jury_runs:
        models = spec["annotators"][0]["args"]["annotator_models"]
        assert {
            judge.name: {"model_name": judge.model, "model_deployment": judge.model_deployment}
            for judge in run.annotators[0].jury.judges
        } == models


def test_agents_and_optimised_prompts_are_refused_by_name(
    conf_files: dict[str, Path], registry: Registry, folder: Path
) -> None:
    refused = 0
    for path in conf_files.values():
        for entry in load_conf(path):
            is_refused = entry.name == "health_admin_bench" or "-dspy-" in str(entry.args["model"])
            if not is_refused:
                continue
            with pytest.raises(ConfigError) as caught:
                expand([entry], registry, base_dir=folder)
            name = entry.name if entry.name == "health_admin_bench" else entry.args["model"]
            assert f"{name!r} is not supported: " in str(caught.value)
            assert str(caught.value).count(". ") == 0
            refused += 1
    assert refused == 1 + 64
