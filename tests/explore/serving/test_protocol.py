"""Clients that are slow, leave, or say two things at once: each is ended, and no other notices."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import uvicorn

from harmonium import ModelFolder
from harmonium.explore import Settings, app, make_app
from harmonium.explore.server import _listening
from harmonium.explore.serving import protocol


@pytest.fixture(scope="module")
def port(rooms: ModelFolder) -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch, _listening("127.0.0.1", 0) as listening:
        patch.setattr(protocol, "HEADER_SECONDS", 0.5)
        patch.setattr(app, "_BODY_SECONDS", 0.5)
        served = make_app(rooms, Settings(hosts=frozenset({"localhost"})))
        config = uvicorn.Config(
            served, http=protocol.limited_protocol(), lifespan="off", log_config=None, timeout_keep_alive=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


def answer(client: socket.socket) -> bytes:
    """Everything that comes until the server closes the connection."""
    client.settimeout(30)
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    return b"".join(parts)


def asked(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(request)
        return answer(client)


def post(length: int, body: bytes = b"", more: bytes = b"") -> bytes:
    head = b"POST /predict.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n" % length
    return head + more + b"\r\n" + body


def test_slow_headers_are_ended_and_others_are_answered(port: int) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(100)]
        for client in slow:
            client.sendall(b"GET / HTTP/1.1\r\nHost: local")
        found = asked(port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert found.startswith(b"HTTP/1.1 200")
        begin = time.monotonic()
        assert [answer(client) for client in slow] == [b""] * 100
        assert time.monotonic() - begin < 10


def test_the_second_request_of_a_connection_has_the_same_limit(port: int) -> None:
    found = asked(port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /heal")
    assert found.count(b"HTTP/1.1") == 1


def test_slow_bodies_are_ended(port: int) -> None:
    found = asked(port, post(100, b"{"))
    assert found.startswith(b"HTTP/1.1 408") and found.count(b"HTTP/1.1") == 1


def test_a_client_that_leaves_is_one_line_for_those_who_look(port: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="harmonium"):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(post(100, b"{"))
        deadline = time.monotonic() + 30
        while not caplog.records and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.1)
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("DEBUG", None)]


@pytest.mark.parametrize("kind", [b"chunked", b"chunked, identity", b"identity"])
def test_two_lengths_are_one_refusal_and_the_end_of_the_connection(port: int, kind: bytes) -> None:
    body = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    found = asked(port, post(5, body, b"Transfer-Encoding: %s\r\n" % kind))
    assert found.count(b"HTTP/1.1") == 1
    assert found.split()[1] in (b"400", b"501")
