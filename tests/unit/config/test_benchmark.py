"""A user's own benchmark in three files, and everything that can be wrong with them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.deployment import Judge
from medhelm_spark.domain.run import AdapterSpec, AnnotatorSpec, MetricSpec
from medhelm_spark.domain.scenario import Instance, ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.scenarios import check_card, parse_records, read_card, required_columns


def test_the_card_of_a_benchmark(benchmark: Path) -> None:
    loaded = load_benchmark(benchmark)
    card = loaded.card
    assert (card.name, card.shape, card.main_metric) == ("FEVER", "tabular", "exact_match")
    assert card.groups == ("FEVER",)
    assert card.options == {"template": "Case: {case}\nAnswer yes or no."}
    assert card.source == DataSource(
        format="csv",
        files=(SourceFile(path=str(benchmark.parent / "data.csv"), split=Split.TEST),),
    )
    assert card.adapter_spec == AdapterSpec(
        input_prefix="", input_suffix="\n", output_prefix="", max_tokens=8, temperature=0.0
    )
    assert (loaded.rubric, loaded.jury, card.annotators) == (None, None, ())


def test_a_users_own_file_is_private_unless_stated(benchmark: Path) -> None:
    assert load_benchmark(benchmark).card.access_level is AccessLevel.PRIVATE
    benchmark.write_text(benchmark.read_text() + "access_level: public\n")
    assert load_benchmark(benchmark).card.access_level is AccessLevel.PUBLIC


def test_max_tokens_is_medhelms_unless_stated(judged: Path) -> None:
    assert load_benchmark(judged).card.adapter_spec.max_tokens == 1024


def with_metrics(path: Path, *metrics: str) -> Path:
    """The configuration with these metrics in place of its own, each written as a flow mapping."""
    lines = "".join(f"  - {metric}\n" for metric in metrics)
    path.write_text(path.read_text().partition("metrics:\n")[0] + "metrics:\n" + lines)
    return path


def test_metrics_keep_their_order_and_the_first_is_the_main_one(judged: Path) -> None:
    names = ("exact_match", "rouge_1", "BERTScore-F", "calibration", "writing_style", "perplexity")
    metrics = "".join(f"  - name: {name}\n" for name in names)
    judged.write_text(judged.read_text().replace("metrics:\n", f"metrics:\n{metrics}"))
    card = load_benchmark(judged).card
    assert card.main_metric == "exact_match"
    assert tuple(metric.name for metric in card.metrics) == (*names, "jury_score")


@pytest.mark.parametrize(
    ("metric", "main"),
    [
        ("{name: calibration}", "ece_10_bin"),
        ("{name: brier_score}", "brier_score"),
        ("{name: writing_style}", "flesch_kincaid_grade"),
        ("{name: f1_score}", "f1_score"),
        ("{name: classification, args: {labels: yes|no}}", "classification_macro_f1"),
        ("{name: 'classification_f1[no]', args: {labels: yes|no}}", "classification_f1[no]"),
        ("{name: diagnostic_accuracy, args: {labels: yes|no}}", "accuracy"),
        ("{name: npv, args: {labels: yes|no, positive: no}}", "npv"),
        ("{name: json_f1, args: {fields: drug|dose}}", "json_f1"),
        ("{name: json_extraction}", "json_precision"),
        ("{name: numeric_match, args: {relative: '0.05'}}", "numeric_match"),
        ("{name: BERTScore-F, args: {model: m, model_path: m}}", "BERTScore-F[m]"),
    ],
)
def test_a_benchmark_is_read_by_a_stat_of_its_first_metric(
    benchmark: Path, metric: str, main: str
) -> None:
    assert load_benchmark(with_metrics(benchmark, metric)).card.main_metric == main


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (("{name: ehr_sql}",), "'ehr_sql' reads what only EHRSQL has; allowed: metrics of any"),
        (("{name: classes, args: {labels: yes|no}}",), "unknown metric 'classes'"),
        (("{name: exact_match@medhelm-0.8}",), "'exact_match@medhelm-0.8' is no stat with these"),
        (
            ("{name: sensitivity, args: {labels: yes|no}}",),
            r"'sensitivity' is no stat with these args; allowed: accuracy, .*sensitivity\[yes\]",
        ),
        (
            ("{name: sensitivity}",),
            "sensitivity needs args: labels; such as "
            r"\{name: sensitivity, args: \{labels: yes\|no, positive: yes\}\}",
        ),
        (("{name: npv, args: {labels: yes}}",), "diagnostic_accuracy: labels is 'yes'; allowed"),
        (("{name: npv, args: {labels: a|b, costs: a=1}}",), "costs has 'a=1'; allowed: errors"),
        (
            (
                "{name: npv, args: {labels: a|b, positive: a}}",
                "{name: ppv, args: {labels: a|b, positive: b}}",
            ),
            "give one spec, or the same arguments",
        ),
        (
            ("{name: numeric_match, args: {relative: 0.05}}",),
            "relative is a number; allowed",
        ),
    ],
)
def test_metrics_that_cannot_be(benchmark: Path, metrics: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_benchmark(with_metrics(benchmark, *metrics))
    assert str(caught.value).startswith(f"{benchmark}: metrics")


@pytest.mark.parametrize("metric", ["writing_style", "copied_share", "efficiency"])
def test_what_compares_with_nothing_needs_no_correct_answer(
    benchmark: Path, write, metric: str
) -> None:
    write("bench/data.csv", "case,correct_answer\na,\n")
    with pytest.raises(DataError):
        list(_instances(load_benchmark(benchmark).card))
    write("bench/data.csv", "case\na\nb\n")
    card = load_benchmark(with_metrics(benchmark, f"{{name: {metric}}}")).card
    assert [instance.references for instance in _instances(card)] == [(), ()]


def _instances(card: ScenarioCard) -> Iterator[Instance]:
    check_card(card)
    for row in parse_records(read_card(card), card, "v1"):
        if not isinstance(row, Instance):
            raise DataError(row.reason)
        yield row


def test_a_category_of_the_taxonomy(benchmark: Path) -> None:
    own = benchmark.read_text()
    benchmark.write_text(
        own + "category: Clinical Decision Support\nsubcategory: Planning Treatments\n"
    )
    card = load_benchmark(benchmark).card
    assert (card.category, card.subcategory) == (
        "Clinical Decision Support",
        "Planning Treatments",
    )
    for lines, message in {
        "category: Clinical Support\n": "Did you mean 'Clinical Decision Support'",
        "category: Clinical Decision Support\nsubcategory: Planning\n": "unknown subcategory",
        "subcategory: Planning Treatments\n": "subcategory is given without category",
    }.items():
        benchmark.write_text(own + lines)
        with pytest.raises(ConfigError, match=message) as caught:
            load_benchmark(benchmark)
        assert str(caught.value).startswith(str(benchmark))


def test_a_jury_score_brings_rubric_jury_and_annotator(judged: Path) -> None:
    loaded = load_benchmark(judged)
    assert loaded.card.annotators == (AnnotatorSpec(name="NOTES", rubric="NOTES", jury="NOTES"),)
    args = {"annotator": "NOTES", "default_score": "0"}
    assert loaded.card.metrics == (MetricSpec(name="jury_score", args=args),)
    assert loaded.rubric is not None
    assert loaded.rubric.criteria == (Criterion(name="accuracy", minimum=0, maximum=5),)
    assert loaded.jury is not None
    assert loaded.jury.judges == (
        Judge(name="canned/judge", model="canned/judge", model_deployment="canned/judge"),
    )


def test_without_judges_the_sites_own_jury_judges_on_the_stated_scale(judged: Path) -> None:
    scale = "    minimum: 1\n    maximum: 10\n    whole: true\n"
    text = judged.read_text().split("    judges:")[0] + scale
    judged.write_text(text)
    loaded = load_benchmark(judged)
    assert loaded.jury is None
    assert loaded.card.annotators[0].jury == "default"
    assert loaded.rubric is not None
    (criterion,) = loaded.rubric.criteria
    assert (criterion.minimum, criterion.maximum, criterion.whole) == (1, 10, True)
    assert loaded.card.metrics[0].args["default_score"] == "1"


def test_a_jury_alone_needs_no_correct_answer(judged: Path, write) -> None:
    write("bench/data.csv", "case\na\n")
    assert load_benchmark(judged).card.name == "NOTES"


def test_paths_start_beside_the_yaml_then_in_the_working_directory(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    beside = load_benchmark(benchmark).card
    (benchmark.parent / "data.csv").rename(tmp_path / "elsewhere" / "data.csv")
    moved = load_benchmark(benchmark).card
    assert beside.source.files[0].path == str(tmp_path / "bench" / "data.csv")
    assert moved.source.files[0].path == str(tmp_path / "elsewhere" / "data.csv")


def test_a_file_in_an_object_store_is_left_to_ingest(benchmark: Path) -> None:
    uri = "s3://bucket/data.csv"
    benchmark.write_text(benchmark.read_text().replace("data.csv", uri))
    assert load_benchmark(benchmark).card.source.files[0].path == uri


def test_templates_may_name_columns_of_any_name_and_hold_doubled_braces(
    benchmark: Path, write
) -> None:
    write("bench/prompt.txt", '{Patient Note} {a.b} {{"json": 1}} {Patient Note}')
    write("bench/data.csv", "Patient Note,a.b,correct_answer\nx,y,z\n")
    load_benchmark(benchmark)


def with_keys(benchmark: Path, dataset: str, more: str = "") -> Path:
    benchmark.write_text(benchmark.read_text().replace("data.csv", dataset) + more)
    return benchmark


def test_the_data_is_a_file_of_any_form_by_its_ending(benchmark: Path) -> None:
    for ending in ("tsv", "json", "jsonl", "parquet", "feather", "xlsx"):
        (benchmark.parent / f"data.{ending}").write_text("id\tcase\tcorrect_answer\n1\ta\tyes\n")
        text = benchmark.read_text()
        source = load_benchmark(with_keys(benchmark, f"data.{ending}")).card.source
        assert (source.format, source.files[0].path) == (
            ending,
            str(benchmark.parent / f"data.{ending}"),
        )
        benchmark.write_text(text)


def test_columns_say_what_the_data_calls_ours(benchmark: Path, write) -> None:
    write("bench/data.csv", "letter_id,note,urgent\n1,a,yes\n")
    names = "columns: {id: letter_id, case: note, correct_answer: urgent}\n"
    card = load_benchmark(with_keys(benchmark, "data.csv", names)).card
    assert card.source.columns == {"id": "letter_id", "case": "note", "correct_answer": "urgent"}
    assert required_columns(card) == ("note", "letter_id", "urgent")
    write("bench/data.csv", "letter_id,note,answer\n1,a,yes\n")
    with pytest.raises(ConfigError, match="has no column 'urgent', which metric exact_match needs"):
        load_benchmark(benchmark)


@pytest.mark.parametrize(
    "name", ["urgent", "correct_answer", "letter_id", "id", "sex*urgent", "sex * urgent"]
)
def test_a_group_is_no_column_of_answers_or_ids_by_either_name(
    benchmark: Path, write, name: str
) -> None:
    write("bench/data.csv", "letter_id,note,urgent,sex\n1,a,yes,f\n")
    names = "columns: {id: letter_id, case: note, correct_answer: urgent}\n"
    stated = with_keys(benchmark, "data.csv", f"{names}groups: [sex, '{name}']\n")
    with pytest.raises(ConfigError, match=r"the right answer shows|is the column of ids"):
        check_card(load_benchmark(stated).card)


@pytest.mark.parametrize(
    ("critical", "message"),
    [
        ("{}", "critical is wrong; allowed: one of missed_positives: true, missed_class: NAME"),
        ("{missed_positives: true, score_at_most: 1}", "critical is wrong; allowed: one of"),
        ("{missed_clas: urgent}", "unknown key critical.missed_clas; did you mean 'missed_class'"),
    ],
)
def test_one_kind_of_critical_failure_is_stated(
    benchmark: Path, critical: str, message: str
) -> None:
    stated = with_keys(benchmark, "data.csv", "critical: {missed_class: urgent}\n")
    assert str(load_benchmark(stated).card.critical) == "missed urgent"
    stated.write_text(stated.read_text().replace("{missed_class: urgent}", critical))
    with pytest.raises(ConfigError, match=message):
        load_benchmark(stated)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("{letter_id: id}", "columns: unknown column 'letter_id'"),
        ("{id: ' '}", "columns.id is empty; allowed: a column of the data"),
    ],
)
def test_columns_that_nothing_asks_for_are_refused(
    benchmark: Path, names: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load_benchmark(with_keys(benchmark, "data.csv", f"columns: {names}\n"))


def test_the_data_is_a_table_that_counts_as_given_by_hand(benchmark: Path) -> None:
    source = load_benchmark(with_keys(benchmark, "table:clinic.letters")).card.source
    assert (source.table, source.files, source.is_own) == ("clinic.letters", (), True)


def test_a_delta_folder_is_looked_for_where_files_are(benchmark: Path) -> None:
    with_keys(benchmark, "table:./letters")
    with pytest.raises(ConfigError, match=r"'table:\./letters', and there is no such folder"):
        load_benchmark(benchmark)
    (benchmark.parent / "letters").mkdir()
    assert load_benchmark(benchmark).card.source.table == str(benchmark.parent / "letters")
    benchmark.write_text(benchmark.read_text().replace("./letters", "s3://bucket/letters"))
    assert load_benchmark(benchmark).card.source.table == "s3://bucket/letters"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: FEVER", "name: a/b", "name is 'a/b'; allowed: letters"),
        ("name: FEVER", "title: FEVER", "unknown key title"),
        ("dataset_file", "data_set_file", "did you mean 'dataset_file'?"),
        ("description: Made-up questions about fever.\n", "", "description is missing"),
        ("max_tokens: 8", "max_tokens: eight", "max_tokens is 'eight'; allowed: a whole number"),
        ("max_tokens: 8", "max_tokens: 0", "max_tokens is 0; allowed: 1 or more"),
        ("max_tokens: 8", "access_level: secret", "allowed: 'public', 'gated' or 'private'"),
        ("name: exact_match", "name: exact_mach", "'exact_mach'. Did you mean 'exact_match'?"),
        ("name: exact_match", "name: BERTscore-F", "Did you mean 'BERTScore-F'?"),
        ("name: exact_match", "name: jury_score", "needs prompt_file, the judge's prompt"),
        ("  - name: exact_match", "  []", "metrics is empty; allowed: a list of metrics"),
        ("  - name: exact_match", "  - exact_match", "metrics[0] is 'exact_match'; allowed: a ma"),
        (
            "  - name: exact_match",
            "  - name: rouge_l\n  - name: rouge_l",
            "metric 'rouge_l' is listed twice",
        ),
        ("name: exact_match", "name: rouge_1\n    prompt_file: p.txt", "'rouge_1' asks no judge"),
        ("prompt.txt", "none.txt", "prompt_file is 'none.txt', and there is no such file (looked"),
        ("data.csv", "none.csv", "dataset_file is 'none.csv', and there is no such file (looked"),
        ("max_tokens: 8", "id_column: pmid", "has no column 'pmid', which id_column needs"),
    ],
)
def test_a_bad_configuration(benchmark: Path, old: str, new: str, message: str) -> None:
    assert old in benchmark.read_text()
    benchmark.write_text(benchmark.read_text().replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load_benchmark(benchmark)
    assert str(caught.value).startswith(str(benchmark.parent))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{case", "expected '}' before end of string"),
        ("case}", "Single '}' encountered"),
        ('Reply as {"answer": "x"} to {case}', 'the field {"answer"...} is not {column}'),
        ("{}", "the field {...} is not {column}"),
        ("{case!r}", "the field {case...} is not {column}"),
        ("{case:>9}", "the field {case...} is not {column}"),
        ("{case[0]}", "has no column 'case[0]', which the template prompt.txt needs"),
        (
            "{note}",
            "has no column 'note', which the template prompt.txt needs; columns: 'id', 'case'",
        ),
        ("Hello.", "names no {column}, so every prompt would be the same"),
    ],
)
def test_a_bad_template(benchmark: Path, write, template: str, message: str) -> None:
    write("bench/prompt.txt", template)
    with pytest.raises(ConfigError) as caught:
        load_benchmark(benchmark)
    assert str(caught.value).startswith(str(benchmark.parent))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty; a header line is needed"),
        (b"id,case,correct_answer\n", "has a header and no rows"),
        (b"id,case,correct_answer\n\n  \n", "has a header and no rows"),
        (b"id,case\n1,a\n", "has no column 'correct_answer', which metric exact_match needs"),
        (b"id;case;answer\n1;a;b\n", "columns: 'id', 'case', 'answer'"),
        (b"case,case,correct_answer\na,b,c\n", "columns 1 and 2 have the same name"),
        (b"f\x81lle,case,correct_answer\n1,a,b\n", "not UTF-8 at byte 1"),
    ],
)
def test_a_bad_data_set(benchmark: Path, content: bytes, message: str) -> None:
    path = benchmark.parent / "data.csv"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_benchmark(benchmark)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_headers_with_a_byte_order_mark_quotes_and_newlines(benchmark: Path) -> None:
    path = benchmark.parent / "data.csv"
    path.write_bytes('\ufeffcase,"a\nb",correct_answer\r\n1,2,3\r\n'.encode())
    load_benchmark(benchmark)


def test_no_cell_of_the_data_is_in_an_error(benchmark: Path) -> None:
    path = benchmark.parent / "data.csv"
    path.write_text("case,answer\nPATIENT-MARK,yes\n")
    with pytest.raises(ConfigError) as caught:
        load_benchmark(benchmark)
    assert "PATIENT-MARK" not in str(caught.value)


def test_a_judge_named_twice(judged: Path) -> None:
    text = judged.read_text()
    judged.write_text(text + "      - name: canned/judge\n        model_name: canned/judge\n")
    with pytest.raises(ConfigError, match="judge 'canned/judge' is named twice"):
        load_benchmark(judged)


def test_a_benchmark_made_for_medhelm(real_data: Path) -> None:
    card = load_benchmark(real_data / "helm_output_sample" / "pubmedqa_60.yaml").card
    assert card.name == "PUBMEDQA-60"
    assert card.adapter_spec.max_tokens == 16


def test_a_data_file_without_its_header_is_not_quoted(benchmark: Path, write) -> None:
    write("bench/data.csv", "4711,Jane Roe with chest pain,yes\n4712,x,no\n")
    with pytest.raises(ConfigError, match="is the header line missing") as caught:
        load_benchmark(benchmark)
    assert "Jane" not in str(caught.value)
