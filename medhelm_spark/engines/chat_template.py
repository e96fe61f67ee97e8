"""Which chat template a model's folder has, found as vLLM looks for one, without loading it.

First the given one, then the processor's, the tokenizer's, and vLLM's own for a model type.
"""

import json
from pathlib import Path

PROCESSOR = ("chat_template.json", "processor_config.json")
TOKENIZER = ("tokenizer_config.json",)
FILES = ("chat_template.jinja", *PROCESSOR, *TOKENIZER)
KEY = "chat_template"


def file_of(folder: Path) -> str | None:
    """The file of a model's folder whose template is taken; None where none has one."""
    for name in FILES:
        path = folder / name
        if path.is_file() and (path.suffix != ".json" or _has_template(path)):
            return name
    return None


def _has_template(path: Path) -> bool:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and bool(config.get(KEY))


def template_note(folder: Path | None, template: object, api: str | None) -> str:
    """How prompts become what a model reads, for a person.

    `folder` is None where the model is a name of the hub; `template` is that of the
    deployment, `api` what a plain text becomes.
    """
    plain = {
        "chat": "a plain text is a user's turn",
        "completions": "a plain text is continued as it is",
    }.get(api or "", "a plain text is a user's turn where there is a template")
    if template:
        return f"the chat template of args.chat_template; {plain}"
    if folder is None:
        return f"the chat template that the model brings, if any; {plain}"
    if not folder.is_dir():
        return f"the chat template of a folder that is not on this machine, if any; {plain}"
    if name := file_of(folder):
        return f"the chat template of the model's {name}; {plain}"
    return f"no chat template in the model's folder, so vLLM's for its type, if any; {plain}"
