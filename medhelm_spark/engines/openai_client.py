"""One HTTP call to an OpenAI-compatible server, and what came of it.

The client follows no redirect and reads no address from the environment: text goes where the
deployment says and nowhere else. Its loggers, which print request bodies, are kept quiet.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.request import FailureKind, Request
from medhelm_spark.engines import wire
from medhelm_spark.engines.engine import Args, host_and_port
from medhelm_spark.engines.retry import NO_REPLY, Action, Trouble, classify
from medhelm_spark.engines.secrets import is_reference, resolve
from medhelm_spark.errors import SetupError

if TYPE_CHECKING:
    import openai

VENDOR_URL = "https://api.openai.com/v1"
NO_KEY = "EMPTY"
CONNECT_SECONDS = 10.0
PATHS = {wire.CHAT: "/chat/completions", wire.COMPLETIONS: "/completions"}
UNSENDABLE = Trouble(
    action=Action.GIVE_UP, label="unsendable text", kind=FailureKind.INVALID_REQUEST
)
BODY_LOGGERS = ("openai", "httpx", "httpcore", "httpx2", "httpcore2")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISettings:
    """`model` is the server's own name for the model; `timeout` is seconds for one call.

    `api_key` and the values of `headers` are references. `azure` holds endpoint and api_version.
    `reasoning` models take max_completion_tokens and no temperature, top_p or stop. Servers that
    cannot constrain a reply to a JSON schema have `structured_output: false`, those that refuse to
    tell log-probabilities `logprobs: false`. The fields from `revision` on only describe what the
    server serves.
    """

    base_url: str = ""
    api_key: str = ""
    model: str = ""
    api: str = wire.CHAT
    organization: str = ""
    timeout: float = 600.0
    reasoning: bool = False
    structured_output: bool = True
    logprobs: bool = True
    chat_template: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    azure: Mapping[str, str] = field(default_factory=dict)
    revision: str = ""
    quantization: str = ""
    dtype: str = ""
    adapter: str = ""
    weights_sha256: str = ""

    def __post_init__(self) -> None:
        if self.api not in wire.APIS:
            raise ValueError(f"args.api is {self.api!r}; allowed: {', '.join(wire.APIS)}.")
        if self.azure and set(self.azure) != {"endpoint", "api_version"}:
            raise ValueError("args.azure holds exactly endpoint and api_version.")
        if self.timeout <= 0:
            raise ValueError(f"args.timeout is {self.timeout:g}; allowed: seconds above 0.")

    @property
    def url(self) -> str:
        return url_of({"azure": self.azure, "base_url": self.base_url})

    @property
    def place(self) -> str:
        """Host and port, for messages."""
        return host_and_port(self.url)

    def model_of(self, deployment: Deployment) -> str:
        """The model's name at the server: without its organisation unless given."""
        return self.model or deployment.model.rpartition("/")[2]

    def body(self, request: Request) -> dict[str, Any]:
        """The JSON body of a request, without the model."""
        body = wire.request_body(request, self.api)
        if not self.structured_output:
            body.pop("response_format", None)
        if not self.logprobs:
            for name in ("logprobs", "top_logprobs"):
                body.pop(name, None)
        if self.reasoning:
            body["max_completion_tokens"] = body.pop("max_tokens")
            for name in ("temperature", "top_p", "stop"):
                body.pop(name, None)
        return body


def url_of(args: Args) -> str:
    """The address that these arguments, read from a file and not yet checked, have text sent to."""
    azure = args.get("azure")
    endpoint = azure.get("endpoint") if isinstance(azure, Mapping) else None
    return str(endpoint or args.get("base_url") or VENDOR_URL)


def locality_of(args: Args) -> Locality:
    """Local for a server on the loopback address; any other may be anybody's."""
    host = urlsplit(url_of(args)).hostname or ""
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_here = False
    return Locality.LOCAL if is_here else Locality.EXTERNAL


class Connection:
    """Sends bodies; lives in one event loop."""

    def __init__(self, deployment: Deployment, settings: OpenAISettings) -> None:
        import openai

        for name in BODY_LOGGERS:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._openai = openai
        self._timeout = settings.timeout
        self._path = PATHS[settings.api]
        template = {"chat_template": settings.chat_template} if settings.chat_template else {}
        self._fixed = {"model": settings.model_of(deployment), **settings.extra_body, **template}
        self._client = _connect(deployment, settings)

    async def post(self, body: Mapping[str, Any]) -> wire.Reply | Trouble:
        """One try: a reply, or what to make of its absence. Never raises for a bad request."""
        try:
            async with asyncio.timeout(self._timeout):
                # The typed methods walk the whole body first: twice the cost of a call.
                text = await self._client.post(
                    self._path, cast_to=str, body={**body, **self._fixed}
                )
            return wire.parse_reply(json.loads(text))
        except self._openai.APIStatusError as error:
            return _status_trouble(error)
        except (TimeoutError, self._openai.APITimeoutError):
            return Trouble(action=Action.RETRY, label=NO_REPLY, kind=FailureKind.TIMEOUT)
        except self._openai.APIConnectionError as error:
            # The client wraps all errors of sending; half a surrogate pair cannot be sent at all.
            if isinstance(error.__cause__, UnicodeError):
                return UNSENDABLE
            return Trouble(action=Action.RETRY, label="connection", kind=FailureKind.UNREACHABLE)
        except UnicodeEncodeError:
            return UNSENDABLE
        except ValueError:
            return Trouble(action=Action.RETRY, label="malformed reply")
        except Exception as error:
            # Whatever else one request provokes must not end the others; its text may quote it.
            return Trouble(action=Action.GIVE_UP, label=type(error).__name__)

    async def close(self) -> None:
        await self._client.close()


def _connect(deployment: Deployment, settings: OpenAISettings) -> "openai.AsyncOpenAI":
    import openai

    common: dict[str, Any] = {
        "api_key": _key(deployment, settings),
        "max_retries": 0,
        "timeout": openai.Timeout(settings.timeout, connect=CONNECT_SECONDS),
        "organization": settings.organization or None,
        "default_headers": _headers(deployment, settings),
        "http_client": openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            # How many are open is bounded by what is in flight; a lower bound would reconnect.
            limits=type(openai.DEFAULT_CONNECTION_LIMITS)(),
        ),
    }
    if settings.azure:
        api_version = settings.azure["api_version"]
        return openai.AsyncAzureOpenAI(
            azure_endpoint=settings.url, api_version=api_version, **common
        )
    return openai.AsyncOpenAI(base_url=settings.url, **common)


def _key(deployment: Deployment, settings: OpenAISettings) -> str:
    where = f"deployment {deployment.name!r}: args.api_key"
    if settings.api_key:
        return resolve(settings.api_key, where=where)
    if settings.url == VENDOR_URL:
        raise SetupError(
            f"{where} is missing; give it by reference, for example env:OPENAI_API_KEY."
        )
    return NO_KEY


def _headers(deployment: Deployment, settings: OpenAISettings) -> dict[str, str]:
    where = f"deployment {deployment.name!r}: args.headers"
    return {
        name: resolve(value, where=f"{where}.{name}") if is_reference(value) else value
        for name, value in settings.headers.items()
    }


def check_keys(deployment: Deployment, settings: OpenAISettings) -> None:
    """Looks every key up and forgets it.

    Raises:
        SetupError: a key is missing.
    """
    _key(deployment, settings)
    _headers(deployment, settings)


def _status_trouble(error: "openai.APIStatusError") -> Trouble:
    body = error.body if isinstance(error.body, Mapping) else {}
    codes = {str(body[key]) for key in ("code", "type") if body.get(key)}
    message = str(body.get("message") or error.response.text)
    return classify(error.status_code, codes, message, error.response.headers)
