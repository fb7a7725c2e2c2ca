"""The labeller: keys, marks, undo, drafts that survive, blindness, agreement."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from driftlab._util.errors import InputError
from driftlab.lab.labeller import Session
from driftlab.lab.labeller.html import page
from driftlab.lab.labeller.queue import disagreement, queue
from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.labels.store import LabelStore
from driftlab.trace.schema import Span, Step, Trace


def run(name: str, steps: int = 6, **fields: Any) -> Trace:
    own = [Step.of(tool="ls", args={"n": n}, output="a\nb", passed=n) for n in range(steps)]
    return Trace(id=name, steps=own, **fields)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "labels.jsonl"


@pytest.fixture
def session(path: Path) -> Session:
    return Session([run("a"), run("b"), run("c")], path, annotator="ann")


def press(session: Session, *keys: str) -> None:
    for key in keys:
        session.press(key)


def stored(path: Path, name: str, annotator: str = "ann") -> Any:
    return LabelStore(path).get(name, annotator)


# -- keys ---------------------------------------------------------------------------------------------------------


def test_moves_stay_inside_the_run(session: Session) -> None:
    press(session, "ArrowLeft")
    assert session.t == 0
    press(session, "PageDown")
    assert session.t == 5
    press(session, "Home", "ArrowRight", "ArrowRight")
    assert session.t == 2


def test_a_stall_with_both_ends(session: Session, path: Path) -> None:
    press(session, "ArrowRight", "[", "ArrowRight", "ArrowRight", "]", "s", "2")
    entry = stored(path, "a")
    assert (entry.label, entry.stalls, entry.steps) == ("stalled", (Span(1, 4, "cycle"),), 6)
    assert entry.label_source == "human"


def test_a_stall_to_the_last_step_has_no_end(session: Session, path: Path) -> None:
    press(session, "ArrowRight", "[", "End", "]", "s")
    assert stored(path, "a").stalls == (Span(1),)


def test_stalled_without_a_mark_starts_at_the_step_in_view_and_says_so(session: Session, path: Path) -> None:
    press(session, "ArrowRight", "ArrowRight", "s")
    assert stored(path, "a").stalls == (Span(2),)
    assert "step 2" in session.said


def test_a_last_step_before_the_first_is_refused_in_words(session: Session) -> None:
    press(session, "End", "[", "Home", "]")
    assert "lies before the first (5)" in session.said
    assert session.draft.last is None


def test_a_first_step_after_the_last_drops_the_last(session: Session) -> None:
    press(session, "[", "ArrowRight", "]", "End", "[")
    assert (session.draft.start, session.draft.last) == (5, None)


def test_moving_a_mark_of_a_labelled_run_is_stored_at_once(session: Session, path: Path) -> None:
    press(session, "s", "ArrowRight", "[")
    assert stored(path, "a").stalls == (Span(1),)


def test_a_good_run_keeps_no_stall(session: Session, path: Path) -> None:
    press(session, "[", "g")
    assert (stored(path, "a").label, stored(path, "a").stalls) == ("good", ())


def test_removing_the_marks_of_a_stall_removes_its_label(session: Session, path: Path) -> None:
    press(session, "s", "x")
    assert stored(path, "a") is None
    assert "no label now" in session.said


def test_unknown_keys_do_nothing(session: Session, path: Path) -> None:
    before = session.draft
    press(session, "q", "9", "0", "F5", "")
    assert session.draft == before
    assert not path.exists()


def test_enter_goes_to_the_next_unlabelled_run_and_round(session: Session) -> None:
    press(session, "n", "g", "Enter")
    assert session.trace.id == "c"
    press(session, "g", "Enter")
    assert session.trace.id == "a"


def test_when_all_are_labelled_the_disputed_come_first(path: Path) -> None:
    policy = Policy((StopRule("plateau(exact, run(1))", 1.0), StopRule("plateau(exact, run(3))", 1.0)))
    same = [Trace(id=f"r{n}", steps=[Step(state="x")] * n) for n in (1, 2, 5)]
    session = Session(same, path, policy=policy)
    press(session, "g", "Enter", "g", "Enter", "g", "Enter")
    assert session.trace.id == "r2"
    assert "disagree most" in session.said


def test_reading_order() -> None:
    policy = Policy((StopRule("plateau(exact, run(1))", 1.0), StopRule("plateau(exact, run(3))", 1.0)))
    same = [Trace(id=f"r{n}", steps=[Step(state="x")] * n) for n in (1, 2, 5)]
    assert disagreement(same, policy) == {"r1": 0.0, "r2": 1.0, "r5": 0.0}
    assert queue(same, [], order="disagreement", policy=policy) == ["r2", "r1", "r5"]
    assert queue(same, ["r1"]) == ["r2", "r5", "r1"]
    with pytest.raises(InputError, match="order"):
        queue(same, [], order="random")


def test_metrics_take_turns(session: Session) -> None:
    before = session.strips()[0].name
    press(session, "m")
    assert session.strips()[0].name != before


# -- undo, drafts, disk -------------------------------------------------------------------------------------------


def test_undo_takes_back_labels_marks_and_notes_one_by_one(session: Session, path: Path) -> None:
    press(session, "g", "Enter", "ArrowRight", "[", "s")
    session.change(note="odd")
    press(session, "z")
    assert session.draft.note == ""
    press(session, "z")
    assert stored(path, "b") is None
    assert session.draft.start == 1
    press(session, "z", "z")
    assert (session.trace.id, stored(path, "a")) == ("a", None)
    press(session, "z")
    assert session.said == "nothing to undo"


def test_undo_restores_the_label_before(session: Session, path: Path) -> None:
    press(session, "g", "u", "z")
    assert stored(path, "a").label == "good"


def test_marks_without_a_label_survive_a_killed_kernel(path: Path) -> None:
    code = f"""
import os, signal
from driftlab.lab.labeller import Session
from driftlab.trace.schema import Step, Trace
runs = [Trace(id=n, steps=[Step(state=str(i)) for i in range(9)]) for n in "ab"]
session = Session(runs, {str(path)!r}, annotator="ann")
for key in ("g", "Enter", "ArrowRight", "ArrowRight", "["):
    session.press(key)
session.change(note="half a thought")
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    runs = [Trace(id=n, steps=[Step(state=str(i)) for i in range(9)]) for n in "ab"]
    again = Session(runs, path, annotator="ann")
    assert stored(path, "a").label == "good"
    assert (again.trace.id, again.draft.start, again.draft.note) == ("b", 2, "half a thought")
    assert again.said == "taken up where it was left"


def test_marks_survive_a_walk_to_other_runs(session: Session) -> None:
    press(session, "ArrowRight", "[", "n", "n", "p", "p")
    assert (session.trace.id, session.draft.start) == ("a", 1)


def test_a_broken_desk_file_is_no_obstacle(path: Path) -> None:
    path.parent.mkdir()
    (path.parent / "labels.desk-ann.json").write_text("{")
    assert Session([run("a")], path, annotator="ann").trace.id == "a"


def test_a_broken_store_is_an_error_that_names_the_line(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("{}\n")
    with pytest.raises(InputError, match=r"labels.jsonl:1"):
        Session([run("a")], path)


def test_two_annotators_in_one_file_lose_nothing(path: Path) -> None:
    runs = [run("a"), run("b")]
    one, two = Session(runs, path, annotator="ann"), Session(runs, path, annotator="bo")
    press(one, "g", "Enter", "u")
    press(two, "s", "Enter", "g")
    press(one, "p", "u")
    kept = {(entry.id, entry.annotator): entry.label for entry in LabelStore(path)}
    assert kept == {("a", "ann"): "unsure", ("b", "ann"): "unsure", ("a", "bo"): "stalled", ("b", "bo"): "good"}


def test_the_second_annotator_is_blind(path: Path) -> None:
    runs = [run("a", label="stalled", stalls=[Span(3, None, "secret-kind")], label_source="recorded")]
    press(Session(runs, path, annotator="ann"), "ArrowRight", "s")
    second = Session(runs, path, annotator="bo")
    html = page(second)
    assert (second.labelled, second.draft.label, second.draft.start) == ([], None, None)
    assert "secret-kind" not in html
    assert 'class="span' not in html
    assert "saved as" not in html


def test_agreement_at_the_end(path: Path) -> None:
    runs = [run("a"), run("b")]
    one, two = Session(runs, path, annotator="ann"), Session(runs, path, annotator="bo")
    press(one, "s", "Enter", "g")
    press(two, "End", "s", "Enter", "g")
    found = one.agreement("bo", tolerance=2)
    assert (found.n, found.agreed[0], found.within[0]) == (2, 1.0, 0.0)
    assert [each["id"] for each in found.disputed] == ["a"]
