"""Middleware before every endpoint: hosts, rates, tokens, headers for browsers, and metrics."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from harmonium.explore.fields import MOST_QUERY_BYTES
from harmonium.explore.serving.metrics import RequestMetrics

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: what browsers are told with every answer: scripts, styles and pictures of this server alone, and nothing inline
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_COOKIE = "harmonium_token"
_NAME_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::\d{0,5})?")
# seconds whose requests may come at once: a page with pictures asks for all of them; a convention
_SECONDS_AT_ONCE = 6
# clients whose rates are remembered
_MOST_CLIENTS = 10_000


class AccessMiddleware:
    """Checks of every request, in the order of what they cost.

    Parameters
    ----------
    app : ASGI application
        What answers the requests that pass.
    metrics : RequestMetrics
        Where all requests are counted.
    token : str, optional
        What a client must show: in the address (``?token=…``, which becomes a cookie), or as a bearer token. None lets
        everyone in.
    hosts : set of str, optional
        Names that the server may be addressed by; None allows all. A page of elsewhere whose name was pointed to this
        machine is kept out by it.
    rate : float, default=0
        Requests a second that a client may go on making, those of six seconds at once; 0 sets no limit.
    """

    def __init__(
        self,
        app: App,
        metrics: RequestMetrics,
        token: str | None = None,
        hosts: set[str] | None = None,
        rate: float = 0.0,
    ) -> None:
        self.app = app
        self.metrics = metrics
        self.token = token
        self.hosts = hosts
        self.limiter = RateLimiter(rate, max(1, round(_SECONDS_AT_ONCE * rate))) if rate else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin = time.perf_counter()
        status = 500

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self.app(scope, receive, send_with_headers)
            else:
                await _answer(send_with_headers, scope["path"].endswith(".json"), *refusal)
        finally:
            route = scope.get("endpoint_name", "other")
            self.metrics.count(route, status, time.perf_counter() - begin)

    def _refusal(self, scope: Scope) -> tuple[int, str, dict[str, str]] | None:
        """Return status, sentence and headers of a refusal; None lets the request pass."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if {"content-length", "transfer-encoding"} <= headers.keys():
            # two lengths of one body: what stands before the server may have taken the other one
            return (
                400,
                "A request has one length; this one has two; send either of the headers.",
                {"connection": "close"},
            )
        if self.hosts is not None and _host(headers.get("host", "")) not in self.hosts:
            return 421, "This server is to be addressed by the name it was started with.", {}
        if self.limiter is not None:
            wait = self.limiter.wait((scope.get("client") or ("",))[0])
            if wait:
                return 429, "There were too many requests in a short time; wait a moment.", {"retry-after": str(wait)}
        if len(scope["query_string"]) > MOST_QUERY_BYTES:
            return 414, f"An address may have up to {MOST_QUERY_BYTES:,} bytes of parameters; send a body instead.", {}
        if self.token is None or scope["path"] == "/healthz":
            return None
        return self._unknown_client(scope, headers, self.token)

    def _unknown_client(
        self, scope: Scope, headers: dict[str, str], token: str
    ) -> tuple[int, str, dict[str, str]] | None:
        parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        shown = dict(parameters).get("token")
        if shown is not None and _same(shown, token) and scope["method"] == "GET":
            rest = urlencode([(name, value) for name, value in parameters if name != "token"])
            cookie = f"{_COOKIE}={_digest(token)}; HttpOnly; SameSite=Strict; Path=/"
            # one slash: two would begin the name of another server
            path = "/" + quote(scope["path"].lstrip("/"))
            return 303, "", {"location": path + (f"?{rest}" if rest else ""), "set-cookie": cookie}
        bearer = headers.get("authorization", "")
        if bearer.startswith("Bearer ") and _is_shown(bearer.removeprefix("Bearer "), token):
            return None
        if _same(_cookie(headers.get("cookie", "")), _digest(token)):
            return None
        return 401, "This server needs the token that was shown when it was started: ?token=… in the address.", {}


class RateLimiter:
    """Token bucket of requests: each client has a supply of requests that is used up and grows again.

    Parameters
    ----------
    rate : float
        Requests a second by which a supply grows.
    burst : int
        The largest supply.

    Examples
    --------
    >>> limiter = RateLimiter(1.0, 2)
    >>> [limiter.wait("client", now=0.0) for _ in range(3)], limiter.wait("client", now=1.5)
    ([0, 0, 1], 0)
    """

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, burst
        self.clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float | None = None) -> int:
        """Return 0 if a client may ask now, and else how many seconds it should wait.

        Parameters
        ----------
        client : str
            Its address.
        now : float, optional
            The time in seconds; by default that of a clock.

        Returns
        -------
        int
            Seconds.
        """
        now = time.monotonic() if now is None else now
        supply, before = self.clients.pop(client, (float(self.burst), now))
        supply = min(float(self.burst), supply + (now - before) * self.rate)
        allowed = supply >= 1
        self.clients[client] = (supply - 1 if allowed else supply, now)
        if len(self.clients) > _MOST_CLIENTS:
            self.clients.popitem(last=False)
        return 0 if allowed else max(1, round((1 - supply) / self.rate))


def _host(header: str) -> str:
    """Return the name of a host without its port; nothing if there is more than a name and a port."""
    found = _NAME_AND_PORT.fullmatch(header)
    return found[1].lower() if found else ""


def _digest(token: str) -> str:
    """Return what stands for a token in a cookie, whatever letters it has."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _is_shown(bearer: str, token: str) -> bool:
    """Tell whether a bearer token is the right one, as it is or percent-encoded.

    Headers are bytes, which were read as Latin-1; clients write UTF-8 or Latin-1.
    """
    as_utf8 = bearer.encode("latin-1").decode("utf-8", "surrogateescape")
    return any(_same(shown.strip(), token.strip()) for shown in (bearer, as_utf8, unquote(bearer)))


def _same(one: str, other: str) -> bool:
    """Tell whether two texts are the same, in a time that does not tell how much of them is."""
    return hmac.compare_digest(one.encode("utf-8", "surrogateescape"), other.encode("utf-8", "surrogateescape"))


def _cookie(header: str) -> str:
    try:
        cookie = SimpleCookie(header).get(_COOKIE)
    except CookieError:
        return ""
    return "" if cookie is None else cookie.value


async def _answer(send: Send, is_json: bool, status: int, sentence: str, headers: dict[str, str]) -> None:
    kind = {"content-type": "application/json" if is_json else "text/plain; charset=utf-8", **headers}
    body = json.dumps({"error": sentence}) if is_json else sentence
    encoded = [(name.encode(), value.encode("latin-1", "replace")) for name, value in kind.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body.encode()})
