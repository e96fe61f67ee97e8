"""What the methods about disclosures and levels return."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from medhelm_spark.domain.level_change import LevelChange
from medhelm_spark.governance.disclosures import Disclosure
from medhelm_spark.governance.render_disclosures import render_disclosures
from medhelm_spark.governance.render_level_changes import render_level_changes
from medhelm_spark.render.result import Result


@dataclass(frozen=True, slots=True)
class Disclosures(Result):
    """What text was sent where: by level, deployment, destination, locality and day."""

    disclosed: tuple[Disclosure, ...]

    HEADER = tuple(Disclosure.__dataclass_fields__)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per level, deployment, destination, locality and day."""
        yield from map(asdict, self.disclosed)

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_disclosures(self.disclosed, form)


@dataclass(frozen=True, slots=True)
class LevelChanges(Result):
    """The lowerings of levels that a lake has on record, reviewed as of now; oldest first."""

    changes: tuple[LevelChange, ...]

    HEADER = tuple(LevelChange.__dataclass_fields__)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per recorded lowering."""
        yield from map(asdict, self.changes)

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_level_changes(self.changes, form)
