"""Files that are either whole or absent."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from driftlab._util.errors import InputError


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
