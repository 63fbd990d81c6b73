"""The web application: endpoints as JSON and as pages, pictures, static files, health and metrics."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harmonium.core.extras import require
from harmonium.explore.addresses import SERVER, address
from harmonium.explore.endpoints import Endpoint, endpoints, table_fields
from harmonium.explore.errors import BadRequest
from harmonium.explore.fields import parse_body, read_fields
from harmonium.explore.handlers import Handlers
from harmonium.explore.openapi import openapi_description
from harmonium.explore.serving.metrics import RequestMetrics
from harmonium.explore.serving.middleware import AccessMiddleware
from harmonium.model_folder import ModelFolder
from harmonium.report.page.rendering import environment, style_sheet

_HERE = Path(__file__).parent
#: static files, by name: nothing else is read from the disk
_STATIC = {file.name: file for file in sorted((_HERE / "static").iterdir()) if file.suffix in (".js", ".css")}
_LOG = logging.getLogger(__name__)
# seconds that a client may take for a body: a convention
_BODY_SECONDS = 30
_KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@dataclass(frozen=True)
class Settings:
    """Limits of an application, and who may use it.

    Attributes
    ----------
    pages : bool, default=True
        Whether there are pages for people beside the JSON endpoints.
    token : str, optional
        What clients must show; None lets everyone in.
    hosts : frozenset of str, optional
        Names that the server may be addressed by; None allows all.
    most_bytes : int, default=2_000_000
        Longest body of a request.
    rate : float, default=0
        Requests a second of a client; 0 sets no limit.
    metrics_folder : Path, optional
        Folder in which the processes of a service count requests.
    """

    pages: bool = True
    token: str | None = None
    hosts: frozenset[str] | None = None
    most_bytes: int = 2_000_000
    rate: float = 0.0
    metrics_folder: Path | None = None


def make_app(folder: ModelFolder, settings: Settings | None = None) -> Any:
    """Return the web application of a model folder.

    Parameters
    ----------
    folder : ModelFolder
        The folder. Nothing in it is changed, and no file is read after this.
    settings : Settings, optional
        Limits, and who may use it. By default everyone may, without limits of rate.

    Returns
    -------
    ASGI application
        What uvicorn, or a test client, runs.

    Examples
    --------
    >>> from harmonium import ModelFolder
    >>> app = make_app(ModelFolder.open("wines"))  # doctest: +SKIP
    """
    require("starlette", "The explorer")
    return _Application(Handlers(folder), settings or Settings()).with_middleware()


class _Application:
    """Routes and what they have in common."""

    def __init__(self, handlers: Handlers, settings: Settings) -> None:
        from anyio import CapacityLimiter

        self.handlers, self.settings = handlers, settings
        self.endpoints = endpoints(handlers)
        # models compute with all that a process has: one request at a time is the fastest for all
        self.limiter = CapacityLimiter(1)

    def with_middleware(self) -> Any:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.gzip import GZipMiddleware

        names = sorted({endpoint.path for endpoint in self.endpoints} | {e.page_path for e in self.endpoints if e.page})
        self.request_metrics = RequestMetrics(
            [*names, "/table.csv", "/pictures/{row}.png", "/static/{name}"], self.settings.metrics_folder
        )
        app = Starlette(
            routes=self.routes(),
            middleware=[Middleware(GZipMiddleware, minimum_size=1000)],
            exception_handlers={405: self.other_method},
        )
        hosts = self.settings.hosts
        return AccessMiddleware(
            app, self.request_metrics, self.settings.token, None if hosts is None else set(hosts), self.settings.rate
        )

    def routes(self) -> list[Any]:
        from starlette.routing import Route

        routes = [self.route(endpoint) for endpoint in self.endpoints]
        routes += [
            Route("/openapi.json", self.openapi),
            Route("/healthz", self.health),
            Route("/metrics", self.metrics),
            Route("/table.csv", counted_as("/table.csv", self.csv)),
            Route("/pictures/{row:int}.png", counted_as("/pictures/{row}.png", self.picture)),
        ]
        if self.settings.pages:
            self.templates = environment(_HERE / "templates", purpose="The explorer")
            self.templates.globals["at"] = partial(address, SERVER)
            self.templates.globals["addresses"] = SERVER
            routes += [self.page_route(endpoint) for endpoint in self.endpoints if endpoint.page]
            routes.append(Route("/static/{name}", counted_as("/static/{name}", self.static)))
        return [*routes, Route("/{path:path}", self.nothing)]

    # ---- JSON ----------------------------------------------------------------------------------------------------
    def route(self, endpoint: Endpoint) -> Any:
        from starlette.routing import Route

        async def handle(request: Any) -> Any:
            try:
                values = read_fields(await self.parameters(request, endpoint), endpoint.fields)
                return _json(await self.computed(lambda: _encoded(endpoint.handler(**values))))
            except BadRequest as refusal:
                return _json(_encoded({"error": str(refusal)}), refusal.status)

        return Route(endpoint.path, counted_as(endpoint.path, handle), methods=[endpoint.method])

    async def parameters(self, request: Any, endpoint: Endpoint) -> dict[str, Any]:
        """Return what a request says: its path and address, or its body."""
        if endpoint.method == "POST":
            return parse_body(await self.body(request))
        return _url_parameters(request, endpoint)

    async def body(self, request: Any) -> bytes:
        """Return the body of a request; refuse long ones before they are read."""
        from anyio import fail_after
        from starlette.requests import ClientDisconnect

        most = self.settings.most_bytes
        parts, size = [], 0
        try:
            with fail_after(_BODY_SECONDS):
                async for part in request.stream():
                    size += len(part)
                    if size > most:
                        raise BadRequest(
                            f"A body may have up to {most:,} bytes; this one has more; send fewer items.", 413
                        )
                    parts.append(part)
        except TimeoutError:
            raise BadRequest(f"A body must arrive within {_BODY_SECONDS} seconds; this one has not.", 408) from None
        except ClientDisconnect:
            _LOG.debug("A client left before its request to %s was complete.", request.url.path)
            raise BadRequest("A body must be complete; the client has left.") from None
        return b"".join(parts)

    async def computed(self, compute: Callable[[], Any]) -> Any:
        """Return what is computed in a thread, one request after the other."""
        from anyio import to_thread

        return await to_thread.run_sync(compute, limiter=self.limiter)

    # ---- pages ---------------------------------------------------------------------------------------------------
    def page_route(self, endpoint: Endpoint) -> Any:
        from starlette.responses import HTMLResponse
        from starlette.routing import Route

        async def handle(request: Any) -> Any:
            status, parameters, template = 200, dict(request.query_params), endpoint.page
            try:
                parameters = _url_parameters(request, endpoint)
                values = read_fields(parameters, endpoint.fields)
                content = await self.computed(lambda: endpoint.handler(**values))
            except BadRequest as refusal:
                status, content = refusal.status, {"error": str(refusal)}
                if "{" in endpoint.path:  # there is no form on the page to correct it in
                    template = "error.html"
            query = f"?{request.url.query}" if request.url.query else ""
            twin = f"{'/index' if endpoint.path == '/index.json' else request.url.path}.json{query}"
            page = self.templates.get_template(template).render(
                about=self.handlers.about, parameters=parameters, answer=content, twin=twin, path=endpoint.page_path
            )
            return HTMLResponse(page, status)

        return Route(endpoint.page_path, counted_as(endpoint.page_path, handle))

    # ---- the rest ------------------------------------------------------------------------------------------------
    async def openapi(self, request: Any) -> Any:
        """Return the description of all endpoints."""
        about = self.handlers.about["title"]
        return _json(_encoded(openapi_description(about, self.endpoints, self.handlers.columns)))

    async def health(self, request: Any) -> Any:
        """Tell that requests are answered."""
        return _json(_encoded({"status": "ok"}))

    async def metrics(self, request: Any) -> Any:
        """Return metrics of requests."""
        from starlette.responses import PlainTextResponse

        return PlainTextResponse(self.request_metrics.text(), media_type="text/plain; version=0.0.4")

    async def picture(self, request: Any) -> Any:
        """Return the small picture of an item."""
        from starlette.responses import Response

        row = request.path_params["row"]
        picture = self.handlers.cards.picture(row) if row < len(self.handlers.folder) else None
        if picture is None:
            return _json(_encoded({"error": "There is no such picture."}), 404)
        return Response(picture, media_type="image/png", headers={"cache-control": "max-age=3600"})

    async def csv(self, request: Any) -> Any:
        """Return the rows of the table as a CSV file."""
        from starlette.responses import Response

        try:
            asked = read_fields(_parameters(request), table_fields(self.handlers))
            content = await self.computed(lambda: self.handlers.csv(**asked))
        except BadRequest as refusal:
            return _json(_encoded({"error": str(refusal)}), refusal.status)
        headers = {"content-disposition": 'attachment; filename="items.csv"'}
        return Response(content, media_type="text/csv; charset=utf-8", headers=headers)

    async def static(self, request: Any) -> Any:
        """Return a script or style sheet."""
        from starlette.responses import Response

        name = request.path_params["name"]
        if name == "style.css":
            return Response(style_sheet(), media_type=_KINDS[".css"])
        if name not in _STATIC:
            return await self.nothing(request)
        return Response(_STATIC[name].read_bytes(), media_type=_KINDS[_STATIC[name].suffix])

    async def other_method(self, request: Any, error: Any) -> Any:
        """Tell that an address takes other methods, which the headers name."""
        takes = error.headers["Allow"]
        sentence = f"This address takes {takes}; got {request.method}; see /openapi.json."
        answer = _json(_encoded({"error": sentence}), 405)
        answer.headers["Allow"] = takes
        return answer

    async def nothing(self, request: Any) -> Any:
        """Tell that there is nothing at an address."""
        return _json(_encoded({"error": "There is nothing at this address; see /openapi.json."}), 404)


def counted_as(name: str, handle: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a handler whose requests are counted by a name."""

    async def handle_counted(request: Any) -> Any:
        request.scope["endpoint_name"] = name
        return await handle(request)

    return handle_counted


def _url_parameters(request: Any, endpoint: Endpoint) -> dict[str, Any]:
    return {**_parameters(request), **request.path_params}


def _parameters(request: Any) -> dict[str, Any]:
    """Return the parameters of an address; refuse one that is there twice."""
    pairs: Sequence[tuple[str, str]] = request.query_params.multi_items()
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        raise BadRequest("A parameter may be given once; one is there several times; leave the others out.")
    return parameters


def _encoded(answer: Any) -> bytes:
    return json.dumps(answer, allow_nan=False, separators=(",", ":")).encode()


def _json(content: bytes, status: int = 200) -> Any:
    from starlette.responses import Response

    return Response(content, status, media_type="application/json")
