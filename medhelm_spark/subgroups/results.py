"""What the methods that read groups return."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from medhelm_spark.render.result import Result
from medhelm_spark.subgroups.model_groups import ModelGroups
from medhelm_spark.subgroups.pairs import GroupPair
from medhelm_spark.subgroups.render import FIELDS, records, render_groups
from medhelm_spark.subgroups.render_pairs import PAIR_FIELDS, pair_record, render_pairs


@dataclass(frozen=True, slots=True)
class Groups(Result):
    """What models score by group: a row for each model, scenario, column and group."""

    groups: tuple[ModelGroups, ...]
    banner: str = ""
    """The sentence above it: that its release is withdrawn."""

    HEADER = FIELDS

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per model, scenario, column and group; of a hidden group names alone."""
        yield from records(self.groups)

    def gaps(self) -> Iterator[dict[str, Any]]:
        """One per model, scenario and column: its worst group, and its gap with interval."""
        for model in self.groups:
            gap = asdict(model.gap) if model.gap else dict.fromkeys(("best", "worst", "value"))
            yield {
                "scenario_name": model.scenario_name,
                "model_deployment": model.model_deployment,
                "metric": model.metric,
                "group_column": model.group_column,
                **gap,
            }

    def render(self, form: str = "table") -> str:
        """The groups as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_groups(self.groups, form, banner=self.banner)


@dataclass(frozen=True, slots=True)
class GroupComparison(Result):
    """Two models in each group beside all other groups; groups that fall behind come first."""

    models: tuple[str, ...]
    pairs: tuple[GroupPair, ...]

    HEADER = PAIR_FIELDS

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per pair of models, scenario, column and group."""
        yield from map(pair_record, self.pairs)

    def render(self, form: str = "table") -> str:
        """The comparison as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_pairs(self.pairs, form)
