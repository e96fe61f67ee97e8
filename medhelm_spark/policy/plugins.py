"""Which plug-ins may be loaded where gated or private text is."""

from collections.abc import Iterable

from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.policy import Policy
from medhelm_spark.errors import PolicyError
from medhelm_spark.plugins import Plugin, active


def check_plugins(policy: Policy, levels: Iterable[AccessLevel]) -> None:
    """Refuse text above public to plug-ins that the policy does not list, file by file.

    Raises:
        PolicyError: names the first that is not listed with the line that lists it.
    """
    guarded = set(levels) - {AccessLevel.PUBLIC}
    if not active() or not guarded:
        return
    for plugin in active():
        if not policy.lists(plugin.module, plugin.sha256):
            raise PolicyError(_sentence(policy, plugin, strictest(guarded)))


def _sentence(policy: Policy, plugin: Plugin, level: AccessLevel) -> str:
    line = f"{{module: {plugin.module}, sha256: {plugin.sha256}}}"
    return (
        f"plug-in {plugin} may not be loaded beside {level} text: {policy.label} does not list it; "
        f"whoever has read its code adds to the policy's plugins: {line}."
    )
