"""Answers from a file as runs of their own."""

from pathlib import Path

from medhelm_spark.engines import IMPORTED
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.user_data.answers import as_imported
from medhelm_spark.user_data.read_responses import answers_at
from tests.unit.runs import expand_one

RUN = expand_one(load_site(), "pubmed_qa:model=huggingface/smollm2-135m-instruct")


def test_a_model_of_the_configuration_is_another_by_each_file() -> None:
    (first,), (second,) = (as_imported([RUN], revision) for revision in ("1", "2"))
    deployment = first.deployment
    assert (deployment.name, deployment.model, deployment.locality) == (
        RUN.deployment.name,
        RUN.deployment.model,
        RUN.deployment.locality,
    )
    assert (deployment.engine, first.name) == (IMPORTED, RUN.name)
    assert len({run.deployment.identity for run in (RUN, first, second)}) == 3
    assert as_imported([RUN], "1") == (first,)


def test_the_same_file_read_by_other_fields_has_other_answers(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text("{}\n")
    plain = answers_at(str(file), {}).revision
    assert plain == answers_at(str(file), {}).revision
    assert plain != answers_at(str(file), {"completion": "second"}).revision
    file.write_text("{ }\n")
    assert plain != answers_at(str(file), {}).revision
