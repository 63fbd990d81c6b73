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
from typer.testing import CliRunner

from harmonium import ModelFolder
from harmonium.cli import app
from harmonium.explore import Settings
from harmonium.explore.server import run


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


def test_ctrl_c_is_how_people_end_the_explorer(rooms: ModelFolder) -> None:
    process, address = start("explore", str(rooms.path), "--port", "0", "--no-browser")
    assert b"rooms" in ask(address)
    for _ in range(2):  # people are impatient
        process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    assert process.stderr is not None and process.stderr.read() == ""


def test_the_report_is_written_or_printed_as_json(rooms: ModelFolder, tmp_path: Path) -> None:
    runner = CliRunner()
    written = runner.invoke(app, ["report", str(rooms.path), "--output", str(tmp_path / "report.html")])
    assert (written.exit_code, "report.html" in written.output) == (0, True)
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    printed = runner.invoke(app, ["report", str(rooms.path), "--json"])
    assert json.loads(printed.stdout)["title"] == "rooms"
    refused = runner.invoke(app, ["report", str(rooms.path), "--output", str(tmp_path / "no" / "report.html")])
    assert refused.exit_code == 2
    assert "Traceback" not in refused.output


def test_a_token_and_none_are_not_asked_for_together(rooms: ModelFolder) -> None:
    refused = CliRunner().invoke(app, ["serve", str(rooms.path), "--token", "t", "--no-token"])
    assert (refused.exit_code, "leave one of them out" in refused.output) == (2, True)


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
