"""What the files of a run contain, counted before a row is written."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.domain.helm_results import HelmFiles, Surveyed
from medhelm_spark.domain.ids import content_id
from medhelm_spark.medhelm_results.rows import Known, has_answer, identified_requests, is_redacted
from medhelm_spark.medhelm_results.states import read_instance_stats
from medhelm_spark.medhelm_results.stream import BrokenFileError
from medhelm_spark.medhelm_results.verdicts import verdicts


@dataclass(frozen=True, slots=True)
class Survey:
    """Files of runs in, the contents of each out: all its large files are read to their end."""

    known: Known

    def __call__(self, runs: Iterable[HelmFiles]) -> Iterator[Surveyed]:
        for run in runs:
            try:
                yield self._surveyed(run)
            except BrokenFileError as error:
                yield Surveyed(path=run.path, problem=str(error))

    def _surveyed(self, run: HelmFiles) -> Surveyed:
        instances: dict[tuple[str, str], str] = {}
        requested: set[tuple[str, str]] = set()
        answers = silent = read = unread = states = 0
        has_inputs = True
        for each in identified_requests(run, self.known):
            states += 1
            answers += has_answer(each.state)
            silent += is_redacted(each.state)
            has_inputs = has_inputs and not each.content.is_blank
            instances[each.instance_id, each.state.perturbation] = each.content.split.value
            requested.add((each.state.helm_id, each.state.perturbation))
            for verdict in verdicts(each.state):
                read, unread = read + bool(verdict), unread + (verdict is None)
        names: dict[str, None] = {}
        for row in read_instance_stats(Path(run.path)):
            if (row.helm_id, row.perturbation) not in requested:
                raise BrokenFileError("it has stats of an instance that was not asked")
            names.update(dict.fromkeys(row.values))
        if states == 0 and (Path(run.path) / "scenario_state.json").is_file():
            raise BrokenFileError("scenario_state.json has no request")
        splits = [split for (_, perturbation), split in instances.items() if not perturbation]
        return Surveyed(
            path=run.path,
            states=states,
            instances=content_id(sorted(instances)) if instances else "",
            splits={split: splits.count(split) for split in sorted(set(splits))},
            answers=answers,
            silent=silent,
            has_inputs=has_inputs and states > 0,
            stats=tuple(sorted(names)),
            verdicts=read,
            unread=unread,
        )
