"""Files that are either whole or absent."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from driftlab._util.errors import InputError

__all__ = ["file_to_write", "folder_to_write", "replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it over `path` when the block ends well.

    The parent folder is made when it is missing. After an error the temporary file is removed
    and what was at `path` before is untouched.

    Raises
    ------
    InputError
        When nothing can be written there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a" / "note.txt"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> target.read_text()
    'whole'
    """
    target = Path(path)
    temporary = _beside(target)
    try:
        yield temporary
        # mkstemp makes files for the owner alone; a result should be as readable as any other file.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _beside(target: Path) -> Path:
    if target.is_dir():
        raise InputError(f"{target}: cannot be written: is a folder; name a file")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        reason = f"its folder {str(target.parent)!r} cannot be used: {error.strerror}"
        raise InputError(f"{target}: cannot be written: {reason}") from error
    os.close(handle)
    return Path(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def file_to_write(option: str, path: str | os.PathLike[str]) -> None:
    """Raise an `InputError` unless a file can be written at `path`; folders that are missing will be made.

    Examples
    --------
    >>> file_to_write("--output", "/")
    Traceback (most recent call last):
        ...
    driftlab.InputError: --output '/' is a folder; name a file
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{option} {str(path)!r} is a {'folder' if os.path.isdir(path) else 'device'}; name a file")
    _writable(option, path, Path(path).parent)


def folder_to_write(option: str, path: str | os.PathLike[str]) -> None:
    """Raise an `InputError` unless files can be written in a folder at `path`; it will be made when it is missing.

    Examples
    --------
    >>> folder_to_write("--output", __file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    driftlab.InputError: --output '...files.py' is a file; name a folder
    """
    if os.path.exists(path) and not os.path.isdir(path):
        raise InputError(f"{option} {str(path)!r} is a file; name a folder")
    _writable(option, path, Path(path))


def _writable(option: str, path: str | os.PathLike[str], folder: Path) -> None:
    there = next((place for place in (folder, *folder.parents) if os.path.lexists(place)), Path())
    reason = "" if os.access(there, os.W_OK | os.X_OK) else "is write-protected"
    if not there.is_dir():
        reason = "is a file" if there.exists() else "leads nowhere"
    if reason:
        raise InputError(f"{option} {str(path)!r} cannot be written: {str(there)!r} {reason}; name another place")
