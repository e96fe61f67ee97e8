"""`answer_extraction` in a card and in a benchmark file: both forms, and what is refused."""

from pathlib import Path

import pytest

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.run import STRICT, AnswerExtraction, ExtractionMethod, Unreadable
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.medhelm.site import load_site
from tests.unit.conftest import Write
from tests.unit.runs import SMALL, expand_one

HEADER = "id,case,correct_answer,incorrect_answers\n"


def read(benchmark: Path, text: str) -> AnswerExtraction:
    benchmark.write_text(f"{benchmark.read_text()}answer_extraction: {text}\n")
    return load_benchmark(benchmark).card.answer_extraction


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("strict", STRICT),
        ("choice", AnswerExtraction(method=ExtractionMethod.CHOICE)),
        ("yes_no", AnswerExtraction(method=ExtractionMethod.YES_NO)),
        ("{method: choice}", AnswerExtraction(method=ExtractionMethod.CHOICE)),
        (
            "{method: choice, options: [urgent, routine]}",
            AnswerExtraction(method=ExtractionMethod.CHOICE, options=("urgent", "routine")),
        ),
        (
            "{method: yes_no, unreadable: unscored}",
            AnswerExtraction(method=ExtractionMethod.YES_NO, unreadable=Unreadable.UNSCORED),
        ),
        (
            "{method: json_field, field: result.code}",
            AnswerExtraction(method=ExtractionMethod.JSON_FIELD, field="result.code"),
        ),
        (
            "{method: regex, pattern: 'grade ([0-9])'}",
            AnswerExtraction(method=ExtractionMethod.REGEX, pattern="grade ([0-9])"),
        ),
    ],
)
def test_a_benchmark_declares_it(benchmark: Path, text: str, expected: AnswerExtraction) -> None:
    assert read(benchmark, text) == expected


@pytest.mark.parametrize(
    ("rows", "method"),
    [
        ('1,a,yes,"[""no""]"\n2,b, No ,"[""YES""]"\n3,c,maybe,\n', ExtractionMethod.YES_NO),
        ('1,a,B,"[""A"", ""C""]"\n2,b,c,\n', ExtractionMethod.CHOICE),
        ('1,a,yes,"[""unclear""]"\n', ExtractionMethod.STRICT),
        ("1,a,yes,\n2,b,A,\n", ExtractionMethod.STRICT),
        ("1,a,1,\n2,b,2,\n", ExtractionMethod.STRICT),
        ("1,a,yes,[broken\n2,b,,\n", ExtractionMethod.YES_NO),
        ("1,a,,\n", ExtractionMethod.STRICT),
    ],
)
def test_references_say_how_answers_are_read_where_nothing_else_does(
    benchmark: Path, write: Write, rows: str, method: ExtractionMethod
) -> None:
    write("bench/data.csv", HEADER + rows)
    loaded = load_benchmark(benchmark)
    assert loaded.card.answer_extraction.method is method
    assert loaded.is_reading_default == (method is not ExtractionMethod.STRICT)
    benchmark.write_text(benchmark.read_text() + "answer_extraction: strict\n")
    stated = load_benchmark(benchmark)
    assert (stated.card.answer_extraction, stated.is_reading_default) == (STRICT, False)


def declaring(labels: str, more: str = "") -> str:
    return (
        f"sensitivity\n    args: {{labels: '{labels}', positive: '{labels.split('|')[0]}'{more}}}"
    )


@pytest.mark.parametrize(
    ("metric", "method", "options"),
    [
        (declaring("Y|N"), ExtractionMethod.CHOICE, ("Y", "N")),
        (declaring("urgent|emergency"), ExtractionMethod.CHOICE, ("urgent", "emergency")),
        (declaring("yes|no"), ExtractionMethod.YES_NO, None),
        (declaring("yes|no|unclear"), ExtractionMethod.CHOICE, ("yes", "no", "unclear")),
        (declaring("A|AB"), ExtractionMethod.STRICT, None),
        ("classification\n    args: {labels: a.b|c}", ExtractionMethod.STRICT, None),
        (
            "classification\n    args: {labels: fever|cough, delimiter: ','}",
            ExtractionMethod.STRICT,
            None,
        ),
        (declaring("Y|N") + "\n  - name: rouge_l", ExtractionMethod.STRICT, None),
    ],
)
def test_labels_of_a_metric_are_the_options_of_all_instances(
    benchmark: Path,
    write: Write,
    registry: Registry,
    metric: str,
    method: ExtractionMethod,
    options: tuple[str, ...] | None,
) -> None:
    write("bench/data.csv", HEADER + "1,a,urgent,\n2,b,Y,\n")
    own = benchmark.read_text()
    entry = f"medhelm_configurable_benchmark:config_path={benchmark},{SMALL}"
    for dataset in ("data.csv", "s3://bucket/data.csv"):
        text = own.replace("exact_match", metric).replace("data.csv", dataset)
        benchmark.write_text(text)
        run = expand_one(registry, entry)
        how = run.card.answer_extraction
        assert (how.method, how.options) == (method, options)
        assert run.is_reading_default == (method is not ExtractionMethod.STRICT)


def test_an_entrys_method_has_the_options_that_are_declared(
    benchmark: Path, registry: Registry
) -> None:
    own = benchmark.read_text()
    entry = f"medhelm_configurable_benchmark:config_path={benchmark},{SMALL}"
    benchmark.write_text(own.replace("exact_match", declaring("Y|N") + "\n  - name: rouge_l"))
    run = expand_one(registry, f"{entry},answer_extraction=choice")
    assert run.card.answer_extraction.options == ("Y", "N")
    benchmark.write_text(own + "answer_extraction: {method: choice, options: [mild, severe]}\n")
    for method, options in (("yes_no", ("mild", "severe")), ("strict", None)):
        run = expand_one(registry, f"{entry},answer_extraction={method}")
        how = run.card.answer_extraction
        assert (how.method, how.options) == (method, options)


@pytest.mark.parametrize(
    "metric",
    [
        "rouge_l",
        "writing_style",
        "f1_score",
        "exact_match\n    args: {output_mapping_pattern: '[A-D]'}",
    ],
)
def test_a_metric_about_wording_gets_the_whole_answer(benchmark: Path, metric: str) -> None:
    own = benchmark.read_text()
    benchmark.write_text(f"{own}  - name: calibration\n  - name: general_information\n")
    assert load_benchmark(benchmark).is_reading_default
    benchmark.write_text(own.replace("exact_match", metric))
    assert load_benchmark(benchmark).card.answer_extraction == STRICT
    if "args" not in metric:
        benchmark.write_text(f"{own}  - name: {metric}\n")
        assert load_benchmark(benchmark).card.answer_extraction == STRICT


def test_a_file_that_is_not_on_this_machine_is_read_strictly(benchmark: Path) -> None:
    text = benchmark.read_text().replace("data.csv", "s3://bucket/data.csv")
    benchmark.write_text(text)
    assert load_benchmark(benchmark).card.answer_extraction == STRICT


def test_the_default_is_told_apart_from_what_is_stated(benchmark: Path, registry: Registry) -> None:
    entry = f"medhelm_configurable_benchmark:config_path={benchmark},{SMALL}"
    run = expand_one(registry, entry)
    assert (run.is_reading_default, run.adapter_spec.max_tokens) == (True, 64)
    assert expand_one(registry, f"{entry},answer_extraction=yes_no").is_reading_default is False
    compat = expand_one(registry, entry, compat=True)
    assert (compat.is_reading_default, compat.adapter_spec.max_tokens) == (False, 8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lenient", "answer_extraction.method is 'lenient'; allowed: 'strict', 'choice', 'yes_no'"),
        ("{method: choice, unreadable: zero}", "unreadable is 'zero'; allowed: 'wrong' or 'uns"),
        ("{methd: choice}", "unknown key answer_extraction.methd; did you mean 'method'"),
        ("json_field", "answer_extraction.field is missing; json_field needs it"),
        ("regex", "answer_extraction.pattern is missing; regex needs it"),
        ("{method: choice, field: a}", "answer_extraction.field belongs to json_field, not to cho"),
        ("{method: json_field, field: a, pattern: b}", "pattern belongs to regex, not to json_fi"),
        ("{method: json_field, field: a, options: [a, b]}", "options belongs to choice and yes_no"),
        ("{method: choice, options: []}", "options is []; allowed: all answers that the benchmark"),
        ("{method: choice, options: [a]}", "options is ['a']; allowed: all answers that the bench"),
        ("{method: choice, options: [a, A]}", "options is ['a', 'A']; allowed: all answers"),
        ("{method: choice, options: [a, ' ']}", "options is ['a', ' ']; allowed: all answers"),
        ("{method: choice, options: [0, 1]}", "options[0] is 0; allowed: text (put it in quotes)"),
        ("{method: regex, pattern: '('}", "is '(', which is no regular expression: missing )"),
    ],
)
def test_what_is_refused(benchmark: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(benchmark, text)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(benchmark))


def test_a_metric_that_reads_the_answer_again_is_refused(benchmark: Path) -> None:
    metric = "  - name: exact_match\n    args: {output_mapping_pattern: '[A-D]'}\n"
    text = benchmark.read_text().replace("  - name: exact_match\n", metric)
    benchmark.write_text(text)
    load_benchmark(benchmark)
    with pytest.raises(ConfigError, match="exact_match' has an output_mapping_pattern"):
        read(benchmark, "choice")


def test_a_card_declares_it_and_its_runs_count_what_is_unreadable(site: Path) -> None:
    path = site / "scenarios" / "triage.yaml"
    path.write_text(
        path.read_text() + "answer_extraction: {method: yes_no, unreadable: unscored}\n"
    )
    registry = load_site(site)
    run = expand_one(registry, f"triage:{SMALL}")
    assert run.card.answer_extraction.method is ExtractionMethod.YES_NO
    assert [metric.name for metric in run.metrics] == ["exact_match", "answer_unreadable"]
    other = expand_one(registry, f"triage:answer_extraction=choice,{SMALL}").card.answer_extraction
    assert other == AnswerExtraction(
        method=ExtractionMethod.CHOICE, unreadable=Unreadable.UNSCORED
    ), "the policy stays the card's"
    strict = expand_one(registry, f"triage:answer_extraction=strict,{SMALL}")
    assert [metric.name for metric in strict.metrics] == ["exact_match"]


def test_a_cards_mistake_names_its_file(site: Path) -> None:
    path = site / "scenarios" / "triage.yaml"
    path.write_text(path.read_text() + "answer_extraction: regex\n")
    with pytest.raises(ConfigError, match=r"triage\.yaml: answer_extraction\.pattern is missing"):
        load_site(site)
