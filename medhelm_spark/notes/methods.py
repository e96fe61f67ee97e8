"""`evaluation.notes`: flags and notes that people leave on answers."""

from collections.abc import Iterable

from medhelm_spark.board import InstanceKey, Viewer, choose, instance_detail, load_runs
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.board.reading import runs_named
from medhelm_spark.errors import ConfigError
from medhelm_spark.notes.stored import write_note
from medhelm_spark.notes.tables import AnswerNote, Flag
from medhelm_spark.workspace.names import check_known


class NoteMethods(Methods):
    """Notes on answers; `Evaluation.answers(noted=True)` lists them."""

    @at_work
    def write(
        self,
        scenario: str,
        model: str,
        key: InstanceKey,
        *,
        suite: str | None = None,
        flags: Iterable[Flag | str] = (),
        text: str = "",
    ) -> AnswerNote:
        """Store a note on one answer in the place of its earlier one.

        Args:
            scenario: its name, as on the board.
            model: a deployment's name, or that of a model with one deployment.
            key: the answer within the run, as `Instances` has it.
            suite: the suite (None: that planned last).
            flags: values of Flag; with none and no text the note is taken back.
            text: what is to be said of the answer; it gets the answer's access level.

        Raises:
            UnknownNameError: the scenario or the model is not on the board, or there is no such
                flag.
            ConfigError: the model has no such answer.
            LakeError: the note was not stored; the lake must be a folder of this machine.
        """
        named = [str(flag) for flag in flags]
        for flag in named:
            check_known("flag", flag, [each.value for each in Flag])
        reader = self._workspace.reader
        here = Viewer.THIS_MACHINE
        for run in runs_named(load_runs(reader, choose(reader, suite)), scenario, model):
            if detail := instance_detail(reader, run.run_spec, key, viewer=here):
                break
        else:
            raise ConfigError(
                f"{model} has no answer to instance {key.instance_id!r} of {scenario}, trials "
                f"{key.train_trial_index} and {key.trial_index}."
            )
        return write_note(reader, run.run_spec, key, detail, flags=named, text=text, viewer=here)
