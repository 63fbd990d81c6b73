"""Connections of the server: HTTP/1.1 as uvicorn reads it, with a time limit for the headers of a request."""

from __future__ import annotations

from asyncio import TimerHandle
from typing import Any

#: seconds that a client may take for the headers of a request: a convention, as nginx's and Apache's are a minute
HEADER_SECONDS = 10.0


def limited_protocol() -> type:
    """Return the class of connections that are closed if the headers of a request take too long.

    The class is made when a server starts, as uvicorn is an optional package.
    """
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class LimitedProtocol(H11Protocol):
        """Connections whose requests must begin in time."""

        slow: TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            """Start to wait for the first request."""
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            """Read what came, and go on waiting if the headers are not complete."""
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._stop_waiting()
            elif self.slow is None:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            """Stop waiting."""
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait(self) -> None:
            self.slow = self.loop.call_later(HEADER_SECONDS, self.transport.close)

        def _stop_waiting(self) -> None:
            if self.slow is not None:
                self.slow.cancel()
                self.slow = None

    return LimitedProtocol
