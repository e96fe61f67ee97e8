"""The section of a report on notes: how many answers have which flag, and no text."""

from collections import Counter
from collections.abc import Iterator, Sequence

from medhelm_spark.board import BoardRun, Viewer
from medhelm_spark.board.render.report_file import Reported, Section
from medhelm_spark.notes.stored import stored_notes
from medhelm_spark.notes.tables import AnswerNote, Flag
from medhelm_spark.render.table import TextTable

HEADING = "Notes on answers"


def sections(reported: Reported) -> Iterator[Section]:
    """A table of counts by benchmark and model; nothing where no answer has a note."""
    by_id = {run.run_spec.run_spec_id: run for run in reported.runs}
    notes = stored_notes(reported.reader, list(by_id), viewer=Viewer.THIS_MACHINE)
    by_run: dict[str, list[AnswerNote]] = {}
    for note in notes.values():
        by_run.setdefault(note.run_spec_id, []).append(note)
    rows = [
        _row(run, by_run[run_spec_id])
        for run_spec_id, run in by_id.items()
        if run_spec_id in by_run
    ]
    if rows:
        header = ["Benchmark", "Model", "Answers with a note", *(flag.label for flag in Flag)]
        yield Section(heading=HEADING, parts=[TextTable(title="", header=header, rows=rows)])


def _row(run: BoardRun, notes: Sequence[AnswerNote]) -> list[str]:
    flags = Counter(flag for note in notes for flag in note.flags)
    name = run.cell.display_name if run.cell else run.run_spec.scenario_name
    counts = (str(flags[flag.value]) for flag in Flag)
    return [name, run.run_spec.model_deployment, str(len(notes)), *counts]
