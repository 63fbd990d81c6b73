"""The server of the application: on this machine alone by default, with one process or several."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from harmonium.core.extras import require
from harmonium.explore.app import Settings, make_app
from harmonium.explore.serving.protocol import limited_protocol
from harmonium.explore.serving.supervisor import Supervisor
from harmonium.model_folder import ModelFolder

# seconds that a server has to end when it is told to, requests that have begun included
_GRACE = 8
# connections that wait to be taken: uvicorn's own number
_BACKLOG = 2048


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
    if token is not None and not (token.strip() and token.isprintable()):
        raise ValueError(
            f"A token must have letters, and no control characters; got {token!r}; choose another, or leave it out."
        )
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
        If the port is taken, or processes do not start.
    """
    require("uvicorn", "The explorer")
    folder = ModelFolder.open(path, encoders)  # refuses what is no model before a port is taken
    with _listening(host, port) as listening, TemporaryDirectory(prefix="harmonium-") as metrics:
        if ready is not None:
            ready(_address(host, listening.getsockname()[1], settings.token))
        if workers == 1:
            _serve(folder, settings, listening)
            return
        del folder
        served = _Served(path.resolve(), replace(settings, metrics_folder=Path(metrics)), encoders, listening)
        Supervisor(_work, served, workers, _GRACE).run()


@dataclass(frozen=True)
class _Served:
    """What the processes of a service serve."""

    path: Path
    settings: Settings
    encoders: dict[str, str] | str | None
    listening: socket.socket


def _work(ready: Callable[[], None], served: _Served) -> None:
    """Serve in a process of a service."""
    folder = ModelFolder.open(served.path, served.encoders)
    _serve(folder, served.settings, served.listening, ready)


def _serve(
    folder: ModelFolder, settings: Settings, listening: socket.socket, ready: Callable[[], None] = lambda: None
) -> None:
    """Answer the requests that come to a socket until the process is told to stop."""
    import uvicorn

    app = make_app(folder, settings)
    ready()
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=limited_protocol(),
            log_level="warning",
            timeout_graceful_shutdown=_GRACE - 1,
            server_header=False,
            lifespan="off",
        )
    )
    with suppress(KeyboardInterrupt):  # which is how people end it
        server.run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
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
