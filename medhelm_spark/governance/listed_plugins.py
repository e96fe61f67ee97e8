"""Whether the plug-ins that a page has loaded may be beside the text of its lake."""

from pathlib import Path

from medhelm_spark.board.sources import text_levels
from medhelm_spark.config.registry import policy_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.lake.reader import Reader
from medhelm_spark.policy.plugins import check_plugins


def refuse_unlisted(reader: Reader, site: Path) -> None:
    """Refuse loaded plug-ins that the policy does not list, beside the text that the lake has now.

    `site` is the folder of the site's own configuration. A policy in a catalog's table is not read
    here, where there is no Spark: beside gated and private text every plug-in is refused then.

    Raises:
        PolicyError: names the first that is not listed.
        ConfigError: the policy cannot be read.
    """
    levels = text_levels(reader) - {AccessLevel.PUBLIC}
    if levels:
        check_plugins(policy_of(site), levels)
