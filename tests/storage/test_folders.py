"""Model folders: a writer may be killed at any moment, and readers and writers do not disturb each other.

Writers are forked from one process that does nothing else, as each has to be killed.
"""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harmonium import Harmonium, Stochastic
from harmonium.exceptions import ModelFileError
from harmonium.storage.folders import read_folder, write_folder

SCRIPT = """
import json, os, random, signal, sys, time
from pathlib import Path
import numpy as np
from harmonium.storage.folders import read_folder, write_folder

def write(number):
    write_folder(folder, {"number": number}, {"x": np.full(5000, number)})

def read():
    description, tensors = read_folder(folder)
    assert (tensors["x"] == description["number"]).all()
    return description["number"]

def forked(work):
    child = os.fork()
    if child:
        return child
    try:
        work()
    finally:
        os._exit(0)

def is_tidy():
    write(-1)
    return len(os.listdir(folder)) == 2

def dying(step, after):
    # kill this process before or after one of the calls by which it changes the disk
    calls = 0
    def wrapped(function):
        def call(*arguments, **keywords):
            nonlocal calls
            calls += 1
            is_last = calls == step
            if is_last and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return function(*arguments, **keywords)
            finally:
                if is_last:
                    os.kill(os.getpid(), signal.SIGKILL)
        return call
    for name in ("open", "fsync", "replace", "unlink", "mkdir", "rmdir", "fchmod"):
        setattr(os, name, wrapped(getattr(os, name)))

def killed_at_every_step():
    found, is_killed, step = [], True, 0
    while is_killed:
        step += 1
        for after in (False, True):
            before = read()
            child = forked(lambda: (dying(step, after), write(before + 1)))
            is_killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
            found.append(read() - before)
    return {"steps": step - 1, "found": found}

def killed_at_any_moment():
    random.seed(0)
    durations = []
    for trial in range(3):
        begin = time.monotonic()
        os.waitpid(forked(lambda: write(0)), 0)
        durations.append(time.monotonic() - begin)
    found = []
    for trial in range(60):
        before = read()
        child = forked(lambda: write(before + 1))
        time.sleep(random.random() * 1.5 * min(durations))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found.append(read() - before)
    return {"found": found}

def together():
    stop = time.monotonic() + 1.0
    def keep_writing(number):
        while time.monotonic() < stop:
            number += 2
            write(number)
    children = [forked(lambda: keep_writing(first)) for first in (0, 1)]
    seen = []
    while time.monotonic() < stop:
        seen.append(read())
    for child in children:
        os.waitpid(child, 0)
    seen.append(read())
    return {"readings": len(seen), "models": len(set(seen))}

outcomes = {}
for trial in (killed_at_every_step, killed_at_any_moment, together):
    folder = Path(sys.argv[1], trial.__name__)
    write(0)
    outcomes[trial.__name__] = trial() | {"is_tidy": is_tidy()}
print(json.dumps(outcomes))
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path_factory.mktemp("folders"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_writer_killed_at_any_step_leaves_the_old_model_or_the_new_one(outcomes: dict[str, Any]) -> None:
    found = outcomes["killed_at_every_step"]
    assert found["steps"] > 8
    assert set(found["found"]) == {0, 1}
    assert found["is_tidy"]


def test_a_writer_killed_at_any_moment_leaves_the_old_model_or_the_new_one(outcomes: dict[str, Any]) -> None:
    found = outcomes["killed_at_any_moment"]
    assert set(found["found"]) <= {0, 1}
    assert found["is_tidy"]


def test_readers_and_writers_do_not_disturb_each_other(outcomes: dict[str, Any]) -> None:
    found = outcomes["together"]
    assert found["readings"] > 10
    assert found["models"] > 3
    assert found["is_tidy"]


def test_a_save_that_fails_leaves_no_folder_and_takes_nothing_away(tmp_path: Path, monkeypatch: Any) -> None:
    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("harmonium.storage.replacing.flush_to_disk", fail)
    with pytest.raises(OSError, match="disk full"):
        write_folder(tmp_path / "new", {}, {})
    with pytest.raises(ValueError, match="JSON"):
        write_folder(tmp_path / "new", {"number": np.nan}, {})
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "notes").write_text("mine")
    with pytest.raises(OSError, match="disk full"):
        write_folder(tmp_path / "old", {}, {})
    assert [entry.name for entry in (tmp_path / "old").iterdir()] == ["notes"]
    monkeypatch.undo()
    write_folder(tmp_path / "old", {}, {})
    write_folder(tmp_path / "old", {}, {})
    assert len(list((tmp_path / "old").iterdir())) == 3


def test_folders_follow_the_umask_and_links(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "model")
    write_folder(tmp_path / "link", {"number": 1}, {"x": np.ones(2)})
    assert (tmp_path / "link").is_symlink()
    assert read_folder(tmp_path / "model")[0] == {"number": 1}
    (tmp_path / "plain").write_text("")
    ours = [stat.S_IMODE(entry.stat().st_mode) for entry in (tmp_path / "model").iterdir()]
    assert set(ours) == {stat.S_IMODE((tmp_path / "plain").stat().st_mode)}
    assert json.loads((tmp_path / "model" / "model.json").read_text())["number"] == 1
    with pytest.raises(ModelFileError, match=r"model\.json is missing"):
        read_folder(tmp_path)


@pytest.mark.parametrize("name", ["ring", "ring.safetensors"])
def test_a_ring_of_links_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    first, second = tmp_path / name, tmp_path / f"other-{name}"
    first.symlink_to(second)
    second.symlink_to(first)
    model = Harmonium(2, driver=Stochastic(max_iter=1)).fit(np.eye(4))
    with pytest.raises(OSError, match="is a ring of links; choose another path"):
        model.save(first)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, f"other-{name}"])
