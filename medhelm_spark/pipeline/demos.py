"""The benchmarks that ship with the package, by name."""

from medhelm_spark.config.resources import conf_path
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.workspace.entries import Entries

CONF = "run_entries.conf"


def demo_benchmark(name: str) -> Entries:
    """The run entries of a shipped demo benchmark, which name no model.

    Args:
        name: `triage_choice`, `discharge_note` or `urgent_letter`.

    Raises:
        UnknownNameError: no demo benchmark has this name.
    """
    known = [path.parent.name for path in conf_path("demos").glob(f"*/{CONF}")]
    if name not in known:
        raise UnknownNameError("demo benchmark", name, known)
    return Entries(conf_paths=[conf_path("demos", name, CONF)])
