"""`evaluation.air_gap`: work without a network."""

from collections.abc import Sequence
from pathlib import Path

from pyspark import __version__ as pyspark_version

from medhelm_spark.air_gap import checks, guard
from medhelm_spark.air_gap.addresses import derived
from medhelm_spark.air_gap.bundle import AssetBundle, make_bundle
from medhelm_spark.air_gap.guard import ListedAddress
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.config.settings import Platform
from medhelm_spark.doctor import CheckFinding
from medhelm_spark.errors import SetupError
from medhelm_spark.lake.jvm import PACKAGES, with_delta

PACKAGES_CURE = (
    "offline: Spark would resolve packages from Maven; take them from a bundle (. BUNDLE/env.sh), "
    "or set MEDHELM_SPARK_JARS and no spark.jars.packages."
)


class AirGapMethods(Methods):
    """Offline runs, bundles and the network's rule."""

    def addresses(self, tracking: str | None = None) -> tuple[ListedAddress, ...]:
        """The addresses that stay open to an offline run, derived from the site's files.

        Args:
            tracking: MLflow's server, where a command names it.
        """
        return derived(self._workspace, tracking)

    def go_offline(self, tracking: str | None = None) -> tuple[ListedAddress, ...]:
        """Set every library's switch, refuse other addresses from now on, and print the list.

        It lasts until this process ends, and applies to every task of Spark that it starts.

        Args:
            tracking: MLflow's server, where a command names it.

        Raises:
            SetupError: Spark would look for packages in the network.
        """
        settings = self._workspace.settings
        if settings.platform is Platform.LOCAL and PACKAGES in with_delta(
            settings.spark, pyspark_version
        ):
            raise SetupError(PACKAGES_CURE)
        guard.go_offline(self.addresses(tracking))
        self._workspace.say("offline: every address is refused but this machine's and")
        for text in guard.texts_of(guard.listed()) or ("no other",):
            self._workspace.say(f"  {text}")
        return guard.listed()

    @at_work
    def bundle(
        self,
        out: str | Path,
        *,
        wheels: Sequence[str | Path] = (),
        requirements: str | Path | None = None,
        weights: Sequence[str | Path] = (),
        scenarios: Sequence[str] = (),
        image: str | None = None,
    ) -> AssetBundle:
        """Make a folder with wheels, jars, models, tokenizers and data, and the hash of each file.

        Args:
            out: the folder to make.
            wheels: wheels to add, as the package's own.
            requirements: what to download; None: what this environment has installed.
            weights: folders or files of models, with their tokenizers.
            scenarios: whose data to add, by name.
            image: the base image of the site's containers, by digest.

        Raises:
            ConfigError: the folder is there, or what was named is not.
            SetupError: something cannot be had; no folder is left.
        """
        return make_bundle(
            self._workspace,
            Path(out),
            wheels=tuple(map(Path, wheels)),
            requirements=Path(requirements) if requirements else None,
            weights=tuple(map(Path, weights)),
            scenarios=scenarios,
            image=image,
        )

    @at_work
    def offline_findings(self, bundle: str | Path | None = None) -> tuple[CheckFinding, ...]:
        """Whether this machine, and a bundle where one is named, has what an offline run needs."""
        path = Path(bundle) if bundle else None
        return tuple(checks.offline_findings(self._workspace, path))

    @at_work
    def egress_findings(
        self, places: Sequence[str] = (), *, on_executors: bool = False
    ) -> tuple[CheckFinding, ...]:
        """Whether the network lets the job out, by connections that carry nothing.

        Args:
            places: what has to be closed, as HOST or HOST:PORT; none: four known servers.
            on_executors: whether each executor tries too.
        """
        return tuple(checks.egress_findings(self._workspace, places, on_executors=on_executors))
