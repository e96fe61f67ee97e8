"""A scenario as an installed MedHELM makes it, written to a file.

MedHELM's own Python runs `export_script` as a child; `import-scenario` ingests the file like any
other source, where the tasks run.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medhelm_spark.errors import ConfigError, SetupError, UnknownNameError
from medhelm_spark.medhelm_results.export_script import PACKAGE, REFUSED, VERSION
from medhelm_spark.subprocess_env import FETCHING, child_environment

SCRIPT = Path(__file__).with_name("export_script.py")
FOLDERS = ("HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE", "HF_HUB_OFFLINE", "JAVA_HOME")
"""Variables of MedHELM's own that contain no key; a token is read from the folder HF_HOME."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What MedHELM is to export: a run entry's name and arguments, by which Python.

    `methods` are the adapter methods that can be evaluated here; `medhelm_output` is the folder
    where MedHELM keeps its downloads.
    """

    name: str
    args: Mapping[str, str] = field(default_factory=dict)
    python: str
    methods: Sequence[str] = ()
    medhelm_output: str


def export_scenario(request: ExportRequest, path: Path) -> None:
    """Have MedHELM's Python write the scenario to `path`. MedHELM's own messages are not shown.

    Raises:
        SetupError: The Python does not run, or has no MedHELM of the version that is known.
        ConfigError: The scenario, its arguments or what it needs is not there.
    """
    command = [request.python, str(SCRIPT), request.name, "--output", str(path)]
    command += ["--medhelm-output", request.medhelm_output, "--methods", *request.methods]
    command += ["--args", *(f"{key}={value}" for key, value in request.args.items())]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=child_environment((*FETCHING, *FOLDERS)),
        )
    except OSError as error:
        raise SetupError(
            f"--medhelm-python {request.python}: cannot be run ({type(error).__name__}); give the "
            f"python of an environment that has {PACKAGE} {VERSION}."
        ) from None
    if done.returncode == REFUSED:
        raise _refusal(request, json.loads(path.read_text(encoding="utf-8")))
    if done.returncode:
        raise SetupError(
            f"--medhelm-python {request.python}: ended with exit code {done.returncode}; "
            f"`{request.python} {SCRIPT} {request.name} --output FILE` shows its messages."
        )


def _refusal(request: ExportRequest, line: Mapping[str, Any]) -> Exception:
    """The error for a reason that the script wrote."""
    reason = line["reason"]
    where = f"MedHELM's scenario {request.name!r}"
    if reason == "unknown":
        return UnknownNameError("scenario of MedHELM's", request.name, line["known"])
    sentences = {
        "not_installed": f"--medhelm-python {request.python}: has no package {PACKAGE}; run `pip "
        f"install {PACKAGE}=={VERSION}` in an environment of its own and give that one's python.",
        "version": f"--medhelm-python {request.python}: has {PACKAGE} {line.get('found')}; "
        f"allowed: {VERSION}, whose scenarios are known here.",
        "arguments": f"{where}: --args: {line.get('message')}; allowed: "
        f"{', '.join(line.get('known') or ['none'])}.",
        "method": f"{where}: asks by the adapter method {line.get('method')!r}; allowed: "
        f"{', '.join(request.methods)}. Images, audio and browsers are not evaluated here.",
        "perturbations": f"{where}: perturbs its instances itself; import it without, and give "
        "data_augmentation in the run entry.",
        "multimedia": f"{where}: has images or audio, which are not evaluated here.",
        "empty": f"{where}: MedHELM found no instance.",
        "failed": f"{where}: MedHELM failed at {line.get('step')} with {line.get('error')} "
        f"({line.get('place')}){': ' * bool(line.get('message'))}{line.get('message')}.",
    }
    is_setup = reason in ("not_installed", "version")
    return SetupError(sentences[reason]) if is_setup else ConfigError(sentences[reason])
