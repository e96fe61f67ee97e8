"""Gets a key from a command or from an OAuth server; the output of neither is printed."""

import asyncio
import json
import subprocess
import time
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from medhelm_spark.domain.key_source import KeyCommand, KeySource, OAuthClient
from medhelm_spark.engines.reply_limit import ReplyTooLongError
from medhelm_spark.engines.secrets import resolve
from medhelm_spark.subprocess_env import FETCHING, child_environment

if TYPE_CHECKING:
    from medhelm_spark.engines.peers import HttpReply, Wire

COMMAND_SECONDS = 60.0
TOKEN_SECONDS = 30.0
MAX_REPLY_BYTES = 64 << 10
PAUSES = (1.0, 3.0)
"""Seconds before a second and a third try: servers of tokens fail for a moment, too."""
BY_HAND = "run it by hand to see why: what it prints is shown nowhere"
USED_PART = 0.9
"""The part of a key's lifetime after which it is renewed: it is still valid as it travels."""


class NoKeyError(Exception):
    """A command or server gave no key; the message has nothing of their output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key, and for how many seconds it may be used: None until the server refuses it."""

    text: str = field(repr=False)
    seconds: float | None = None


def fetch(source: KeySource, wire: "Wire", *, where: str) -> Key:
    """The key of a source, renewed before it ends; a command or server is tried three times.

    Raises:
        SetupError: a reference leads to nothing.
        NoKeyError: the command or the server gave no key.
    """
    if isinstance(source, str):
        return Key(text=resolve(source, where=where))
    if isinstance(source, KeyCommand):
        return _tried(lambda: _printed(source))
    secret = resolve(source.client_secret, where=f"{where}.client_secret")
    return _tried(lambda: _granted(source, secret, wire))


def _tried(get: Callable[[], Key]) -> Key:
    for pause in PAUSES:
        try:
            return get()
        except NoKeyError:
            time.sleep(pause)
    return get()


def _printed(source: KeyCommand) -> Key:
    subject = f"the command {source.program!r}"
    try:
        done = subprocess.run(
            source.command,
            env=child_environment((*FETCHING, *source.environment)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a token may be there, too
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoKeyError(f"{subject} did not end within {COMMAND_SECONDS:g} s; {BY_HAND}") from None
    except (OSError, ValueError) as error:
        raise NoKeyError(f"{subject} cannot be started ({type(error).__name__})") from None
    if done.returncode:
        raise NoKeyError(f"{subject} ended with exit code {done.returncode}; {BY_HAND}")
    return Key(text=_word(done.stdout, subject), seconds=USED_PART * source.lifetime)


def _granted(source: OAuthClient, secret: str, wire: "Wire") -> Key:
    subject = "the server of args.api_key.token_url"
    form = {"grant_type": "client_credentials"} | ({"scope": source.scope} if source.scope else {})
    login = ":".join(quote(part, safe="") for part in (source.client_id, secret))
    headers = {
        "accept": "application/json",
        "authorization": f"Basic {b64encode(login.encode()).decode()}",
        "content-type": "application/x-www-form-urlencoded",
    }
    call = _token_reply(source.token_url, headers, urlencode(form).encode(), wire)
    try:
        # The caller's thread may have an event loop of its own, as a notebook's has.
        with ThreadPoolExecutor(max_workers=1) as thread:
            reply = thread.submit(asyncio.run, call).result()
    except ReplyTooLongError:
        raise NoKeyError(f"{subject} sent more than {MAX_REPLY_BYTES} bytes") from None
    except Exception as error:
        raise NoKeyError(f"{subject} cannot be asked ({type(error).__name__})") from None
    if reply.status != 200:
        cure = "check args.api_key.client_id, client_secret and scope"
        raise NoKeyError(f"{subject} answered {reply.status}; {cure}")
    return _token_of(reply.text, subject)


async def _token_reply(url: str, headers: dict[str, str], form: bytes, wire: "Wire") -> "HttpReply":
    """What a server of tokens answers: by the same certificates and proxy, and it gets no text."""
    from medhelm_spark.engines.peers import PeerSession

    session = PeerSession(replace(wire, max_reply_bytes=MAX_REPLY_BYTES), None)
    try:
        async with asyncio.timeout(TOKEN_SECONDS):
            return await session.post(url, headers, form)
    finally:
        await session.close()


def _token_of(body: str, subject: str) -> Key:
    try:
        reply = json.loads(body)
        text, seconds = str(reply["access_token"]), reply.get("expires_in")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NoKeyError(f"{subject} sent no access_token") from None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0
    return Key(
        text=_word(text.encode("utf-8", "replace"), subject),
        seconds=USED_PART * seconds if is_number else None,
    )


def _word(printed: bytes, subject: str) -> str:
    """The key in what was printed: one word that a header may carry."""
    words = printed.split()
    is_word = len(words) == 1 and words[0].isascii() and words[0].decode("ascii").isprintable()
    if not is_word:
        raise NoKeyError(f"{subject} gave {len(words)} words, and a key is one word of ASCII")
    return words[0].decode("ascii")
