"""Task signals read from what tools print."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from driftlab._util.registry import Registry
from driftlab.trace.schema import SignalSpec, Step, Trace

__all__ = ["EXTRACTORS", "Extractor", "extractor", "with_signals"]

Found = dict[str, float]
_TAIL = 65_536  # characters at the end of an output that are read: summaries stand last


@dataclass(frozen=True)
class Extractor:
    """Reads numbers from the output of a tool.

    Parameters
    ----------
    name : str
        The word people type.
    title : str
        What it reads.
    find : callable
        From an output to numbers by signal; empty when the output holds none.
    specs : mapping of str to SignalSpec
        What each number means.

    Examples
    --------
    >>> EXTRACTORS["pytest"].find("=== 2 failed, 10 passed in 0.4s ===")
    {'tests_passed': 10.0, 'tests_failed': 2.0}
    """

    name: str
    title: str
    find: Callable[[str], Found]
    specs: dict[str, SignalSpec]


def extractor(which: "str | Extractor") -> Extractor:
    """Return an extractor by name.

    Raises
    ------
    InputError
        When there is none of that name.

    Examples
    --------
    >>> extractor("percent").specs["percent"].goal
    100
    """
    return which if isinstance(which, Extractor) else EXTRACTORS[which]


def with_signals(trace: Trace, extractors: Iterable[Extractor]) -> Trace:
    """Return the trace with the signals that the extractors find in its outputs.

    A signal that the trace has already is left as it is; each new one is recorded in ``extra["mapping"]``.

    Examples
    --------
    >>> trace = Trace(id="a", steps=[Step(tool="make", output="50% done")])
    >>> with_signals(trace, [EXTRACTORS["percent"]]).steps[0].signals
    {'percent': 50.0}
    """
    readers = list(extractors)
    if not readers:
        return trace
    used: dict[str, str] = {}
    own = set(trace.signal_specs) | {name for step in trace.steps for name in step.signals or {}}
    steps = [_step(step, readers, own, used) for step in trace.steps]
    if not used:
        return trace
    specs = {name: spec for reader in readers for name, spec in reader.specs.items() if name in used}
    mapping = {
        **((trace.extra or {}).get("mapping") or {}),
        **{f"signals.{k}": f"{v}, in output" for k, v in used.items()},
    }
    extra = {**(trace.extra or {}), "mapping": mapping}
    return trace.replace(steps=tuple(steps), signal_specs={**specs, **trace.signal_specs}, extra=extra)


def _step(step: Step, readers: list[Extractor], own: set[str], used: dict[str, str]) -> Step:
    if not step.output:
        return step
    found: dict[str, float | None] = {}
    for reader in readers:
        for name, value in reader.find(step.output[-_TAIL:]).items():
            if name not in own and name not in found:
                found[name] = value
                used.setdefault(name, reader.title)
    if not found:
        return step
    fields = {name: getattr(step, name) for name in Step.__struct_fields__}
    return Step(**{**fields, "signals": {**found, **(step.signals or {})}})


# Every pattern is linear in the length of the text: no \\s across lines, no open-ended run of digits.
_PYTEST = re.compile(
    r"^=*[ \t]*((?:\d{1,9} [a-z]{1,12}(?:, )?)+)(?: in [\d.]{1,12}m?s?[^\n]*)?[ \t]*=*[ \t]*$", re.MULTILINE
)
_PYTEST_PART = re.compile(r"(\d{1,9}) (passed|failed|errors?|skipped|xfailed|xpassed)")
_UNITTEST = re.compile(r"^Ran (\d{1,9}) tests? in [\d.]{1,12}s\s{1,4}^(OK|FAILED)(?: \(([^)\n]*)\))?", re.MULTILINE)
_JEST = re.compile(r"^Tests:[ \t]+((?:\d{1,9} [a-z]{1,12}(?:, )?)+)", re.MULTILINE)
_CARGO = re.compile(r"^test result: \w{1,9}\. (\d{1,9}) passed; (\d{1,9}) failed", re.MULTILINE)
_GO = re.compile(r"^[ \t]*--- (PASS|FAIL): ", re.MULTILINE)
_N_OF_M = re.compile(r"(?<![\w./-])(\d{1,9}) ?(?:/|of|out of) ?(\d{1,9})(?![\w./-])")
_PERCENT = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,9})?) ?%")
_ROWS = re.compile(
    r"(?<![\d,])(\d[\d,]{0,14}) (?:rows?|records?|items?|files?|errors?|tasks?|lines?) "
    r"(?:left|remaining|to go|pending)\b"
    r"|\b(?:left|remaining|pending) ?[:=] ?(\d[\d,]{0,14})(?!\d)",
    re.IGNORECASE,
)


def _tests(passed: int, failed: int) -> Found:
    return {"tests_passed": float(passed), "tests_failed": float(failed)}


def _pytest(text: str) -> Found:
    for match in reversed(list(_PYTEST.finditer(text))):
        parts = {
            kind.rstrip("s") if kind.startswith("error") else kind: int(n) for n, kind in _PYTEST_PART.findall(match[1])
        }
        if parts:
            return _tests(parts.get("passed", 0), parts.get("failed", 0) + parts.get("error", 0))
    return {}


def _unittest(text: str) -> Found:
    found = list(_UNITTEST.finditer(text))
    if not found:
        return {}
    total, _, notes = found[-1].groups()
    counts = {k: int(n) for k, n in re.findall(r"(failures|errors|skipped|unexpected successes)=(\d+)", notes or "")}
    failed = counts.get("failures", 0) + counts.get("errors", 0) + counts.get("unexpected successes", 0)
    return _tests(max(int(total) - failed - counts.get("skipped", 0), 0), failed)


def _jest(text: str) -> Found:
    found = list(_JEST.finditer(text))
    if not found:
        return {}
    counts = {kind: int(n) for n, kind in re.findall(r"(\d+) (\w+)", found[-1][1])}
    return _tests(counts.get("passed", 0), counts.get("failed", 0))


def _cargo(text: str) -> Found:
    # One line a crate: their sums are the run.
    found = _CARGO.findall(text)
    return _tests(sum(int(p) for p, _ in found), sum(int(f) for _, f in found)) if found else {}


def _go(text: str) -> Found:
    found = _GO.findall(text)
    return _tests(found.count("PASS"), found.count("FAIL")) if found else {}


def _n_of_m(text: str) -> Found:
    found = [(int(n), int(m)) for n, m in _N_OF_M.findall(text)]
    fitting = [(n, m) for n, m in found if m > 0 and n <= m]
    return {"done": fitting[-1][0] / fitting[-1][1]} if fitting else {}


def _percent(text: str) -> Found:
    found = [float(value) for value in _PERCENT.findall(text)]
    fitting = [value for value in found if value <= 100]
    return {"percent": fitting[-1]} if fitting else {}


def _rows_left(text: str) -> Found:
    found = _ROWS.findall(text)
    return {"rows_left": float((found[-1][0] or found[-1][1]).replace(",", ""))} if found else {}


_TEST_SPECS = {"tests_passed": SignalSpec("higher"), "tests_failed": SignalSpec("lower", goal=0)}

EXTRACTORS: Registry[Extractor] = Registry(
    "extractor",
    (
        (each.name, each)
        for each in (
            Extractor("pytest", "summary line of pytest", _pytest, _TEST_SPECS),
            Extractor("unittest", "last lines of unittest", _unittest, _TEST_SPECS),
            Extractor("jest", "line 'Tests:' of jest, vitest", _jest, _TEST_SPECS),
            Extractor("cargo", "lines 'test result:' of cargo test, summed", _cargo, _TEST_SPECS),
            Extractor("go", "lines '--- PASS', '--- FAIL' of go test -v, counted", _go, _TEST_SPECS),
            Extractor("n_of_m", "last 'n of m' or 'n/m', as a share", _n_of_m, {"done": SignalSpec("higher", goal=1)}),
            Extractor("percent", "last percentage up to 100", _percent, {"percent": SignalSpec("higher", goal=100)}),
            Extractor(
                "rows_left", "last count of what is left", _rows_left, {"rows_left": SignalSpec("lower", goal=0)}
            ),
        )
    ),
)
