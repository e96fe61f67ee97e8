"""import-scenario: a scenario as an installed MedHELM makes it becomes one of the lake's.

MedHELM's own Python runs `medhelm_export` as a child; the file that it writes is ingested like any
other source, where the tasks run.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, SetupError, UnknownNameError
from medhelm_spark.interop.medhelm_export import PACKAGE, REFUSED, VERSION
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest import Ingested, ingest

SCRIPT = Path(__file__).with_name("medhelm_export.py")
OURS = ("PYTHONPATH", "PYTHONHOME")
"""Variables that would lead MedHELM's Python to this one's packages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What MedHELM is asked for: a run entry's name and arguments, by which Python.

    `methods` are the adapter methods that can be evaluated here; `medhelm_output` is the folder
    where MedHELM keeps its downloads.
    """

    name: str
    args: Mapping[str, str] = field(default_factory=dict)
    python: str
    methods: Sequence[str] = ()
    medhelm_output: str


def export_scenario(asked: Asked, path: Path) -> None:
    """Have MedHELM's Python write the scenario to `path`. MedHELM's own messages are not shown.

    Raises:
        SetupError: The Python does not run, or has no MedHELM of the version that is known.
        ConfigError: The scenario, its arguments or what it needs is not there.
    """
    command = [asked.python, str(SCRIPT), asked.name, "--output", str(path)]
    command += ["--medhelm-output", asked.medhelm_output, "--methods", *asked.methods]
    command += ["--args", *(f"{key}={value}" for key, value in asked.args.items())]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name not in OURS},
        )
    except OSError as error:
        raise SetupError(
            f"--medhelm-python {asked.python}: cannot be run ({type(error).__name__}); give the "
            f"python of an environment that has {PACKAGE} {VERSION}."
        ) from None
    if done.returncode == REFUSED:
        raise _refusal(asked, json.loads(path.read_text(encoding="utf-8")))
    if done.returncode:
        raise SetupError(
            f"--medhelm-python {asked.python}: ended with exit code {done.returncode}; "
            f"`{asked.python} {SCRIPT} {asked.name} --output FILE` shows its messages."
        )


def _refusal(asked: Asked, line: Mapping[str, Any]) -> Exception:
    """The error that a reason of the script stands for."""
    reason = line["reason"]
    where = f"MedHELM's scenario {asked.name!r}"
    if reason == "unknown":
        return UnknownNameError("scenario of MedHELM's", asked.name, line["known"])
    sentences = {
        "not_installed": f"--medhelm-python {asked.python}: has no package {PACKAGE}; run `pip "
        f"install {PACKAGE}=={VERSION}` in an environment of its own and give that one's python.",
        "version": f"--medhelm-python {asked.python}: has {PACKAGE} {line.get('found')}; allowed: "
        f"{VERSION}, whose scenarios are known here.",
        "arguments": f"{where}: --args: {line.get('message')}; allowed: "
        f"{', '.join(line.get('known') or ['none'])}.",
        "method": f"{where}: asks by the adapter method {line.get('method')!r}; allowed: "
        f"{', '.join(asked.methods)}. Images, audio and browsers are not evaluated here.",
        "perturbations": f"{where}: perturbs its instances itself; import it without, and give "
        "data_augmentation in the run entry.",
        "multimedia": f"{where}: has images or audio, which are not evaluated here.",
        "empty": f"{where}: MedHELM found no instance.",
        "failed": f"{where}: MedHELM failed at {line.get('step')} with {line.get('error')} "
        f"({line.get('place')}){': ' * bool(line.get('message'))}{line.get('message')}.",
    }
    is_setup = reason in ("not_installed", "version")
    return SetupError(sentences[reason]) if is_setup else ConfigError(sentences[reason])


def import_scenario(
    ctx: Context, card: ScenarioCard, described: Callable[[str], ImportedScenario]
) -> Ingested:
    """Ingest an export and enter it as a scenario that run entries can name.

    Args:
        ctx: the lake.
        card: a card that reads the export's file.
        described: what the lake keeps of an import whose data version is this.

    Raises:
        DataError: the file is cut off, changed, or no export.
    """
    found = ingest(ctx, [card])[card.name]
    ctx.lake.append_rows("imported_scenarios", [described(found.data_version)], new_write_id())
    return found
