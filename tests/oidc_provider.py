"""A provider of OpenID Connect on this machine: discovery, a login page, codes, signed tokens."""

import json
import secrets
import threading
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from tests.servers import HOST

CLIENT, SECRET = "dashboard", "planted-client-secret"


class Provider:
    """Logs in whoever is chosen on its page; `people` are their claims by subject.

    `signing` is the key by which tokens are signed, of the `keys` that it publishes unless a test
    puts another there; `age` is how many seconds old a token claims to be.
    """

    def __init__(self, port: int, people: Mapping[str, Mapping[str, Any]]) -> None:
        self.issuer, self.people = f"http://{HOST}:{port}", people
        self.signing = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self.keys, self.age = KeySet([self.signing]), 0
        self.codes: dict[str, dict[str, str]] = {}

    @property
    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def login_page(self, parameters: Mapping[str, str]) -> str:
        """A link for each person."""
        links = (
            f'<p><a href="/chosen?{escape(urlencode({**parameters, "subject": subject}))}">'
            f"{escape(subject)}</a></p>"
            for subject in self.people
        )
        return f"<h1>Log in</h1>{''.join(links)}"

    def code_for(self, parameters: Mapping[str, str]) -> str:
        """The address to which a browser goes back once a person is chosen."""
        code = secrets.token_urlsafe()
        self.codes[code] = dict(parameters)
        back = {"code": code, "state": parameters["state"]}
        return f"{parameters['redirect_uri']}?{urlencode(back)}"

    def tokens(self, form: Mapping[str, str], authorization: str) -> dict[str, Any] | None:
        """Tokens for a code that was not used; None where code, client or address is wrong."""
        name, _, secret = b64decode(authorization.partition(" ")[2]).decode().partition(":")
        parameters = self.codes.pop(form.get("code", ""), None)
        is_client = (unquote(name), unquote(secret)) == (CLIENT, SECRET)
        if (
            not is_client
            or parameters is None
            or parameters["redirect_uri"] != form.get("redirect_uri")
        ):
            return None
        since = int(time.time()) - self.age
        claims = {
            **self.people[parameters["subject"]],
            "iss": self.issuer,
            "sub": parameters["subject"],
            "aud": CLIENT,
            "iat": since,
            "exp": int(time.time()) + 600,
            "nonce": parameters["nonce"],
        }
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.signing)
        return {"access_token": "unused", "token_type": "Bearer", "id_token": token}


@contextmanager
def running(port: int, people: Mapping[str, Mapping[str, Any]]) -> Iterator[Provider]:
    """The provider at a port of this machine."""
    provider = Provider(port, people)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            parameters = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/.well-known/openid-configuration":
                self._answer(200, json.dumps(provider.metadata), "application/json")
            elif parts.path == "/jwks":
                public = provider.keys.as_dict(private=False)
                self._answer(200, json.dumps(public), "application/json")
            elif parts.path == "/authorize":
                self._answer(200, provider.login_page(parameters), "text/html")
            elif parts.path == "/chosen":
                self.send_response(302)
                self.send_header("Location", provider.code_for(parameters))
                self.end_headers()
            else:
                self._answer(404, "", "text/plain")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            tokens = provider.tokens(form, self.headers.get("Authorization", ""))
            reply = tokens or {"error": "invalid_grant"}
            self._answer(200 if tokens else 400, json.dumps(reply), "application/json")

        def _answer(self, status: int, body: str, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer((HOST, port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
