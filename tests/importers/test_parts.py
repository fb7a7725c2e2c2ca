"""Signals from outputs, stitching, redaction, the pieces that importers share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftlab._util.errors import InputError
from driftlab.importers.parts.health import HealthReport
from driftlab.importers.parts.repeats import chained
from driftlab.importers.parts.signals import EXTRACTORS, extractor, with_signals
from driftlab.importers.parts.stitch import by_agent, by_session, joined, run_view
from driftlab.importers.parts.turns import Call, Turns
from driftlab.trace.redact import PATTERNS, PROFILES, check, redact
from driftlab.trace.schema import SignalSpec, Span, Step, Trace

TESTS = {"tests_passed": 3.0, "tests_failed": 1.0}
OUTPUTS = [
    ("pytest", "collected 4 items\n\n==== 1 failed, 3 passed, 2 warnings in 0.12s ====", TESTS),
    ("pytest", "3 passed, 1 error in 2.00s", TESTS),
    ("pytest", "=== 4 passed in 61.00s (0:01:01) ===", {"tests_passed": 4.0, "tests_failed": 0.0}),
    ("pytest", "=== 1 skipped in 0.1s ===", {"tests_passed": 0.0, "tests_failed": 0.0}),
    ("pytest", "=== 2 failed in 1s ===\n=== 1 failed, 3 passed in 1s ===", TESTS),
    ("pytest", "no tests ran in 0.01s", {}),
    ("pytest", "he passed 3 exams", {}),
    ("unittest", "....\nRan 4 tests in 0.001s\n\nOK", {"tests_passed": 4.0, "tests_failed": 0.0}),
    ("unittest", "Ran 5 tests in 0.001s\n\nFAILED (failures=1, skipped=1)", TESTS),
    ("unittest", "Ran 1 test in 0.001s\n\nFAILED (errors=1)", {"tests_passed": 0.0, "tests_failed": 1.0}),
    ("jest", "Test Suites: 1 failed, 1 total\nTests:       1 failed, 3 passed, 4 total\n", TESTS),
    ("cargo", "test result: FAILED. 2 passed; 1 failed; 0 ignored\ntest result: ok. 1 passed; 0 failed; 0", TESTS),
    ("go", "--- PASS: TestA\n    --- PASS: TestA/b\n--- PASS: TestC\n--- FAIL: TestD\n", TESTS),
    ("n_of_m", "step 3 of 12 done", {"done": 0.25}),
    ("n_of_m", "[ 1/4] a\n[ 2/4] b", {"done": 0.5}),
    ("n_of_m", "on 2024/12/31 and in a/3/4/b", {}),
    ("n_of_m", "9 of 3", {}),
    ("percent", "Coverage: 81.5%", {"percent": 81.5}),
    ("percent", "up 250% since, now 40 %", {"percent": 40.0}),
    ("rows_left", "1,204 rows left", {"rows_left": 1204.0}),
    ("rows_left", "remaining: 7", {"rows_left": 7.0}),
    ("rows_left", "turn left at 7", {}),
]


@pytest.mark.parametrize(("name", "text", "found"), OUTPUTS)
def test_extractor(name: str, text: str, found: dict[str, float]) -> None:
    assert EXTRACTORS[name].find(text) == found


def test_every_extractor_declares_what_it_finds() -> None:
    assert {name for name, _, _ in OUTPUTS} == set(EXTRACTORS)
    for name, text, _ in OUTPUTS:
        assert set(EXTRACTORS[name].find(text)) <= set(EXTRACTORS[name].specs)


@given(st.text(max_size=300))
def test_no_text_breaks_an_extractor(text: str) -> None:
    for each in EXTRACTORS.values():
        assert all(isinstance(value, float) for value in each.find(text).values())


@pytest.mark.parametrize("name", sorted(EXTRACTORS))
@pytest.mark.parametrize("text", ["1 passed, " * 6000, "=" * 60_000, "1 of " * 12_000, "9" * 60_000, " \n" * 30_000])
def test_no_text_takes_long(name: str, text: str) -> None:
    import time

    started = time.perf_counter()
    EXTRACTORS[name].find(text)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    "text", ["password " * 8000, "eyJ" * 20_000, "a@" * 30_000, "9." * 30_000, "-----BEGIN " * 6000]
)
def test_no_text_takes_long_to_redact(text: str) -> None:
    import time

    started = time.perf_counter()
    redact([Trace(id="a", steps=[Step(output=text)])], profile="strict")
    assert time.perf_counter() - started < 2


def test_signals_are_recorded_with_direction_and_origin() -> None:
    trace = Trace(id="a", steps=[Step(tool="t", output="1 failed, 3 passed in 1s"), Step(tool="t", output="50%")])
    found = with_signals(trace, [extractor("pytest"), extractor("percent")])
    assert [step.signals for step in found.steps] == [TESTS, {"percent": 50.0}]
    assert found.signal_specs["tests_failed"] == SignalSpec("lower", goal=0)
    assert found.extra == {
        "mapping": {
            "signals.tests_passed": "summary line of pytest, in output",
            "signals.tests_failed": "summary line of pytest, in output",
            "signals.percent": "last percentage up to 100, in output",
        }
    }


def test_a_signal_that_the_trace_has_is_left_alone() -> None:
    trace = Trace(id="a", steps=[Step(tool="t", output="50%", signals={"percent": 1.0})])
    assert with_signals(trace, [extractor("percent")]) == trace
    assert with_signals(trace, []) is trace


def test_unknown_extractor() -> None:
    with pytest.raises(InputError, match="unknown extractor 'pytset'; did you mean 'pytest'"):
        extractor("pytset")


# Stitching

nodes = st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=12)


@given(nodes)
def test_apart_and_together_again(names: list[str | None]) -> None:
    run = Trace(id="r", steps=[Step(node=name, tool=str(n)) for n, name in enumerate(names)])
    parts = by_agent(run)
    assert sum(len(part.steps) for part in parts) == len(run.steps)
    assert run_view(parts).steps == run.steps
    assert run_view(parts[::-1]).id == "r"


def test_parts_that_do_not_know_their_place() -> None:
    with pytest.raises(InputError, match="does not say where its steps stood"):
        run_view([Trace(id="a", steps=[Step()])])


def test_stalls_move_along_and_open_ends_close() -> None:
    first = Trace(id="a", label="stalled", stalls=[Span(1)], steps=[Step()] * 3)
    second = Trace(id="b", label="stalled", stalls=[Span(0, 1), Span(2)], steps=[Step()] * 4)
    run = joined([first, second])
    assert [(span.start, span.end) for span in run.stalls] == [(1, 3), (3, 4), (5, None)]
    assert [step.event for step in run.steps] == [None, None, None, "user", None, None, None]
    assert run.extra == {"runs": ["a", "b"]}


@pytest.mark.parametrize(
    ("labels", "label"),
    [(["good", "good"], "good"), (["good", "stalled"], "stalled"), (["good", None], None), (["unsure", "good"], None)],
)
def test_label_of_a_joined_run(labels: list[str | None], label: str | None) -> None:
    assert joined([Trace(id=str(n), label=x, steps=[Step()]) for n, x in enumerate(labels)]).label == label  # type: ignore[arg-type]


def test_sessions_keep_their_order() -> None:
    runs = [
        Trace(id=i, steps=[Step(tool=i)], extra={"session": s} if s else None)
        for i, s in (("a", "s"), ("b", None), ("c", "s"))
    ]
    assert [(t.id, [step.tool for step in t.steps]) for t in by_session(runs)] == [("s", ["a", "c"]), ("b", ["b"])]


keys = st.lists(st.integers(0, 3), max_size=6)


@given(st.lists(keys, max_size=4))
def test_nothing_is_lost_or_counted_twice_when_files_are_joined(files: list[list[int]]) -> None:
    runs, dropped = chained([(str(n), [(key, key) for key in file]) for n, file in enumerate(files)])
    assert sum(len(run.records) for run in runs) + dropped == sum(map(len, files))
    assert len({run.name for run in runs}) == len(runs)


# Turns


@given(st.lists(st.sampled_from(["call", "result", "speak", "user"]), max_size=30), st.integers(1, 3))
def test_one_step_a_call_whatever_the_order(ops: list[str], ids: int) -> None:
    turns, calls = Turns(HealthReport()), 0
    for n, op in enumerate(ops):
        if op == "call":
            turns.call(Call(f"c{n % ids}", "t", n))
            calls += 1
        elif op == "result":
            turns.result(f"c{n % ids}", str(n))
        elif op == "speak":
            turns.speak("text")
        else:
            turns.user()
    steps = turns.steps()
    assert [step.args for step in steps if step.has_call] == [n for n, op in enumerate(ops) if op == "call"]
    assert len(steps) - calls <= ops.count("speak")


def test_parts_of_one_message_are_joined_and_those_of_two_are_not() -> None:
    turns = Turns(HealthReport())
    turns.speak(None, "hm", key="m1")
    turns.speak("one", key="m1")
    turns.speak(None, "only thought", key="m2")
    turns.speak("two", key="m3")
    turns.speak(None, "first reasoning")
    turns.speak("then text")
    turns.call(Call("c", "t"))
    assert [(step.thought, step.state, step.tool) for step in turns.steps()] == [
        ("hm", "one", None),
        ("only thought", None, None),
        (None, "two", None),
        ("first reasoning", "then text", "t"),
    ]


def test_empty_text_is_empty_for_the_calls_of_its_message_only() -> None:
    turns = Turns(HealthReport())
    turns.speak("")
    for n in range(2):
        turns.call(Call(f"c{n}", "t"))
    for n in range(2):
        turns.result(f"c{n}", "x")
    turns.call(Call("later", "t"))
    assert [step.state for step in turns.steps()] == ["", "", None]


def test_results_of_equal_ids_in_one_message_come_in_order() -> None:
    turns = Turns(HealthReport())
    for n in (1, 2):
        turns.call(Call("c", "t", n))
    for n in (1, 2):
        turns.result("c", str(n))
    assert [step.output for step in turns.steps()] == ["1", "2"]


def test_an_id_used_again_while_the_first_call_still_waits() -> None:
    turns = Turns(HealthReport())
    turns.call(Call("c", "t", 1))
    turns.user()
    turns.call(Call("c", "t", 2))
    turns.result("c", "two")
    assert [step.output for step in turns.steps()] == [None, "two"]


def test_a_result_written_again_replaces_the_first() -> None:
    health = HealthReport()
    turns = Turns(health)
    turns.call(Call("c", "t"))
    for text in ("half", "whole"):
        turns.result("c", text)
    turns.result("d", "nobody asked")
    assert turns.steps()[0].output == "whole"
    assert (health.counts["rewritten"], health.counts["results_without_call"]) == (1, 1)


def test_many_calls_without_results_are_not_quadratic() -> None:
    import time

    turns, started = Turns(HealthReport()), time.perf_counter()
    for n in range(30_000):
        turns.call(Call(f"c{n}", "t"))
    for n in range(30_000):
        turns.result(f"c{n}", "x")
    assert time.perf_counter() - started < 5


# Redaction

SECRETS = {
    "keys": ["sk-abcdefghijklmnop1234", "ghp_abcdefghijklmnop1234", "AKIAABCDEFGHIJKLMNOP"],
    "tokens": ["Bearer abcdefgh12345", "password=hunter22", 'api_key: "hunter22"', "https://ann:hunter22@host/x"],
    "emails": ["ann.b+c@example.org"],
    "ips": ["10.0.12.255"],
    "paths": ["/home/ann/x.py", "/Users/ann", r"C:\Users\ann\x"],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SECRETS.items() for text in texts])
def test_secret(kind: str, text: str) -> None:
    trace = Trace(id="a", steps=[Step(tool="t", args={"k": [text]}, output=f"see {text} there")])
    found, report = redact([trace], profile="strict")
    assert report.kinds[kind] >= 2
    assert f"<{kind}:1>" in (found[0].steps[0].output or "")
    for secret in ("hunter22", "abcdefgh", "ann", "10.0.12"):
        assert secret not in repr(found[0].steps)
    check(found)
    with pytest.raises(InputError, match=kind):
        check([trace])


@pytest.mark.parametrize("text", ["3 passed in 0.1s", "mean = 2.5", "/srv/data/x", "v1.2.3", "a@b", "tokens: 812"])
def test_what_is_no_secret_stays(text: str) -> None:
    trace = Trace(id="a", steps=[Step(output=text, tool="t")])
    assert redact([trace], profile="personal")[0] == [trace]


def test_equal_secrets_stay_equal_and_different_ones_different() -> None:
    """A loop stays a loop; work on two accounts does not become one."""
    mails = ["x@a.org", "y@a.org", "x@a.org"]
    (found,), _ = redact([Trace(id="a", steps=[Step(output=mail) for mail in mails])])
    assert [step.output for step in found.steps] == ["<emails:1>", "<emails:2>", "<emails:1>"]


def test_a_key_says_what_its_value_is() -> None:
    (found,), _ = redact([Trace(id="a", steps=[Step(args={"password": "x", "user": "y"})])], profile="secrets")
    assert found.steps[0].args == {"password": "<tokens:1>", "user": "y"}


def test_dry_run_counts_only() -> None:
    trace = Trace(id="a", steps=[Step(output="x@a.org")])
    found, report = redact([trace], dry_run=True)
    assert found == [trace]
    assert report.to_dict() == {"traces": 1, "kinds": {"emails": 1}, "fields": {"output": 1}}


def test_profiles_name_known_kinds() -> None:
    assert {kind for kinds in PROFILES.values() for kind in kinds} == set(PATTERNS)
    with pytest.raises(InputError, match="unknown profile 'privat'"):
        redact([], profile="privat")


def test_redacting_twice_changes_nothing() -> None:
    trace = Trace(id="a", steps=[Step(output=text) for texts in SECRETS.values() for text in texts])
    once, _ = redact([trace], profile="strict")
    assert redact(once, profile="strict")[0] == once
