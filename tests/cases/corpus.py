"""Data files, model files, frames, commands and requests as people and attackers have them, and what must hold.

A case is bytes: the content of a file of a format, a frame as JSON, the arguments of a command as JSON, or what is sent
to the service. Whatever they are, they are answered or refused in one sentence: `check`. Those that were once handled
otherwise lie in `tests/corpus/`, and the benchmark `fuzz` makes up others.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harmonium import Harmonium, ModelFolder, Stochastic, TableViews
from harmonium.exceptions import ModelFileError
from harmonium.files import FORMATS, DataFileError, TableFile, is_streamable, read_data
from harmonium.persist import load_model
from tests.cases.forged import TABLE

#: cases that were found, in folders of their kind and outcome
CORPUS = Path(__file__).parents[1] / "corpus"
ANSWERED, REFUSED = "answered", "refused"
#: a sentence with names of columns and classes in it, which are cut
LONGEST = 300
#: seconds that anything so small may take, on a busy machine
SLOWEST = 30.0


@dataclass
class Place:
    """Where cases are tried: a folder for files, and what commands and requests are about, which is made once."""

    folder: Path
    rooms: ModelFolder | None = None
    port: int = 0


# ---- data files ------------------------------------------------------------------------------------------------------
def read_file(name: str, content: bytes, place: Place) -> str:
    """Read a data file, at once and in blocks, and look at it as a table."""
    path = place.folder / name
    path.write_bytes(content)
    try:
        loaded = read_data(path)
        if loaded.is_table:
            assert loaded.X.columns.is_unique and len(loaded.X), "names that occur twice, or no rows"
            _looked_at(loaded.X)
    except DataFileError as refusal:
        _check_sentence(str(refusal).replace(str(path), "file"))
        return REFUSED
    finally:
        _survey(path)
        path.unlink()
    return ANSWERED


def _looked_at(table: pd.DataFrame) -> None:
    try:
        views = TableViews().fit_transform(table.head(50))
    except ValueError as refusal:
        _check_sentence(str(refusal))
        return
    for name in views.names:
        matrix = views.source(name).matrix
        values = np.asarray(getattr(matrix, "data", matrix)) if not isinstance(matrix, np.ndarray) else matrix
        assert not np.isinf(values).any(), f"view {name} is infinite"


def _survey(path: Path) -> None:
    """Read a table in blocks, which may refuse what can be read at once."""
    try:
        if is_streamable(path):
            for _ in TableFile.surveyed(path).blocks():
                pass
    except DataFileError as refusal:
        _check_sentence(str(refusal).replace(str(path), "file"))


# ---- model files -----------------------------------------------------------------------------------------------------
def load_file(name: str, content: bytes, place: Place) -> str:
    """Load a model file, and ask the model."""
    path = place.folder / name
    path.write_bytes(content)
    try:
        model = load_model(path)
    except ModelFileError as refusal:
        _check_sentence(str(refusal).replace(str(path), "file"))
        return REFUSED
    finally:
        path.unlink()
    if hasattr(model, "fitted_"):
        for answer in _answers(model):
            finite = np.asarray(answer).dtype.kind != "f" or np.isfinite(answer).all()
            assert finite, "an answer that is not finite"
    return ANSWERED


def _answers(model: Any) -> Iterator[np.ndarray]:
    """Yield what a model says of rows of zeros, or of the table of `tests.cases.forged`."""
    fitted = model.fitted_
    widths = {view: len(names) for view, names in fitted.feature_names.items()}
    X = TABLE if fitted.table is not None else {view: np.zeros((2, width)) for view, width in widths.items()}
    for question in ("transform", "predict", "predict_proba", "decision_function"):
        if hasattr(model, question):
            try:
                yield getattr(model, question)(X)
            except ValueError as refusal:  # the rows are not what the model knows
                _check_sentence(str(refusal))


# ---- frames ----------------------------------------------------------------------------------------------------------
def fit_frame(name: str, content: bytes, place: Place) -> str:
    """Fit a model of a frame that is written as a list of [name, type, values]."""
    frame = frame_of(json.loads(content))
    if frame is None:
        return REFUSED
    model = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0)
    try:
        latent = model.fit(frame).transform(frame)
    except (ValueError, TypeError) as refusal:
        _check_own(refusal)
        return REFUSED
    assert latent.shape == (len(frame), 2) and np.isfinite(latent).all(), "coordinates that are not finite"
    return ANSWERED


def frame_of(columns: list[list[Any]]) -> pd.DataFrame | None:
    """Return a frame of columns of [name, type, values], or None where pandas itself makes none."""
    made = []
    try:
        for _, kind, values in columns:
            given = [complex(*value) if kind == "complex128" else value for value in values]
            if kind.startswith("sparse "):  # what is left out may be another value than zero
                cells = np.array(given, dtype=float)
                made.append(pd.Series(pd.arrays.SparseArray(cells, fill_value=float(kind.split()[1]))))
            else:
                made.append(pd.Series(given, dtype=kind))
        frame = pd.concat(made, axis=1) if made else pd.DataFrame()
    except (ValueError, TypeError, OverflowError, pd.errors.OutOfBoundsDatetime):
        return None
    frame.columns = [tuple(name) if isinstance(name, list) else name for name, *_ in columns]
    return frame


# ---- commands --------------------------------------------------------------------------------------------------------
def run_command(name: str, content: bytes, place: Place) -> str:
    """Run a command, whose arguments are a list; ROOMS is a model folder, and files of a mapping are there."""
    from typer.testing import CliRunner

    from harmonium.cli import app

    case = json.loads(content)
    assert place.rooms is not None
    before = Path.cwd()
    folder = place.folder / "here"
    folder.mkdir(exist_ok=True)
    for file, text in case.get("files", {}).items():
        (folder / file).write_text(text)
    os.chdir(folder)
    try:
        arguments = [text.replace("ROOMS", str(place.rooms.path)) for text in case["arguments"]]
        found = CliRunner(env={"COLUMNS": "300"}).invoke(app, arguments)
    finally:
        os.chdir(before)
    assert found.exception is None or isinstance(found.exception, SystemExit), traceback.format_exception(
        found.exception
    )
    assert found.exit_code in (0, 2), f"exit code {found.exit_code}: {found.stderr[-600:]}"
    assert "Traceback" not in found.output
    return REFUSED if found.exit_code else ANSWERED


# ---- requests --------------------------------------------------------------------------------------------------------
def send_request(name: str, content: bytes, place: Place) -> str:
    """Send bytes to the service; whatever they are, each answer is one, and no fault, and the connection ends."""
    with socket.create_connection(("127.0.0.1", place.port)) as client:
        client.settimeout(SLOWEST)
        parts = []
        try:
            client.sendall(content)
            while part := client.recv(65536):
                parts.append(part)
        except (ConnectionResetError, BrokenPipeError):
            pass
    # 100 tells a client that waits to send its body, and is no answer
    statuses = [int(status) for status in re.findall(rb"^HTTP/1\.1 (?!100)(\d{3}) ", b"".join(parts), re.MULTILINE)]
    assert all(200 <= status < 500 or status == 501 for status in statuses), f"statuses {statuses}"
    return ANSWERED if any(status < 400 for status in statuses) else REFUSED


@contextmanager
def served(rooms: ModelFolder) -> Iterator[int]:
    """Give the port of a service, whose clients have little time for their headers and bodies."""
    import pytest
    import uvicorn

    from harmonium.explore import Settings, app, make_app
    from harmonium.explore.server import _listening
    from harmonium.explore.serving import protocol

    with pytest.MonkeyPatch.context() as patch, _listening("127.0.0.1", 0) as listening:
        patch.setattr(protocol, "HEADER_SECONDS", 0.3)
        patch.setattr(app, "_BODY_SECONDS", 0.3)
        config = uvicorn.Config(
            make_app(rooms, Settings(hosts=frozenset({"localhost"}))),
            http=protocol.limited_protocol(),
            lifespan="off",
            log_config=None,
            timeout_keep_alive=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


# ---- all of them -----------------------------------------------------------------------------------------------------
#: what is done with cases, by the folder they lie in
KINDS: Mapping[str, Callable[[str, bytes, Place], str]] = {
    "data": read_file,
    "models": load_file,
    "frames": fit_frame,
    "commands": run_command,
    "requests": send_request,
}
#: endings of data files
ENDINGS = (*FORMATS, ".csv.gz", ".jsonl.xz", ".mtx.bz2")


def check(kind: str, name: str, content: bytes, place: Place) -> str:
    """Try a case; return whether it was answered or refused, and raise an AssertionError if it was neither, or slow."""
    begin = time.monotonic()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outcome = KINDS[kind](name, content, place)
    except AssertionError:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise AssertionError(
            f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {str(error)[:200]}"
        ) from error
    seconds = time.monotonic() - begin
    assert seconds < SLOWEST, f"took {seconds:.0f} s"
    return outcome


def _check_own(refusal: BaseException) -> None:
    """Check that a refusal is the library's own, and one short sentence."""
    import harmonium

    raised_in = Path(traceback.extract_tb(refusal.__traceback__)[-1].filename)
    assert Path(harmonium.__file__).parent in raised_in.parents, f"{raised_in} says {str(refusal)[:200]}"
    _check_sentence(str(refusal))


def _check_sentence(message: str) -> None:
    assert "\n" not in message and message.endswith(".") and len(message) < LONGEST, f"no sentence: {message[:300]!r}"
