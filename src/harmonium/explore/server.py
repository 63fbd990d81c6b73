"""The server of the application: on this machine alone by default, with one process or several."""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from harmonium.core.extras import require
from harmonium.explore.app import Settings, make_app
from harmonium.model_folder import ModelFolder

#: variable of the environment with what the processes of a service serve; they are started by a name alone
_SERVED = "HARMONIUM_SERVES"
# seconds that requests have to end when the server is stopped
_GRACE = 30
# seconds without a sign of life after which a process is replaced: loading a model on a busy machine may take some, and
# uvicorn's 5 s end it before it has begun
_SIGN_OF_LIFE = 120


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, reached by itself alone.

    Parameters
    ----------
    host : str
        A name or an address.

    Returns
    -------
    bool
        Whether nobody else can reach it.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def settings_for(host: str, token: str | None, *, pages: bool, rate: float, open_to_all: bool = False) -> Settings:
    """Return who may use a server at a host: on this machine everyone on it, elsewhere who has the token.

    Parameters
    ----------
    host : str
        Where it listens.
    token : str or None
        The token; one is made if the host can be reached by others, and none is given.
    pages : bool
        Whether there are pages for people.
    rate : float
        Requests a second of a client; 0 sets no limit.
    open_to_all : bool, default=False
        Whether everyone is let in without a token, because something else stands before the server.

    Returns
    -------
    Settings
        With the token to show, if there is one.

    Examples
    --------
    >>> settings_for("127.0.0.1", None, pages=True, rate=0).token is None
    True
    >>> len(settings_for("0.0.0.0", None, pages=True, rate=0).token) > 20
    True
    """
    if is_loopback(host):
        # what stands before the service may ask for it by any name
        names = None if open_to_all else frozenset({"localhost", "127.0.0.1", "[::1]", host})
        return Settings(pages=pages, token=token, hosts=names, rate=rate)
    if token is None and not open_to_all:
        token = secrets.token_urlsafe(24)
    return Settings(pages=pages, token=token, rate=rate)


def run(
    path: Path,
    settings: Settings,
    host: str,
    port: int,
    workers: int = 1,
    ready: Callable[[str], None] | None = None,
    encoders: dict[str, str] | str | None = None,
) -> None:
    """Serve a model folder until the process is told to stop; requests that have begun are answered first.

    Parameters
    ----------
    path : Path
        The folder.
    settings : Settings
        Limits, and who may use it.
    host : str
        Where to listen.
    port : int
        Where to listen; 0 takes any that is free.
    workers : int, default=1
        Number of processes, each with a copy of the model.
    ready : function of str, optional
        Called with the address, once the port is taken and the folder was read.
    encoders : dict of str to str, or str, optional
        Files of encoders by column, or one for all columns that have an embedding.

    Raises
    ------
    OSError
        If the port is taken.
    """
    uvicorn = require("uvicorn", "The explorer")
    folder = ModelFolder.open(path, encoders)  # refuses what is no model before a port is taken
    listening = _listening(host, port)
    taken = listening.getsockname()[1]
    announce = ready or (lambda address: None)
    common = {"log_level": "warning", "timeout_graceful_shutdown": _GRACE, "server_header": False, "lifespan": "off"}
    with listening:
        if workers == 1:
            server = uvicorn.Server(uvicorn.Config(make_app(folder, settings), **common))
            announce(_address(host, taken, settings.token))
            with suppress(KeyboardInterrupt):  # which is how people end it
                server.run(sockets=[listening])
            return
    # the port is free; processes of a service share a socket that the first of them makes
    del folder
    with TemporaryDirectory(prefix="harmonium-") as metrics:
        os.environ[_SERVED] = _served(path, settings, metrics, encoders)
        announce(_address(host, taken, settings.token))
        try:
            name = f"{__name__}:{worker_app.__name__}"
            common |= {"workers": workers, "timeout_worker_healthcheck": _SIGN_OF_LIFE}
            with suppress(KeyboardInterrupt):
                uvicorn.run(name, factory=True, host=host, port=taken, **common)
        finally:
            del os.environ[_SERVED]


def _served(path: Path, settings: Settings, metrics_folder: str, encoders: dict[str, str] | str | None) -> str:
    """Return what the processes of a service serve, as JSON."""
    return json.dumps(
        {
            "path": str(path.resolve()),
            "pages": settings.pages,
            "token": settings.token,
            "hosts": None if settings.hosts is None else sorted(settings.hosts),
            "rate": settings.rate,
            "metrics_folder": metrics_folder,
            "encoders": encoders,
        }
    )


def worker_app() -> Any:
    """Return the application that the environment describes, in a process of a service."""
    served = json.loads(os.environ[_SERVED])
    folder = ModelFolder.open(served.pop("path"), served.pop("encoders"))
    hosts, metrics = served.pop("hosts"), Path(served.pop("metrics_folder"))
    return make_app(folder, Settings(hosts=hosts and frozenset(hosts), metrics_folder=metrics, **served))


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise OSError(
            f"A port must be free, and the host an address of this machine; {host} port {port} cannot be taken "
            f"({str(error.strerror or error).lower()}); choose another with --port."
        ) from error
    return listening


def _address(host: str, port: int, token: str | None) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + ("?" + urlencode({"token": token}) if token else "")
