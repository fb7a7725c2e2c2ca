"""A temporary folder of small Python files with bugs, next to a unittest file that is really run."""

from __future__ import annotations

import builtins
import functools
import shutil
import tempfile
import types
import unittest
from pathlib import Path
from types import CodeType

from .code_library import EXERCISES, Bug, Exercise
from .dice import Dice

FILES = 7
TESTS_EACH = 3


class CodeProject:
    """Seven files, three to five of them with one bug each, and three tests a file."""

    def __init__(self, seed: int, problem: int | str) -> None:
        dice = Dice(seed, "code", problem)
        chosen = dice.sample(EXERCISES, FILES)
        self.names = sorted(exercise.name for exercise in chosen)
        self.folder = Path(tempfile.mkdtemp(prefix="driftlab-demo-"))
        for exercise in chosen:
            self.write(f"{exercise.name}.py", exercise.source)
        # The expected values come out of the right code, before the bugs go in.
        calls = {exercise.name: dice.sample(exercise.calls, TESTS_EACH) for exercise in chosen}
        self.write("tests.py", self._test_file(calls))
        self.bugs: dict[str, Bug] = {}
        self.lines: dict[str, int] = {}
        for exercise in dice.sample(chosen, dice.between(3, 5)):
            self._break(exercise, dice)
        self.initial = {name: self.line(name) for name in self.bugs}

    def _break(self, exercise: Exercise, dice: Dice) -> None:
        bug = dice.pick(exercise.bugs)
        lines = [line.strip() for line in exercise.source.splitlines()]
        self.bugs[exercise.name] = bug
        self.lines[exercise.name] = lines.index(bug.right) + 1
        self.replace_line(exercise.name, self.lines[exercise.name], bug.wrong)

    def _test_file(self, calls: dict[str, list[str]]) -> str:
        out = ["import unittest", "", *(f"from {name} import {name}" for name in self.names)]
        out += ["", "", "class Tests(unittest.TestCase):"]
        for name in self.names:
            scope: dict[str, object] = {}
            exec(self.read(f"{name}.py"), scope)
            for number, call in enumerate(calls[name], 1):
                out += [f"    def test_{name}_{number}(self):"]
                out += [f"        self.assertEqual({call}, {eval(call, scope)!r})", ""]
        return "\n".join(out)

    def write(self, path: str, text: str) -> None:
        """Write a file of the project."""
        (self.folder / path).write_text(text, encoding="utf-8", newline="\n")

    def read(self, path: str) -> str:
        """Text of a file of the project."""
        return (self.folder / path).read_text(encoding="utf-8")

    def paths(self) -> list[str]:
        """The Python files, by name."""
        return sorted(path.name for path in self.folder.glob("*.py"))

    def line(self, name: str) -> str:
        """The line of a buggy file that has to change."""
        return self.read(f"{name}.py").splitlines()[self.lines[name] - 1].strip()

    def replace_line(self, name: str, number: int, text: str) -> None:
        """Replace one line and keep its indentation."""
        lines = self.read(f"{name}.py").splitlines()
        indent = len(lines[number - 1]) - len(lines[number - 1].lstrip())
        lines[number - 1] = " " * indent + text
        self.write(f"{name}.py", "\n".join(lines) + "\n")

    def tests(self) -> list[str]:
        """Names of all tests."""
        return [f"test_{name}_{number}" for name in self.names for number in range(1, TESTS_EACH + 1)]

    def run(self, tests: list[str]) -> dict[str, str]:
        """Really run the tests in freshly loaded modules: test -> "" or the reason of its failure."""
        try:
            case = self._load()
        except SyntaxError as error:
            # Only the type and the file: the message of a syntax error changes with the version of Python.
            return dict.fromkeys(tests, f"SyntaxError in {error.filename}")
        return {test: _reason(case(test)) for test in tests}

    def _load(self) -> type[unittest.TestCase]:
        modules = {name: self._module(name) for name in self.names}

        def fresh(name: str, *rest: object) -> types.ModuleType:
            return modules.get(name) or builtins.__import__(name, *rest)  # type: ignore[arg-type]

        scope: dict[str, object] = {"__builtins__": {**vars(builtins), "__import__": fresh}, "__name__": "tests"}
        exec(_compiled(self.read("tests.py"), "tests.py"), scope)
        return scope["Tests"]  # type: ignore[return-value]

    def _module(self, name: str) -> types.ModuleType:
        module = types.ModuleType(name)
        exec(_compiled(self.read(f"{name}.py"), f"{name}.py"), vars(module))
        return module

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder)


@functools.lru_cache(4096)
def _compiled(text: str, path: str) -> CodeType:
    return compile(text, path, "exec")


def _reason(case: unittest.TestCase) -> str:
    result = unittest.TestResult()
    case.run(result)
    if result.failures:
        return _last_line(result.failures[0][1])
    # Of an exception only the type: messages differ between versions of Python.
    return _last_line(result.errors[0][1]).split(":")[0] if result.errors else ""


def _last_line(traceback: str) -> str:
    """The assertion line of a traceback, without the paths and the diff around it."""
    return next(line for line in traceback.splitlines() if line[:1].isalpha() and "Error" in line)
