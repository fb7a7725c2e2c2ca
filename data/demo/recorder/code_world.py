"""The code task: tools on a small project and the calls an agent may make with them."""

from __future__ import annotations

import json
import re
from typing import Any

from .code_project import CodeProject
from .dice import Dice
from .run import Call, Result, Temper

WORDS = [
    "boundary",
    "legacy",
    "fallback",
    "overflow",
    "off_by_one",
    "rounding",
    "TODO",
    "cache",
    "deprecated",
    "locale",
    "override",
    "sentinel",
    "compat",
    "workaround",
    "threshold",
    "unicode",
    "normalise",
    "strict",
]
REMARKS = (
    "keep the edge case",
    "edge case kept",
    "handle the edge",
    "as the docstring says",
    "per the docstring",
    "matches the docs",
    "should be safe",
    "safe now",
    "should work now",
    "corrected",
    "corrected again",
    "see test",
)
PAGE = 400  # characters of a file shown at once
SHOWN = 3  # failures written out in a test report


TEMPER = Temper(
    eager=0.85,
    lost=0.85,
    detours={"wait": 3.0, "batch": 2.0, "explore": 2.0, "search": 1.5, "repeat": 2.0, "ponder": 1.5, "regress": 1.5},
)


class CodeWorld:
    """A project, a slow background run of its tests and the number of passing tests as the signal."""

    signal = "tests_passed"
    temper = TEMPER

    def __init__(self, seed: int, problem: int | str) -> None:
        self.project = CodeProject(seed, problem)
        self.facets = list(self.project.bugs)
        self.goal = float(len(self.project.tests()))
        self.report = "tests not run"
        self.jobs = 0

    # What the policies see

    def measure(self) -> float:
        """Passing tests right now, from a real run."""
        return float(sum(not reason for reason in self.project.run(self.project.tests()).values()))

    def state(self) -> str:
        """The changed lines, the last test report and the background job: what is different in the world."""
        changed = [
            f"{name}.py:{self.project.lines[name]} {self.project.line(name)}"
            for name in sorted(self.facets)
            if self.project.line(name) != self.project.initial[name]
        ]
        job = self._job()
        shown = [f"job {job['id']} {job['phase']} {job['done']}/{int(self.goal)}"] if job else []
        return "\n".join([*changed, self.report, *shown])

    def waiting(self) -> bool:
        job = self._job()
        return bool(job) and job["phase"] != "finished"

    def blocked(self, facet: str) -> bool:
        return False

    def idle(self) -> bool:
        return False

    def close(self) -> None:
        self.project.close()

    # Calls

    def orient(self, dice: Dice) -> list[Call]:
        return [Call("list_files", {}), self.read("tests") if dice.chance(0.4) else self.wander(dice), self.verify()]

    def read(self, facet: str) -> Call:
        return Call("read_file", {"path": f"{facet}.py"})

    def wander(self, dice: Dice) -> Call:
        name = dice.pick(self.project.names)
        return self.read(name) if dice.chance(0.6) else Call("grep", {"pattern": f"def {name}"})

    def hunt(self, facet: str, dice: Dice) -> Call:
        """A search that may well find nothing."""
        word = dice.pick(WORDS)
        pattern = dice.pick((word, f"# {word}", f"{facet}.*{word}", f"{word}_{facet}", f"{word}|{dice.pick(WORDS)}"))
        return Call("grep", {"pattern": pattern})

    def edit(self, facet: str, text: str) -> Call:
        return Call("replace_line", {"path": f"{facet}.py", "line": self.project.lines[facet], "text": text})

    def right(self, facet: str) -> str:
        return self.project.bugs[facet].right

    def wrongs(self, facet: str) -> list[str]:
        return [*self.project.bugs[facet].tries]

    def current(self, facet: str) -> str:
        return self.project.line(facet)

    def spoil(self, facet: str) -> str:
        """An edit that makes things worse: it does not even compile."""
        return self.project.line(facet) + " ("

    def note(self, text: str) -> Call:
        return Call("note", {"text": text})

    def reword(self, text: str, dice: Dice) -> str:
        return f"{text}  # {dice.pick(REMARKS)}"

    def verify(self) -> Call:
        return Call("run_tests", {})

    def start_job(self) -> Call:
        return Call("start_job", {"command": "slow_tests"})

    def poll(self) -> Call:
        return Call("poll_job", {"job": self.jobs})

    def batch(self, dice: Dice) -> list[Call]:
        if dice.chance(0.5):
            return [Call("compile_file", {"path": path}) for path in self.project.paths()]
        word = dice.pick(WORDS)
        return [Call("grep", {"pattern": word, "path": path}) for path in self.project.paths()]

    def submit(self) -> Call:
        return Call("submit", {})

    # Tools

    def execute(self, call: Call) -> Result:
        """Run the tool of that name."""
        result: Result = getattr(self, f"_tool_{call.tool}")(**call.args)
        return result

    def _tool_list_files(self) -> Result:
        return Result(" ".join(self.project.paths()))

    def _tool_read_file(self, path: str) -> Result:
        text = self.project.read(path).strip()
        return Result(text if len(text) < PAGE else text[:PAGE] + "\n... cut")

    def _tool_grep(self, pattern: str, path: str = "") -> Result:
        hits = [
            f"{name}:{number}: {line.strip()}"
            for name in self.project.paths()
            if name == (path or name)
            for number, line in enumerate(self.project.read(name).splitlines(), 1)
            if re.search(pattern, line)
        ]
        return Result("\n".join(hits[:5]) or "no matches")

    def _tool_replace_line(self, path: str, line: int, text: str) -> Result:
        name = path.removesuffix(".py")
        same = self.project.read(path).splitlines()[line - 1].strip() == text
        self.project.replace_line(name, line, text)
        return Result(f"{path}: nothing changed" if same else f"{path}: line {line} replaced")

    def _tool_compile_file(self, path: str) -> Result:
        try:
            compile(self.project.read(path), path, "exec")
        except SyntaxError:
            return Result(f"SyntaxError in {path}", error=True)
        return Result("ok")

    def _tool_note(self, text: str) -> Result:
        path = self.project.folder / "notes.md"
        notes = [*(path.read_text("utf-8").splitlines() if path.exists() else []), text]
        path.write_text("\n".join(notes), "utf-8")
        return Result(f"notes.md has {len(notes)} lines")

    def _tool_run_tests(self) -> Result:
        return self._reported(self.project.run(self.project.tests()))

    def _tool_submit(self) -> Result:
        return self._reported(self.project.run(self.project.tests()))

    def _reported(self, reasons: dict[str, str]) -> Result:
        failed = {test: reason for test, reason in reasons.items() if reason}
        passed = len(reasons) - len(failed)
        self.report = f"{passed} of {len(reasons)} tests pass"
        # A syntax error breaks every test in the same way: say it once.
        texts = dict.fromkeys(reason if "Syntax" in reason else f"{test}: {reason}" for test, reason in failed.items())
        return Result("\n".join([self.report, *list(texts)[:SHOWN]]), {self.signal: float(passed)})

    # The background job: its status file moves on by one look at a time, so no clock is involved

    def _job(self) -> dict[str, Any]:
        path = self.project.folder / "job.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def _save_job(self, job: dict[str, Any]) -> None:
        self.project.write("job.json", json.dumps(job))

    def _tool_start_job(self, command: str) -> Result:
        self.jobs += 1
        queue = 1 + (self.jobs + len(self.facets)) % 4
        self._save_job({"id": self.jobs, "phase": "queued", "queue": queue, "done": 0, "reasons": {}})
        return Result(f"job {self.jobs} ({command}) queued")

    def _tool_poll_job(self, job: int) -> Result:
        status = self._job()
        if status["queue"]:
            status["queue"] -= 1
        else:
            status["phase"] = "running"
            tests = self.project.tests()[status["done"] : status["done"] + 7]
            status["reasons"] |= self.project.run(tests)
            status["done"] = len(status["reasons"])
        if status["done"] == int(self.goal):
            status["phase"] = "finished"
        self._save_job(status)
        if status["phase"] == "finished":
            return self._reported(status["reasons"])
        return Result(f"job {job} {status['phase']}")
