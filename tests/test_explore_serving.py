"""The service as a process: it answers, counts over its workers, and ends when it is told to, answers first."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from harmonium import ModelFolder
from harmonium.explore import Settings
from harmonium.explore.serving import run


def start(*arguments: str) -> tuple[subprocess.Popen, str]:
    """Return a running command and the address that it says."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harmonium", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "300"},
    )
    assert process.stderr is not None
    for line in process.stderr:
        said = re.search(r"http://\S+", line)
        if said:
            return process, said.group().rstrip("/")
    raise AssertionError("it did not start")


def ask(address: str, body: dict | None = None) -> bytes:
    content = None if body is None else json.dumps(body).encode()
    for attempt in range(100):  # workers need a moment to load the model
        try:
            with urllib.request.urlopen(urllib.request.Request(address, content), timeout=30) as response:
                return response.read()
        except urllib.error.HTTPError:
            raise
        except OSError:
            if attempt == 99:
                raise
            signal.sigtimedwait([], 0.3)
    raise AssertionError


def test_a_service_with_two_workers_answers_and_stops(rooms: ModelFolder) -> None:
    process, address = start("serve", str(rooms.path), "--port", "0", "--workers", "2")
    try:
        assert json.loads(ask(f"{address}/healthz")) == {"status": "ok"}
        found = json.loads(ask(f"{address}/predict.json", {"items": [{"review": "clean quiet"}]}))
        assert found["predictions"][0]["prediction"] == "good"
        with pytest.raises(urllib.error.HTTPError):
            ask(f"{address}/topics")  # pages are those of the explorer
        assert b'harmonium_requests_total{endpoint="/predict.json",status="2xx"} 1' in ask(f"{address}/metrics")
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) in (0, -signal.SIGTERM)


def test_what_is_no_model_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is a folder"):
        run(tmp_path / "nothing", Settings(), "127.0.0.1", 0)


def test_a_port_that_is_taken_is_refused_in_a_sentence(rooms: ModelFolder) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="cannot be taken"):
            run(rooms.path, Settings(), "127.0.0.1", taken.getsockname()[1])
