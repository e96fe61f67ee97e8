"""Requests in, results out: how an executor sends the requests of some deployments."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import FailureKind, Request, RequestResult
from medhelm_spark.engines import Gate, factory_of
from medhelm_spark.engines.engine_pool import engine_for
from medhelm_spark.engines.retry import Asked, not_set_up, until_fault, until_outage
from medhelm_spark.errors import SetupError
from medhelm_spark.policy.gate import gate_for


@dataclass(frozen=True, slots=True)
class AskEngines:
    """Asks deployments, each by its engine; `nodes` are the addresses of this job's machines."""

    deployments: Mapping[str, Deployment]
    policy: Policy
    nodes: tuple[str, ...] = ()

    def gate(self) -> Gate:
        """The gate that checks each request just before it is sent."""
        routes = {name: factory_of(each).route(each) for name, each in self.deployments.items()}
        return gate_for(self.policy, self.deployments, routes, self.nodes)

    def results(
        self, name: str, requests: Iterable[Request], gate: Gate
    ) -> Iterator[RequestResult]:
        """The results of one deployment's requests as they come, up to an outage."""
        deployment = self.deployments[name]
        destination = factory_of(deployment).destination(deployment)
        results = _results(deployment, Asked(requests), gate)
        for result in until_outage(results, deployment.failures_in_a_row):
            if result.failure is FailureKind.DENIED:  # a denied request went nowhere
                yield result
            else:
                yield replace(result, destination=destination, locality=deployment.locality)


def _results(deployment: Deployment, requests: Asked, gate: Gate) -> Iterator[RequestResult]:
    """The results of a deployment's engine; a rejected result if this machine cannot build it.

    An error would end the task: Spark would try it again in vain and print its traces. Only an
    engine that fills its slot raises one, because a fresh process may be able to load it.
    """
    try:
        engine = engine_for(deployment)
    except SetupError as error:
        if factory_of(deployment).exclusive:
            raise
        if request := next(iter(requests), None):
            yield not_set_up(request, error, deployment.engine)
        return
    yield from until_fault(engine.answer(requests, gate), requests, engine.fingerprint)
