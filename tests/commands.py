"""The command line, run in this process (it takes a second to start) or in one of its own."""

import io
import subprocess
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from unittest.mock import patch

from driftlab.cli import main


def run(*words, text="", cwd="."):
    """Run a command as `run_process` does, without the start of a process."""
    argv = ["driftlab", *map(str, words)]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        chdir(cwd),
        patch.object(sys, "argv", argv),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()))),
        warnings.catch_warnings(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        warnings.resetwarnings()  # what a user sees, not what is an error in tests
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())


def run_process(*words, text=None, cwd=None):
    """Run a command in a process of its own; bytes in, bytes out where `text` is bytes."""
    command = [sys.executable, "-m", "driftlab.cli", *map(str, words)]
    as_text = not isinstance(text, bytes)
    return subprocess.run(command, capture_output=True, text=as_text, input=text, cwd=cwd, check=False)
