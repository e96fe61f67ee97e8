"""Groups and bands as a card or benchmark declares them, checked before data is read."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from medhelm_spark.domain.groups import CROSSING, MAX_GROUPS, Band
from medhelm_spark.errors import ConfigError


def check_groups(
    groups: Sequence[str], bands: Mapping[str, Band], where: str, *, key: str = "groups"
) -> None:
    """Refuse names that are empty, named twice or no crossing of two, and edges that do not ascend.

    Args:
        groups: the names of columns or bands.
        bands: the bands by name.
        where: the file, for errors.
        key: the key of the file that lists the groups.

    Raises:
        ConfigError: one of them is wrong.
    """
    for name in groups:
        if not name.strip():
            raise ConfigError(f"{where}: {key} has an empty name; allowed: columns or bands.")
        crossed = [each.strip() for each in name.split(CROSSING)]
        if len(crossed) > 1 and (len(set(crossed)) != 2 or len(crossed) != 2 or "" in crossed):
            raise ConfigError(
                f"{where}: {key} has {name!r}; allowed: two columns or bands with one "
                f"{CROSSING!r} between them."
            )
        if groups.count(name) > 1:
            raise ConfigError(f"{where}: {key} has {name!r} twice.")
    for name, band in bands.items():
        edges = list(band.edges)
        is_ascending = all(low < high for low, high in pairwise(edges))
        if not (0 < len(edges) < MAX_GROUPS and is_ascending):
            raise ConfigError(
                f"{where}: bands.{name}.edges is {edges}; allowed: 1 to {MAX_GROUPS - 1} numbers "
                "that ascend."
            )
