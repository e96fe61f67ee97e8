"""Results of HELM's in a folder: what is read, what is left out, and what becomes of it."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.helm_results import HelmFiles
from medhelm_spark.domain.request import FinishReason
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.medhelm_results import rows, survey
from medhelm_spark.medhelm_results.folder import find_results
from medhelm_spark.medhelm_results.spec import helm_run
from medhelm_spark.medhelm_results.states import read_instance_stats, read_states
from medhelm_spark.medhelm_results.stats import read_stats
from medhelm_spark.medhelm_results.stream import BrokenFileError, items
from tests.helm_folder import NAME, run_spec, stat, state, values, write_run

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(suite: str = "s", name: str = NAME, spec: Any = None, **files: Any) -> Path:
        return write_run(tmp_path / "out", suite, name, spec, **files)

    return made


def files_of(folder: Path, **changes: Any) -> HelmFiles:
    known = {
        "path": str(folder),
        "name": NAME,
        "scenario_name": "FEVER",
        "model_deployment": "acme/one",
        "access_level": AccessLevel.PUBLIC,
        "revision": "1",
        "run_spec_ids": ("spec",),
        "data_version": "v",
    }
    return HelmFiles(**(known | changes))


def test_broken_runs_are_named_and_the_others_are_read(make: Make, tmp_path: Path) -> None:
    make(name="A:model=x")
    make(name="B:model=x", run_spec='{"name": "B')
    make(name="C:model=x", run_spec='{"groups": []}')
    (make(name="D:model=x") / "run_spec.json").unlink()
    (make(name="E:model=x") / "stats.json").unlink()
    (tmp_path / "out" / "runs" / "s" / "eval_cache").mkdir()
    output = find_results(tmp_path / "out")
    assert [run.name for run in output.runs] == ["A:model=x"]
    assert {each.name: each.reason for each in output.left_out} == {
        "s/B:model=x": "run_spec.json ends too early",
        "s/C:model=x": "run_spec.json lacks what a RunSpec of HELM's has",
        "s/D:model=x": "it has no run_spec.json",
        "s/E:model=x": "it has neither stats.json nor per_instance_stats.json",
    }
    assert output.read == 5


def test_a_suite_and_a_run_can_be_named_themselves(make: Make, tmp_path: Path) -> None:
    folder = make()
    for path in (folder, folder.parent, folder.parent.parent.parent):
        assert [run.name for run in find_results(path).runs] == [NAME]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="contains no run of HELM's"):
        find_results(tmp_path / "empty")
    with pytest.raises(ConfigError, match="is no folder"):
        find_results(tmp_path / "nothing")


def test_of_a_run_in_two_suites_the_last_counts(make: Make, tmp_path: Path) -> None:
    make(suite="a")
    make(suite="b")
    output = find_results(tmp_path / "out")
    assert [run.suite for run in output.runs] == ["b"]
    assert [each.is_copy for each in output.left_out] == [True]


def test_a_release_gives_the_runs_whose_folders_are_not_there(make: Make, tmp_path: Path) -> None:
    make()
    release = tmp_path / "out" / "releases" / "v1"
    release.mkdir(parents=True)
    other = run_spec("FEVER:model=acme_two")
    listed = [
        {"run_path": "x", "run_spec": run_spec(), "stats": []},
        {"run_path": "y", "run_spec": other, "stats": [stat("exact_match", 0.5)]},
    ]
    (release / "runs.json").write_text(json.dumps(listed))
    schema = {
        "metrics": [{"name": "exact_match", "lower_is_better": False}],
        "run_groups": [
            {"name": "FEVER", "environment": {"main_name": "f1", "main_split": "valid"}}
        ],
    }
    (release / "schema.json").write_text(json.dumps(schema))
    output = find_results(tmp_path / "out")
    assert [run.name for run in output.runs] == [NAME, "FEVER:model=acme_two"]
    assert [(each.name, set(each.runs)) for each in output.releases] == [
        ("v1", {NAME, "FEVER:model=acme_two"})
    ]
    assert output.mains == {"FEVER": ("f1", "valid")}
    assert output.directions == {"exact_match": False}
    (stats,) = read_stats(output.runs[1]).values()
    assert stats.mean == 0.5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"request_states": [{"instance": {"id": "i', "ends too early"),
        ("{'request_states': []}", "is no JSON"),
        ("", "ends too early"),
        ('{"request_states": [{"instance": {}}]}', "without an instance or its id"),
    ],
)
def test_a_broken_file_is_named_and_not_quoted(make: Make, text: str, reason: str) -> None:
    folder = make(scenario_state=text)
    with pytest.raises(BrokenFileError, match=reason) as caught:
        list(read_states(folder))
    assert "scenario_state.json" in str(caught.value)
    assert "request_states" not in str(caught.value)
    (surveyed,) = survey.Survey({})([files_of(folder)])
    assert reason in str(surveyed.problem)


def test_what_python_writes_for_no_number_is_null_and_texts_stay(tmp_path: Path) -> None:
    hostile = 'he said "x": NaN, and [1, Infinity]\n"y": -Infinity}'
    path = tmp_path / "a.json"
    rows_ = [{"mean": float("nan"), "text": hostile, "all": [float("inf"), 1]}] * 3
    for indent in (2, None):
        path.write_text(json.dumps(rows_, indent=indent))
        if indent is None:
            path.write_text(json.dumps([{**row, "all": []} for row in rows_]))
        for row in items(path):
            assert row["mean"] is None
            assert row["text"] == hostile


def test_numbers_that_are_none_have_no_value(make: Make) -> None:
    row = values("id0", exact_match=1.0, f1=float("nan"))
    row["stats"].append({"name": {"name": "co2"}, "count": 0, "sum": 0})
    (read,) = read_instance_stats(make(per_instance_stats=[row]))
    assert read.values == {"exact_match": 1.0}


def test_ids_are_those_of_the_same_instances_in_the_lake(make: Make) -> None:
    folder = make(states=[state("id0"), state("id1", text="36 degrees")])
    (first, second) = rows.identified_requests(files_of(folder), {})
    same = rows.content_of("FEVER", first.content)
    known = {same: "the lake's own"}
    requests = list(rows.identified_requests(files_of(folder), known))
    assert [each.instance_id for each in requests] == ["the lake's own", second.instance_id]
    assert first.instance_id != second.instance_id


def test_a_perturbed_copy_has_the_id_of_its_original(make: Make) -> None:
    copy = state("id0", text="39 DEGREES")
    copy["instance"]["perturbation"] = {"name": "upper", "computed_on": "perturbed"}
    folder = make(states=[state("id0"), copy])
    first, second = rows.identified_requests(files_of(folder), {})
    assert first.instance_id == second.instance_id
    made = list(rows.HelmInstances({})([files_of(folder)]))
    assert [(each.perturbation, each.input) for each in made] == [
        ("", "39 degrees"),
        ("upper", "39 DEGREES"),
    ]


def test_several_answers_to_one_instance_are_trials(make: Make) -> None:
    folder = make(states=[state("id0"), state("id0", answer="no")])
    assert [each.trial_index for each in rows.identified_requests(files_of(folder), {})] == [0, 1]
    made = list(rows.FromStates(rows.results, {})([files_of(folder)]))
    assert len({each.request_id for each in made}) == 2
    assert len(list(rows.HelmInstances({})([files_of(folder)]))) == 1


def test_redacted_texts_are_no_texts(make: Make) -> None:
    def redacted(helm_id: str) -> Any:
        made = state(helm_id, text="[redacted]", answer="[redacted]")
        made["instance"]["references"][0]["output"]["text"] = "[redacted]"
        made["request"]["prompt"] = "[redacted]"
        return made

    folder = make(states=[redacted("id0"), redacted("id1")])
    (surveyed,) = survey.Survey({})([files_of(folder)])
    assert (surveyed.states, surveyed.answers, surveyed.silent) == (2, 0, 2)
    assert not surveyed.has_inputs
    run = [files_of(folder)]
    assert not list(rows.FromStates(rows.results, {})(run))
    assert not list(rows.FromStates(rows.prompts, {})(run))
    made = list(rows.HelmInstances({})(run))
    assert [each.input for each in made] == ["", ""]
    assert len({each.instance_id for each in made}) == 2, "HELM's own ids differ"
    assert "redacted" not in repr(made)


def test_an_answer_keeps_reason_thinking_and_time(make: Make) -> None:
    one = state("id0")
    one["result"]["completions"] = [
        {
            "text": "yes",
            "logprob": -0.5,
            "tokens": [{"text": "yes", "logprob": -0.5}],
            "finish_reason": {"reason": "length"},
            "thinking": {"text": "39 is much"},
        }
    ]
    failed = state("id1", text="40")
    failed["result"] = {"success": False, "completions": [], "error": "secret text"}
    folder = make(states=[one, failed])
    good, bad = rows.FromStates(rows.results, {})([files_of(folder)])
    (completion,) = good.completions
    assert completion.finish_reason is FinishReason.LENGTH
    assert (completion.thinking, completion.logprob) == ("39 is much", -0.5)
    assert good.completed_at.year == 2023
    assert bad.failure is not None
    assert "secret" not in repr(bad)


def test_verdicts_are_kept_by_judge_and_strange_ones_are_counted(make: Make) -> None:
    judged = {
        "fever": {
            "prompt_text": "the judge's prompt",
            "gpt": {"accuracy": {"score": 4, "explanation": "fine"}, "clarity": {"score": "5"}},
            "llama": {"accuracy": {"grade": "A"}},
        },
        "health_bench": {
            "gpt": {"gradings": [{"criteria_met": True}, {"criteria_met": False}]},
        },
        "empty": {"prompt_text": None, "empty_output_equivalence_judgement": False},
    }
    folder = make(states=[state("id0", annotations=judged)])
    (surveyed,) = survey.Survey({})([files_of(folder)])
    assert (surveyed.verdicts, surveyed.unread) == (3, 1)
    made = list(rows.FromStates(rows.annotations, {})([files_of(folder)]))
    assert [(each.annotator, each.judge, each.rubric_item) for each in made] == [
        ("fever", "gpt", None),
        ("health_bench", "gpt", 0),
        ("health_bench", "gpt", 1),
    ]
    assert [score.score for score in made[0].scores] == [4.0, 5.0]
    assert [each.scores[0].score for each in made[1:]] == [1.0, 0.0]


def test_without_the_large_file_the_display_files_are_read(make: Make) -> None:
    whole = [state("id0"), state("id1", text="36 degrees", answer="no")]
    folder = make(
        instances=[each["instance"] for each in whole],
        display_requests=[
            {
                "instance_id": each["instance"]["id"],
                "train_trial_index": 0,
                "request": each["request"],
            }
            for each in whole
        ],
        display_predictions=[
            {
                "instance_id": each["instance"]["id"],
                "train_trial_index": 0,
                "predicted_text": each["result"]["completions"][0]["text"],
                "stats": {"exact_match": 1.0},
            }
            for each in whole
        ],
    )
    other = make(suite="t", states=whole)
    first, second = (
        rows.identified_requests(files_of(folder), {}),
        rows.identified_requests(files_of(other), {}),
    )
    assert [each.instance_id for each in first] == [each.instance_id for each in second]
    prompts = [rows.FromStates(rows.prompts, {})([files_of(each)]) for each in (folder, other)]
    assert [each.text for each in prompts[0]] == [each.text for each in prompts[1]]
    texts = [
        each.completions[0].text for each in rows.FromStates(rows.results, {})([files_of(folder)])
    ]
    assert texts == ["yes", "no"]
    assert [each.values for each in read_instance_stats(folder)] == [{"exact_match": 1.0}] * 2


def test_display_files_of_two_orders_are_refused(make: Make) -> None:
    ids = ("id0", "id1")
    folder = make(
        display_predictions=[{"instance_id": each, "predicted_text": ""} for each in ids],
        display_requests=[{"instance_id": each, "request": {}} for each in reversed(ids)],
    )
    with pytest.raises(BrokenFileError, match="not of one order"):
        list(read_states(folder))


def test_with_values_alone_instances_are_known_by_their_ids(make: Make) -> None:
    folder = make(
        per_instance_stats=[values("id0", f1=1), values("id1", f1=0), values("id0", em=1)]
    )
    (surveyed,) = survey.Survey({})([files_of(folder)])
    assert (surveyed.states, surveyed.stats, surveyed.answers) == (2, ("em", "f1"), 0)
    made = list(rows.StatsOfInstances({})([files_of(folder)]))
    assert len(made) == 3
    assert made[0].instance_id == made[2].instance_id != made[1].instance_id


def test_values_of_an_instance_that_was_not_asked_break_a_run(make: Make) -> None:
    folder = make(states=[state("id0")], per_instance_stats=[values("id9", f1=1)])
    (surveyed,) = survey.Survey({})([files_of(folder)])
    assert surveyed.problem == "it has stats of an instance that was not asked"


def test_the_level_is_the_cards_and_never_guessed_open(make: Make, tmp_path: Path) -> None:
    cards = load_site(None).cards

    def level(name: str, stated: AccessLevel | None = None, **changes: Any) -> AccessLevel:
        folder = make(name=name, spec=run_spec(name, **changes))
        output = find_results(folder)
        return helm_run(output.runs[0], output, cards, stated).access_level

    own = {"class_name": "helm.x.XScenario", "args": {"data_path": "notes.csv"}}
    foreign = {"class_name": "acme.PubMedQA", "args": {}}
    assert level("pubmed_qa:model=a") is AccessLevel.PUBLIC
    assert level("pubmed_qa:model=b", scenario_spec=own) is AccessLevel.PRIVATE
    assert level("pubmed_qa:model=c", scenario_spec=foreign) is AccessLevel.PRIVATE
    assert level("pubmed_qa:model=d", AccessLevel.GATED) is AccessLevel.GATED
    assert level("FEVER:model=e") is AccessLevel.PRIVATE
    assert level("FEVER:model=f", AccessLevel.PUBLIC) is AccessLevel.PUBLIC
    assert level("mimic_rrs:model=g", AccessLevel.PUBLIC) is AccessLevel.GATED


def test_a_known_scenario_has_its_cards_name_arguments_and_metric(make: Make) -> None:
    cards = load_site(None).cards
    name = "mmlu:subject=virology,method=multiple_choice_joint,model=acme_one"
    output = find_results(make(name=name, spec=run_spec(name)))
    run = helm_run(output.runs[0], output, cards, None)
    assert run.scenario_name == "mmlu:subject=virology"
    assert run.main_metric == cards["mmlu"].main_metric
    assert (run.model, run.deployment) == ("acme/one", "acme/one")


def test_an_adapter_that_asks_with_pictures_is_left_out(make: Make) -> None:
    adapter = {"method": "generation_multimodal", "model": "a/b"}
    output = find_results(make(spec=run_spec(adapter_spec=adapter)))
    with pytest.raises(BrokenFileError, match="adapter method 'generation_multimodal'"):
        helm_run(output.runs[0], output, {}, None)


def test_sub_splits_are_merged_as_in_helm(make: Make) -> None:
    stats = [stat("f1", 1.0, sub_split="a"), stat("f1", 0.0, sub_split="b"), stat("em", 1.0)]
    stats.append({"name": {"name": "co2", "split": "test"}, "count": 0, "sum": 0})
    output = find_results(make(stats=stats))
    read = {key[0]: counted for key, counted in read_stats(output.runs[0]).items()}
    assert (read["f1"].count, read["f1"].mean) == (2, 0.5)
    assert read["co2"].mean is None


def test_a_large_file_is_never_held(tmp_path: Path) -> None:
    path = tmp_path / "scenario_state.json"
    with path.open("w") as stream:
        stream.write('{"request_states": [\n')
        for i in range(4000):
            stream.write(("" if i == 0 else ",\n") + json.dumps(state(f"id{i}", text="x" * 10_000)))
        stream.write("]}")
    assert path.stat().st_size > 80_000_000
    tracemalloc.start()
    count = sum(1 for _ in read_states(tmp_path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 4000
    assert peak < 8_000_000


def test_the_real_sample(real_data: Path) -> None:
    output = find_results(real_data / "helm_output_sample")
    assert [run.suite for run in output.runs] == ["sample", "sample"]
    for run in output.runs:
        (surveyed,) = survey.Survey({})([files_of(run.path)])
        assert (surveyed.states, surveyed.answers, surveyed.problem) == (60, 60, None)
        assert surveyed.has_inputs
        assert "exact_match" in surveyed.stats


LINKED = ("run_spec.json", "scenario_state.json", "stats.json", "per_instance_stats.json")


@pytest.mark.attack("inputs", "a results folder whose files are links to files elsewhere")
@pytest.mark.parametrize("file", [*LINKED, "the run's folder"])
def test_a_run_whose_files_are_links_out_of_the_folder_is_left_out(
    tmp_path: Path, file: str
) -> None:
    write_run(tmp_path / "out", states=[state("a")], stats=[stat("exact_match", 1.0)])
    write_run(tmp_path / "own", name="OTHER", stats=[stat("exact_match", 1.0)])
    (run,) = (path for path in (tmp_path / "out" / "runs" / "s").iterdir())
    linked = run if file == "the run's folder" else run / file
    if linked.exists():
        linked.rename(tmp_path / "elsewhere")
    else:
        (tmp_path / "elsewhere").write_text("[]")
    linked.symlink_to(tmp_path / "elsewhere")
    found = find_results(tmp_path / "out")
    assert not found.runs
    assert [each.reason for each in found.left_out] == [f"{linked.name} leads out of the folder"]


@pytest.mark.parametrize("form", ["absolute", "parents", "a folder and parents", "link"])
def test_a_run_of_a_release_whose_name_leads_out_of_the_folder_is_left_out(
    tmp_path: Path, form: str
) -> None:
    private = write_run(tmp_path / "private", states=[state("a")], stats=[stat("exact_match", 1.0)])
    release = tmp_path / "out" / "releases" / "v1"
    (release / "runs" / "med:x=").mkdir(parents=True)
    (release / "runs" / "link").symlink_to(private)
    up = f"../../../../{private.relative_to(tmp_path)}"
    names = {
        "absolute": str(private),
        "parents": up,
        "a folder and parents": f"med:x=/../{up}",
        "link": "link",
    }
    listed = [
        {"run_spec": run_spec(name), "stats": [stat("exact_match", 0.5)]}
        for name in (names[form], "FEVER:model=acme_two")
    ]
    (release / "runs.json").write_text(json.dumps(listed))
    output = find_results(tmp_path / "out")
    assert [run.name for run in output.runs] == ["FEVER:model=acme_two"], "the others are read"
    (left_out,) = output.left_out
    assert left_out.name == f"v1/{names[form]}"
    assert left_out.reason.endswith("leads out of the folder")


def test_links_within_the_folder_are_followed_as_helm_writes_them(tmp_path: Path) -> None:
    write_run(tmp_path / "out", stats=[stat("exact_match", 1.0)])
    (tmp_path / "out" / "runs" / "latest").symlink_to(tmp_path / "out" / "runs" / "s")
    assert [run.name for run in find_results(tmp_path / "out").runs] == [NAME]
    assert find_results(tmp_path / "out" / "runs" / "latest").runs


@pytest.mark.attack("inputs", "control characters in names, at every entrance")
@pytest.mark.parametrize("sign", ["\x1b[2J", "\x07", "\x9b", "\u202e", "\u200b"])
def test_a_run_with_a_name_that_cannot_be_shown_is_left_out(tmp_path: Path, sign: str) -> None:
    write_run(tmp_path / "a", name="run", spec=run_spec(f"x{sign}:model=m"), stats=[stat("e", 1)])
    adapter = {**run_spec()["adapter_spec"], "model": f"acme/{sign}"}
    write_run(tmp_path / "b", name="run", spec=run_spec(adapter_spec=adapter), stats=[stat("e", 1)])
    for folder in ("a", "b"):
        (left_out,) = find_results(tmp_path / folder).left_out
        assert left_out.reason == "run_spec.json has a name that is not printable"
    write_run(tmp_path / "c", stats=[stat(f"exact{sign}", 1.0)])
    (run,) = find_results(tmp_path / "c").runs
    with pytest.raises(BrokenFileError, match="a stat has a name that is not printable"):
        read_stats(run)
