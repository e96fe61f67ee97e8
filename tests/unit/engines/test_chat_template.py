"""Where a model's chat template is found, and how it is described to a person."""

import json

import pytest

from medhelm_spark.engines.chat_template import file_of, template_note


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"tokenizer_config.json": {}}, None),
        ({"tokenizer_config.json": {"chat_template": "{{ x }}"}}, "tokenizer_config.json"),
        (
            {
                "tokenizer_config.json": {"chat_template": "{{ x }}"},
                "processor_config.json": {"chat_template": "{{ y }}"},
            },
            "processor_config.json",
        ),
        ({"chat_template.jinja": "{{ x }}", "tokenizer_config.json": {}}, "chat_template.jinja"),
        ({"tokenizer_config.json": ["no mapping"]}, None),
    ],
)
def test_the_file_that_holds_it(files, expected, tmp_path):
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text)
    assert file_of(tmp_path) == expected


def test_its_description(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": "{{ x }}"}')
    assert template_note(tmp_path, None, "completions") == (
        "the chat template of the model's tokenizer_config.json; a plain text is continued as it is"
    )
    assert template_note(tmp_path, "a.jinja", "chat").startswith(
        "the chat template of args.chat_template;"
    )
    assert template_note(None, None, None) == (
        "the chat template that the model brings, if any; a plain text is a user's turn where "
        "there is a template"
    )
    assert template_note(tmp_path / "elsewhere", None, None).startswith(
        "the chat template of a folder that is not on this machine, if any;"
    )
    (tmp_path / "tokenizer_config.json").unlink()
    assert template_note(tmp_path, None, None).startswith("no chat template in the model's folder")
