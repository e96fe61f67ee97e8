"""One HTTP call to an OpenAI-compatible server, and what came of it.

Text goes where the deployment says and nowhere else, and gated and private text only to a peer that
the policy lists (`engines.peers`).
"""

import asyncio
import json
import shutil
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.key_source import KeyCommand, key_source
from medhelm_spark.domain.network import NOWHERE, Reach, address_of
from medhelm_spark.domain.request import FailureKind, Request
from medhelm_spark.engines import wire
from medhelm_spark.engines.engine import Args, host_and_port
from medhelm_spark.engines.faults import FAULTS, fault
from medhelm_spark.engines.key_fetch import Key, NoKeyError, fetch
from medhelm_spark.engines.keys import Keys
from medhelm_spark.engines.parameters import refused
from medhelm_spark.engines.reply_limit import MAX_REPLY_BYTES, ReplyTooLongError
from medhelm_spark.engines.retry import KEY_STATUS, NO_KEY, NO_REPLY, Action, CallError, classify
from medhelm_spark.engines.secrets import is_reference, references_in, resolve
from medhelm_spark.errors import SetupError
from medhelm_spark.version import VERSION

if TYPE_CHECKING:
    from medhelm_spark.engines.peers import PeerSession, Wire

VENDOR_URL = "https://api.openai.com/v1"
EMPTY_KEY = "EMPTY"
PATHS = {wire.CHAT: "/chat/completions", wire.COMPLETIONS: "/completions"}
LEAST_REPLY_BYTES = 1 << 10
LOOKED_AT, LONGEST_SENTENCE = 2_000, 200
"""Characters of a server's sentence: that are looked at, and that are shown."""
SHORTEST_SECRET = 6
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
UNSENDABLE = CallError(
    action=Action.GIVE_UP, label="unsendable text", kind=FailureKind.INVALID_REQUEST
)


CHOICES_BY: Mapping[str, Callable[[list[str]], dict[str, Any]]] = {
    "structured_outputs": lambda choices: {"structured_outputs": {"choice": choices}},
    "guided_choice": lambda choices: {"guided_choice": choices},
    "grammar": lambda choices: {"grammar": wire.grammar(choices)},
}
"""How servers are asked for one of some texts: vLLM, vLLM before 0.12, llama.cpp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAISettings:
    """`model` is the server's own name for the model; `timeout` is seconds for one call.

    `api_key` is what `domain.key_source` reads; the values of `headers` are references. `azure`
    has endpoint and api_version. `reasoning` models take max_completion_tokens and no
    temperature, top_p or stop. Servers that cannot constrain a reply to a JSON schema have
    `structured_output: false`; `choices_by` names the parameter by which a server keeps a reply to
    one of some texts, for which the API has none. Those that return no log-probabilities have
    `logprobs: false`. `proxy` is the address of an http proxy, `proxy_login` a reference to its
    USER:PASSWORD, `ca_bundle` a file of certificates to trust instead of the system's. Of a reply
    `max_reply_bytes` are read, and a longer one is no answer. `omit` lists parameters that are not
    sent. The fields from `revision` on only describe what the server serves.
    """

    base_url: str = ""
    api_key: str | Mapping[str, Any] = ""
    model: str = ""
    api: str = wire.CHAT
    organization: str = ""
    timeout: float = 600.0
    reasoning: bool = False
    structured_output: bool = True
    choices_by: str = ""
    logprobs: bool = True
    chat_template: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    azure: Mapping[str, str] = field(default_factory=dict)
    proxy: str = ""
    proxy_login: str = ""
    ca_bundle: str = ""
    max_reply_bytes: int = MAX_REPLY_BYTES
    omit: tuple[str, ...] = ()
    revision: str = ""
    quantization: str = ""
    dtype: str = ""
    adapter: str = ""
    weights_sha256: str = ""

    def __post_init__(self) -> None:
        if self.api not in wire.APIS:
            raise ValueError(f"args.api is {self.api!r}; allowed: {', '.join(wire.APIS)}.")
        if self.choices_by and self.choices_by not in CHOICES_BY:
            raise ValueError(
                f"args.choices_by is {self.choices_by!r}; allowed: {', '.join(CHOICES_BY)}."
            )
        if self.azure and set(self.azure) != {"endpoint", "api_version"}:
            raise ValueError("args.azure has exactly endpoint and api_version.")
        if self.proxy_login and not self.proxy:
            raise ValueError("args.proxy_login is given without args.proxy.")
        key_source(self.api_key)
        destinations({"azure": self.azure, "base_url": self.base_url})
        if self.timeout <= 0:
            raise ValueError(f"args.timeout is {self.timeout:g}; allowed: seconds above 0.")
        if self.max_reply_bytes < LEAST_REPLY_BYTES:
            raise ValueError(
                f"args.max_reply_bytes is {self.max_reply_bytes}; allowed: {LEAST_REPLY_BYTES} "
                "and more."
            )

    @property
    def url(self) -> str:
        """The server's address."""
        return destinations({"azure": self.azure, "base_url": self.base_url})[0]

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return host_and_port(self.url)

    def model_of(self, deployment: Deployment) -> str:
        """The model's name at the server: without its organisation unless given."""
        return self.model or deployment.model.rpartition("/")[2]

    def body(self, request: Request) -> dict[str, Any]:
        """The JSON body of a request, without the model."""
        body = wire.request_body(request, self.api)
        choices = body.pop(wire.CHOICES, None)
        if not self.structured_output:
            body.pop("response_format", None)
        elif choices and self.choices_by:
            body |= CHOICES_BY[self.choices_by](choices)
        if not self.logprobs:
            for name in ("logprobs", "top_logprobs"):
                body.pop(name, None)
        if self.reasoning:
            body["max_completion_tokens"] = body.pop("max_tokens")
            for name in ("temperature", "top_p", "stop"):
                body.pop(name, None)
        return {name: value for name, value in body.items() if name not in self.omit}


def destinations(args: Args) -> tuple[str, ...]:
    """Where these arguments, read from a file and not yet checked, have text sent.

    The one rule for it: the server's address, then the proxy's where there is one.

    Raises:
        ValueError: two servers are named.
    """
    azure = args.get("azure")
    endpoint = azure.get("endpoint") if isinstance(azure, Mapping) else None
    if endpoint and args.get("base_url"):
        raise ValueError("args.base_url and args.azure.endpoint name two servers; give one.")
    server = str(endpoint or args.get("base_url") or VENDOR_URL)
    proxy = args.get("proxy")
    return (server, str(proxy)) if proxy else (server,)


def locality_of(args: Args) -> Locality:
    """A guess, for public text: local where all text goes to the loopback address."""
    hosts = [urlsplit(url).hostname or "" for url in destinations(args)]
    addresses = [address_of("127.0.0.1" if host == "localhost" else host) for host in hosts]
    is_here = all(address is not None and address.is_loopback for address in addresses)
    return Locality.LOCAL if is_here else Locality.EXTERNAL


class Connection:
    """Sends bodies; lives in one event loop.

    Nothing of the environment is sent or decides where: no proxy, no header, no address. Requests
    that may reach different peers use connections of their own.
    """

    def __init__(self, deployment: Deployment, settings: OpenAISettings) -> None:
        from medhelm_spark.engines.peers import trusted

        self._settings = settings
        model = settings.model_of(deployment)
        template = {"chat_template": settings.chat_template} if settings.chat_template else {}
        self._fixed = {"model": model, **settings.extra_body, **template}
        self._url = _url(settings, model)
        self._wire = _wire(deployment, settings)
        trusted(self._wire.ca_bundle)
        self._keys = _keys(deployment, settings, self._wire)
        self._sessions: dict[Reach | None, PeerSession] = {}

    async def post(
        self, body: Mapping[str, Any], reach: Reach | None = NOWHERE
    ) -> wire.WireReply | CallError:
        """One try: a reply, or what to make of its absence. Never raises for a bad request.

        The body is sent to a peer within `reach` only; None means any.
        """
        sent = {**body, **self._fixed}
        try:
            key = await self._keys.number()
        except (NoKeyError, SetupError) as error:
            return _keyless(error)
        try:
            data = _JSON.encode(sent).encode()
            session = self._session(reach)
        except Exception as error:
            return _other_trouble(error)
        try:
            async with asyncio.timeout(self._settings.timeout):
                reply = await session.post(self._url, self._keys.headers, data)
        except Exception as error:
            return self._unanswered(error)
        if not 200 <= reply.status < 300:
            trouble = self._refusal(
                reply.status, _error_in(reply.text), reply.text, reply.headers, sent
            )
            return replace(trouble, refused_key=key) if reply.status == KEY_STATUS else trouble
        self._keys.accept(key)
        return self._read(reply.text, sent)

    def begin(self) -> None:
        """New requests come: a key that was refused before is looked up anew."""
        self._keys.begin()

    async def after(self, trouble: CallError) -> CallError | None:
        """The error of a failed try; None where a new key can be tried."""
        if trouble.refused_key is None:
            return trouble
        try:
            return None if await self._keys.renewed(trouble.refused_key) else trouble
        except (NoKeyError, SetupError) as error:
            return _keyless(error)

    def _read(self, text: str, sent: Mapping[str, Any]) -> wire.WireReply | CallError:
        try:
            body = wire.body_of(text)
            if error := wire.error_of(body):
                return self._refusal(_status_of(error), error, text, {}, sent)
            return wire.parse_reply(body)
        except wire.UnreadableReplyError as error:
            return _invalid_reply(str(error))
        except wire.MalformedReplyError as error:
            return CallError(action=Action.RETRY, label=str(error))

    def _unanswered(self, error: Exception) -> CallError:
        """The error of a call whose reply did not come, or not as a whole."""
        from medhelm_spark.engines.peers import PeerError

        if isinstance(error, TimeoutError):
            return CallError(action=Action.RETRY, label=NO_REPLY, kind=FailureKind.TIMEOUT)
        for cause in (error, error.__cause__):
            if isinstance(cause, PeerError):
                return CallError(action=Action.GIVE_UP, label=str(cause), kind=FailureKind.DENIED)
        if isinstance(error, ReplyTooLongError):
            limit = self._settings.max_reply_bytes
            return _invalid_reply(f"a reply of more than {limit} bytes (args.max_reply_bytes)")
        return CallError(action=Action.RETRY, label="connection", kind=FailureKind.UNREACHABLE)

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()

    def _refusal(
        self,
        status: int,
        error: Any,
        text: str,
        headers: Mapping[str, str],
        sent: Mapping[str, Any],
    ) -> CallError:
        """What an error means; the server's sentence is kept without our keys, and cut."""
        details = error if isinstance(error, Mapping) else {}
        codes = {str(details[key]) for key in ("code", "type") if details.get(key)}
        message = str(details.get("message") or text)
        trouble = classify(status, codes, message, headers)
        if trouble.kind is not FailureKind.INVALID_REQUEST or trouble.action is Action.DOUBT:
            return trouble
        names = refused(sent, details.get("param"), message)
        action = Action.DOUBT if names else trouble.action
        return replace(trouble, action=action, parameters=names, sentence=self._redacted(message))

    def _redacted(self, message: str) -> str:
        """A server's sentence in one line, without keys and control characters."""
        texts = (*self._keys.headers.values(), self._wire.login)
        words = (word for text in texts for word in text.replace(":", " ").split())
        for secret in (word for word in words if len(word) >= SHORTEST_SECRET):
            message = message.replace(secret, "***")
        text = "".join(each if each.isprintable() else " " for each in message[:LOOKED_AT])
        line = " ".join(text.split())
        return line if len(line) <= LONGEST_SENTENCE else f"{line[:LONGEST_SENTENCE]} ..."

    def _session(self, reach: Reach | None) -> "PeerSession":
        session = self._sessions.get(reach)
        if session is None:
            from medhelm_spark.engines.peers import PeerSession

            session = self._sessions[reach] = PeerSession(self._wire, reach)
        return session


def _url(settings: OpenAISettings, model: str) -> str:
    """The address that requests are posted to; a name and a password in it are not sent."""
    parts = urlsplit(settings.url)
    folder, query = parts.path.rstrip("/"), ""
    if settings.azure:
        folder += f"/openai/deployments/{quote(model)}"
        query = urlencode({"api-version": settings.azure["api_version"]})
    host = parts.netloc.rpartition("@")[2]
    return _spelled_out(urlunsplit((parts.scheme, host, folder + PATHS[settings.api], query, "")))


def _spelled_out(url: str) -> str:
    """An address whose host has four numbers where it had fewer, as 127.1 has."""
    name = urlsplit(url).hostname or ""
    try:
        return url.replace(name, socket.inet_ntoa(socket.inet_aton(name)), 1)
    except OSError:
        return url


def _keys(deployment: Deployment, settings: OpenAISettings, wire: "Wire") -> Keys:
    """The headers with the deployment's key.

    Raises:
        SetupError: there is none.
    """
    where = f"deployment {deployment.name!r}: args.api_key"
    source = key_source(settings.api_key)

    def look_up() -> tuple[Key, dict[str, str]]:
        key = fetch(source, wire, where=where) if source else Key(text=EMPTY_KEY)
        return key, _headers(deployment, settings, key.text)

    try:
        return Keys(look_up)
    except NoKeyError as error:
        raise SetupError(f"{where}: {error}.") from None


def _headers(deployment: Deployment, settings: OpenAISettings, key: str) -> dict[str, str]:
    """All headers that are sent; the deployment's own ones replace ours of the same name.

    Azure takes keys in a header of its own, and keys that end as bearer tokens.
    """
    where = f"deployment {deployment.name!r}: args.headers"
    configured = {
        name.lower(): resolve(value, where=f"{where}.{name}") if is_reference(value) else value
        for name, value in settings.headers.items()
    }
    is_azures = settings.azure and isinstance(settings.api_key, str)
    own = {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": f"medhelm-spark/{VERSION}",
        **({"api-key": key} if is_azures else {"authorization": f"Bearer {key}"}),
    }
    if settings.organization:
        own["openai-organization"] = settings.organization
    return own | configured


def _login(deployment: Deployment, settings: OpenAISettings) -> str:
    where = f"deployment {deployment.name!r}: args.proxy_login"
    return resolve(settings.proxy_login, where=where) if settings.proxy_login else ""


def _wire(deployment: Deployment, settings: OpenAISettings) -> "Wire":
    from medhelm_spark.engines.peers import Wire

    return Wire(
        server=settings.url,
        proxy=_spelled_out(settings.proxy),
        login=_login(deployment, settings),
        ca_bundle=settings.ca_bundle,
        max_reply_bytes=settings.max_reply_bytes,
    )


def check_keys(deployment: Deployment, settings: OpenAISettings) -> None:
    """Looks up each reference and each command's program, and forgets them; runs and asks nothing.

    Raises:
        SetupError: a key, a program or the file of `ca_bundle` is missing.
    """
    where = f"deployment {deployment.name!r}: args.api_key"
    source = key_source(settings.api_key)
    if not source and settings.url == VENDOR_URL:
        raise SetupError(
            f"{where} is missing; give it by reference, for example env:OPENAI_API_KEY."
        )
    if isinstance(source, KeyCommand) and not shutil.which(source.program):
        raise SetupError(
            f"{where}: there is no program {source.program!r} here; install it, on every executor "
            "too."
        )
    for reference in references_in({"api_key": settings.api_key}):
        resolve(reference, where=where)
    _headers(deployment, settings, "")
    _login(deployment, settings)
    if settings.ca_bundle and not Path(settings.ca_bundle).is_file():
        raise SetupError(
            f"deployment {deployment.name!r}: args.ca_bundle names {settings.ca_bundle}, and there "
            "is no such file; give the certificates that sign the server's, in PEM form."
        )


def _keyless(error: Exception) -> CallError:
    label = f"{NO_KEY}: {str(error).rstrip('.')}"
    return CallError(action=Action.REJECT, label=label, kind=FailureKind.REJECTED)


def _other_trouble(error: Exception) -> CallError:
    """Whatever else one request provokes must not end the others; its text may quote it.

    Raises:
        EngineError: it is a fault of the program or a library, which every request would meet.
    """
    if isinstance(error, UnicodeError):  # half a surrogate pair cannot be sent at all
        return UNSENDABLE
    if isinstance(error, FAULTS):
        raise fault("the library aiohttp", error) from None
    return CallError(action=Action.GIVE_UP, label=type(error).__name__)


def _invalid_reply(label: str) -> CallError:
    return CallError(action=Action.GIVE_UP, label=label, kind=FailureKind.INVALID_REPLY)


def _error_in(text: str) -> Any:
    """The error of a reply, as a mapping where it is one."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return body.get("error", body) if isinstance(body, Mapping) else body


def _status_of(error: Any) -> int:
    """The status that an error within HTTP 200 means: its code, else one that is retried."""
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500
