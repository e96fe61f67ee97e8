"""What runs need and whether it is available, as far as can be checked without sending a request.

Nothing is downloaded, sent or written, and Spark is not started: servers and tables of a catalog
are not checked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from medhelm_spark.cache import cache_folder
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.network import address_of
from medhelm_spark.domain.plan import deployments_of
from medhelm_spark.domain.scenario import TABULAR, ScenarioCard
from medhelm_spark.engines import factory_of
from medhelm_spark.errors import MedhelmSparkError
from medhelm_spark.pipeline.checks import check_engine, to_infer
from medhelm_spark.pipeline.resolve import Resolved
from medhelm_spark.pipeline.skipped import absent_files, stored_here
from medhelm_spark.scenarios import Presence, check_package, presence

DATA, MODEL = "data", "model"

HOW: dict[Presence, str] = {
    Presence.DOWNLOAD: "will be fetched by the address of its card",
    Presence.HUB: "will be fetched from the Hugging Face hub where its cache lacks it",
    Presence.TABLE: "is a table; not checked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """A scenario's data or a model that runs need.

    If `is_missing`, a run leaves out the scenario whose data is missing, and ends if a model or all
    data is missing. `note` is the reason; for what is not missing it says that it will be fetched
    or was not checked.
    """

    kind: str
    name: str
    is_missing: bool
    note: str

    def __str__(self) -> str:
        """`missing: data pubmed_qa: ...`, or without `missing` where it is not."""
        mark = "missing: " if self.is_missing else ""
        return f"{mark}{self.kind} {self.name}: {self.note}"


def needed_by(resolved: Resolved) -> tuple[Needed, ...]:
    """What runs need that is missing, will be fetched or was not checked; the rest is available."""
    return (*_data(resolved), *_models(resolved))


def _data(resolved: Resolved) -> Iterator[Needed]:
    reasons = {run.scenario_name: run.reason for run in resolved.absent}
    for name, reason in reasons.items():
        yield Needed(kind=DATA, name=name, is_missing=True, note=reason)
    named = dict.fromkeys(run.card.name for run in resolved.runs)
    cards = [resolved.provided.cards[name] for name in named]
    cards = [card for card in cards if not card.source.data_version]  # the others are in the lake
    absent = absent_files(resolved.workspace, cards)
    stored = stored_here(resolved.workspace, cards) or set()
    for card in cards:
        is_own = card.name in resolved.own or card.shape == TABULAR
        data_presence = presence(card, cache_folder() / "data")
        if card.name in absent:
            yield Needed(kind=DATA, name=card.name, is_missing=True, note=absent[card.name])
        elif card.name in stored and not is_own:
            continue
        elif data_presence is Presence.HUB and (why := _why_not_read(card)):
            yield Needed(kind=DATA, name=card.name, is_missing=True, note=why)
        elif data_presence in HOW:
            yield Needed(kind=DATA, name=card.name, is_missing=False, note=f"{HOW[data_presence]}.")


def _why_not_read(card: ScenarioCard) -> str:
    try:
        check_package(card.source)
    except MedhelmSparkError as error:
        return str(error)
    return ""


def _models(resolved: Resolved) -> Iterator[Needed]:
    closed = deployments_of(
        [run for run in resolved.runs if run.card.access_level is not AccessLevel.PUBLIC]
    )
    for name, deployment in to_infer(resolved.runs).items():
        try:
            check_engine(deployment, resolved.workspace)
            server = factory_of(deployment).host(deployment)
        except MedhelmSparkError as error:
            yield Needed(kind=MODEL, name=name, is_missing=True, note=str(error))
            continue
        if server:
            note = f"server {server} was not asked; medhelm-spark models --check {name} asks it."
            if name in closed and not _is_here(server):
                where = _reach(resolved, deployment)
                note += f" Gated and private text is sent only if its address is {where}."
            yield Needed(kind=MODEL, name=name, is_missing=False, note=note)


def _is_here(server: str) -> bool:
    """Whether a server's host and port name the loopback address."""
    host = urlsplit(f"//{server}").hostname or ""
    address = address_of(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _reach(resolved: Resolved, deployment: Deployment) -> str:
    locality = deployment.locality
    listed = dict(resolved.workspace.registry.policy.networks)
    if locality is Locality.LOCAL and locality not in listed:
        return "this machine's or that of a node of this job"
    return f"in the networks that the policy lists for {locality}"
