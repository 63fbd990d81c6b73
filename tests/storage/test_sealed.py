"""Sealed files: every byte counts, and a file is replaced in one step or not at all."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium.exceptions import ModelFileError
from harmonium.storage import read_sealed, write_sealed
from harmonium.storage.sealed import seal, unseal

DESCRIPTION = {"format": "test", "text": 'quotes "sha256": "0" and ü', "numbers": [1, 0.5, None], "harmonium": {}}
TENSORS = {
    "single": np.arange(6, dtype=np.float32).reshape(2, 3),
    "scalar": np.array(2.5),
    "truth": np.array([True, False, True]),
    "whole/ü": np.arange(3),
    "harmonium": np.zeros((0, 4)),
    "turned": np.arange(6.0).reshape(2, 3).T,
}
CONTENT = b"".join(seal(DESCRIPTION, TENSORS).pieces)


def partials(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.endswith(".partial")]


# ---- what is read is what was written --------------------------------------------------------------------------------
def test_a_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "file.safetensors"
    digest = write_sealed(path, DESCRIPTION, TENSORS)
    description, tensors = read_sealed(path)
    assert description == DESCRIPTION
    assert list(tensors) == list(TENSORS)
    for name, value in TENSORS.items():
        np.testing.assert_array_equal(tensors[name], value)
        assert (tensors[name].dtype, tensors[name].shape) == (value.dtype, value.shape)
        assert tensors[name].flags.writeable
    # the same content gives the same bytes, whatever the order of a hash
    assert path.read_bytes() == CONTENT
    assert write_sealed(str(path), DESCRIPTION, TENSORS) == digest
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.safetensors"]


def refused(content: bytes) -> None:
    with pytest.raises(ModelFileError) as caught:
        unseal(content)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@settings(max_examples=400, deadline=None)
@given(place=st.integers(0, len(CONTENT) - 1), bits=st.integers(1, 255))
def test_no_byte_can_be_changed(place: int, bits: int) -> None:
    changed = bytearray(CONTENT)
    changed[place] ^= bits
    refused(bytes(changed))


def test_no_bit_of_any_byte_can_be_flipped() -> None:
    for place in range(len(CONTENT)):
        changed = bytearray(CONTENT)
        changed[place] ^= 1 << (place % 8)
        refused(bytes(changed))


@settings(max_examples=100, deadline=None)
@given(length=st.integers(0, len(CONTENT) - 1), more=st.binary(min_size=1, max_size=20))
def test_no_byte_can_be_missing_or_added(length: int, more: bytes) -> None:
    refused(CONTENT[:length])
    refused(CONTENT + more)
    refused(CONTENT[:length] + more + CONTENT[length:])


def test_an_order_of_other_tensors_is_refused() -> None:
    for order in (None, 2, "ac", ["a", "b"], ["a", "a"], ["a", []]):
        content = b"".join(seal({"order": order}, {"a": np.ones(1), "c": np.ones(1)}).pieces)
        with pytest.raises(ModelFileError, match="in their order"):
            unseal(content)


def test_what_is_no_file_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull), Path("/dev/zero")):
        with pytest.raises(ModelFileError, match="is a pipe or a device"):
            read_sealed(path)
        with pytest.raises(FileExistsError, match="is a pipe or a device"):
            write_sealed(path, {}, {})
    with pytest.raises(ModelFileError, match="is a folder"):
        read_sealed(tmp_path)
    with pytest.raises(FileExistsError, match="is a folder"):
        write_sealed(tmp_path, {}, {})
    with pytest.raises(FileNotFoundError, match="found nothing at"):
        read_sealed(tmp_path / "nothing")


# ---- how a file is replaced ------------------------------------------------------------------------------------------
@pytest.fixture
def umask() -> Iterator[int]:
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_permissions_follow_the_umask_or_the_file_that_was_there(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "file"
    write_sealed(path, {}, {})
    assert mode(path) == 0o666 & ~umask
    path.chmod(0o604)
    write_sealed(path, {"new": True}, {})
    assert mode(path) == 0o604


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name in ("file", "not yet"):
        target, link = tmp_path / "there" / name, tmp_path / f"link to {name}"
        link.symlink_to(target)
        if name == "file":
            write_sealed(target, {"new": False}, {})
        write_sealed(link, {"new": True}, {})
        assert link.is_symlink()
        assert read_sealed(target)[0] == {"new": True}
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    with pytest.raises(OSError, match="a path that can be written"):
        write_sealed(tmp_path / "ring", {}, {})


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no file system without writers")
def test_a_place_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    for path in ("/proc/file", tmp_path / "nowhere" / "file", tmp_path / ("long" * 100)):
        with pytest.raises(OSError, match=r"^A file is saved to a path that can be written; .*\.$"):
            write_sealed(path, {}, {})
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_sealed(path, {"new": False}, {})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match="a path that can be written") as caught:
            write_sealed(path, {"new": True}, {"x": np.zeros(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno is not None
    assert read_sealed(path)[0] == {"new": False}
    assert not partials(tmp_path)


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    write_sealed(tmp_path / ("n" * 255), {}, {})


# ---- what killed writers leave behind --------------------------------------------------------------------------------
# the writer stops before the rename, says so, and waits to be killed
WRITER = """
import sys, time
from harmonium.storage import replacing, write_sealed
def stop(descriptor):
    print("written", flush=True)
    time.sleep(60)
replacing.flush_to_disk = stop
write_sealed(sys.argv[1], {"new": True}, {})
"""


def test_leftovers_of_killed_writers_are_removed_and_those_of_living_ones_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"written\n"
    write_sealed(path, {"new": False}, {})
    assert len(partials(tmp_path)) == 1  # it lives
    writer.kill()
    writer.wait()
    write_sealed(tmp_path / "other", {}, {})
    assert len(partials(tmp_path)) == 1  # of another target
    write_sealed(path, {"new": False}, {})
    assert not partials(tmp_path)


def test_leftovers_of_other_machines_are_removed_when_they_are_old(tmp_path: Path, monkeypatch: Any) -> None:
    from harmonium.storage import replacing

    path = tmp_path / "file"
    monkeypatch.setattr(replacing, "_host", lambda: "0123abcd")
    partial = replacing._beside(path)
    monkeypatch.undo()
    partial.write_bytes(b"")
    strange = tmp_path / ".file.partial"  # not ours
    strange.write_bytes(b"")
    write_sealed(path, {}, {})
    assert partial.exists()
    for entry in (partial, strange):
        os.utime(entry, (0, time.time() - 2 * 24 * 60 * 60))
    write_sealed(path, {}, {})
    assert not partial.exists()
    assert strange.exists()
