"""Files that are replaced in one step: written beside their place, flushed to the disk, and renamed."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

# beyond this age a leftover has no living writer, wherever that was: a convention
_OLD = 24 * 60 * 60.0
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_PARTIAL = re.compile(r"\.harmonium-(?P<target>[0-9a-f]{16})-(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{12}\.partial")


def replace_file(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """Write a file; whoever opens the path finds the old content or the new one, and never a part of it.

    A symbolic link stays and its target is replaced. A file that was there keeps its permissions; a new one has those
    of the umask. What killed writers of the same file left behind is removed.

    Parameters
    ----------
    path : Path
        The file.
    pieces : iterable of bytes
        Its content.

    Raises
    ------
    OSError
        If the file cannot be written; what was there is left as it was.
    """
    with written_beside(path, pieces) as put_in_place:
        put_in_place()


@contextmanager
def written_beside(path: Path, pieces: Iterable[bytes | memoryview]) -> Iterator[Callable[[], None]]:
    """Write a file beside its place and give the one step that puts it there; without that step nothing changes."""
    try:
        target = path.resolve()
        mode = _mode_of(target, path)
        sweep(target.parent, target.name)
        partial = _beside(target)
    except (OSError, RuntimeError) as error:  # a ring of links is a RuntimeError before Python 3.13
        refuse(path, error)

    def put_in_place() -> None:
        try:
            os.replace(partial, target)
        except OSError as error:
            refuse(path, error)
        _flush_folder(target.parent)

    try:
        _write(partial, pieces, mode, path)
        yield put_in_place
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _write(partial: Path, pieces: Iterable[bytes | memoryview], mode: int | None, path: Path) -> None:
    """Write a new file, down to the disk."""
    try:
        # the umask applies to what is opened so, unlike to temporary files
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with open(descriptor, "wb") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            file.writelines(pieces)
            file.flush()
            flush_to_disk(descriptor)
    except OSError as error:
        refuse(path, error)


def flush_to_disk(descriptor: int) -> None:
    """Wait until the content of an open file is on the disk."""
    os.fsync(descriptor)


def _flush_folder(folder: Path) -> None:
    """Wait until a rename is on the disk, where the system can; the file itself is complete either way."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _mode_of(target: Path, path: Path) -> int | None:
    """Return the permissions of the file to replace, if there is one; refuse what is no file."""
    try:
        found = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise FileNotFoundError(f"{target.parent} does not exist; create it first") from None
        return None
    if stat.S_ISDIR(found):
        raise FileExistsError(f"{path} is a folder; choose another path")
    if not stat.S_ISREG(found):
        raise FileExistsError(f"{path} is a pipe or a device; choose another path")
    return stat.S_IMODE(found)


def refuse(path: Path, error: Exception) -> NoReturn:
    """Raise the error of the system again, in one sentence and with its number."""
    number = getattr(error, "errno", None)
    room = ", or make room" if number in _NO_ROOM else ""
    is_ring = isinstance(error, RuntimeError) or (number == errno.EEXIST and path.is_symlink() and not path.exists())
    if is_ring:
        raise OSError(
            f"A file is saved to a path that can be written; {path} is a ring of links; choose another path."
        ) from error
    reason = str(error) if number is None else f"{path} cannot ({os.strerror(number)}); choose another path{room}"
    kind = type(error) if isinstance(error, OSError) else OSError
    refusal = kind(f"A file is saved to a path that can be written; {reason}.")
    refusal.errno = number
    raise refusal from error


@contextmanager
def in_a_sentence(path: str | os.PathLike[str]) -> Iterator[None]:
    """Give a context in which what the system says of files, in words of its own, is said in one sentence."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:  # the library has said it
            raise
        raise type(error)(
            f"Files are where they can be read and written; {os.fspath(path)} is not ({error.strerror}); see to it, or "
            "choose another path."
        ) from error


# ---- what is written beside ------------------------------------------------------------------------------------------
def _beside(target: Path) -> Path:
    """Return a new name in the same folder, which says whose it is and who writes it."""
    return (
        target.parent / f".harmonium-{_short(target.name, 16)}-{_host()}-{os.getpid()}-{secrets.token_hex(6)}.partial"
    )


def living_partials(folder: Path, name: str) -> list[Path]:
    """Return what is written beside a file at this moment."""
    return [entry for entry, is_abandoned in _partials(folder, name) if not is_abandoned]


def sweep(folder: Path, name: str | None = None) -> None:
    """Remove what killed writers left behind: of one file, or of all files of a folder."""
    with suppress(OSError):  # a folder that cannot be listed can still be written to
        for entry, is_abandoned in _partials(folder, name):
            if is_abandoned:
                entry.unlink(missing_ok=True)  # another writer may have removed it


def _partials(folder: Path, name: str | None) -> Iterator[tuple[Path, bool]]:
    """Yield what was written beside a file, or beside any, and whether nobody is at work on it."""
    for entry in list(folder.iterdir()):
        found = _PARTIAL.fullmatch(entry.name)
        if found and (name is None or found["target"] == _short(name, 16)):
            yield entry, _is_abandoned(entry, found["host"], found["pid"])


def _is_abandoned(partial: Path, host: str, pid: str) -> bool:
    """Tell whether the writer is gone; one on another machine is given time, as nobody here can ask for it."""
    if host == _host() and os.name == "posix":
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            pass  # it lives and belongs to somebody else
    try:
        return time.time() - partial.stat().st_mtime > _OLD
    except OSError:
        return False


def _short(text: str, length: int) -> str:
    """Return a name of fixed length, as the names of files must not become too long."""
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:length]


@cache
def _host() -> str:
    """Return a short name of where numbers of processes mean something: this machine, or a container on it."""
    try:
        numbering = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        numbering = 0
    return _short(f"{platform.node()} {numbering}", 8)
