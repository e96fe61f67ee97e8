"""The engine of deployments whose answers came by `import-responses`: nobody asks it."""

from typing import NoReturn

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines.engine import Args, Destinations, EngineFactory
from medhelm_spark.errors import SetupError

IMPORTED = "imported"


def _never_asked(deployment: Deployment, max_in_flight: int = 0) -> NoReturn:
    raise SetupError(
        f"deployment {deployment.name!r} has imported answers and cannot be asked for new ones; "
        "bring the missing answers by `medhelm-spark import-responses`."
    )


def _not_known(args: Args) -> None:
    """Where answers from a file were made is for a person to state."""


ENGINES = {
    IMPORTED: EngineFactory(
        build=_never_asked,
        check=_never_asked,
        locality=_not_known,
        destinations=Destinations.IN_PROCESS,
    )
}
