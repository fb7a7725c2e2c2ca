"""What the labeller shows: edges, escaping, diffs, strips, the widget, the plain-call twin."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from driftlab._util.errors import InputError
from driftlab.lab.labeller import Session, label, show
from driftlab.lab.labeller.diff import changed_words, lines, to_html
from driftlab.lab.labeller.html import page, parts
from driftlab.lab.labeller.sparklines import delta_strip, signal_strips
from driftlab.lab.labeller.sparklines import to_html as strips_html
from driftlab.lab.labeller.step_html import Reader
from driftlab.metrics import metric
from driftlab.trace.labels.store import LabelStore
from driftlab.trace.schema import Span, Step, Trace

EVIL = "<script>alert('x')</script>\"onload='y'"


def run(name: str, steps: int = 6) -> Trace:
    own = [Step.of(tool="ls", args={"n": n}, output="a\nb", passed=n) for n in range(steps)]
    return Trace(id=name, steps=own)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "labels.jsonl"


def press(session: Session, *keys: str) -> None:
    for key in keys:
        session.press(key)


def stored(path: Path, name: str, annotator: str = "ann") -> Any:
    return LabelStore(path).get(name, annotator)


# -- edges --------------------------------------------------------------------------------------------------------


def test_an_empty_corpus_is_an_error(path: Path) -> None:
    with pytest.raises(InputError, match="no run to label"):
        Session([], path)


def test_a_run_without_steps_can_be_good_but_not_stalled(path: Path) -> None:
    session = Session([Trace(id="a", steps=[])], path)
    press(session, "ArrowRight", "s")
    assert "cannot stall" in session.said
    assert "no steps" in parts(session)["step"]
    press(session, "g")
    assert stored(path, "a", "").label == "good"


def test_runs_with_any_missing_field(path: Path) -> None:
    steps = [Step(), Step(state=""), Step(thought="x"), Step(tool="ls"), Step(args=3), Step(output="o")]
    steps.append(Step(signals={"p": None}))
    session = Session([Trace(id="a", steps=steps)], path)
    for _ in steps:
        assert parts(session)["step"]
        press(session, "ArrowRight")
    assert str(show(Trace(id="a", steps=steps)))


def test_odd_annotator_names_stay_in_the_folder(path: Path) -> None:
    session = Session([run("a")], path, annotator="../../etc/x y")
    press(session, "g")
    assert sorted(p.name for p in path.parent.iterdir()) == ["labels.desk-_etc_x_y.json", "labels.jsonl"]


# -- looks --------------------------------------------------------------------------------------------------------


def test_nothing_an_agent_wrote_becomes_markup(path: Path) -> None:
    step = Step(state=EVIL, thought=EVIL, tool=EVIL, args={EVIL: EVIL}, output=EVIL, signals={EVIL: 1.0}, node=EVIL)
    trace = Trace(id=EVIL, task=EVIL, problem=EVIL, steps=[step, step.__class__(output=EVIL + "!")])
    session = Session([trace], path, annotator=EVIL, kinds=[EVIL])
    press(session, "ArrowRight", "1", "s")
    session.change(note=EVIL)
    for html in (page(session), show(trace, labels=True).html):
        assert "<script" not in html
        assert '"onload' not in html


def test_lines_are_told_apart() -> None:
    found = lines("a\nb\nc", "a\nx\nold\nc", seen=["a", "b", "c", "old"])
    assert [(line.mark, line.text) for line in found] == [
        ("same", "a"), ("gone", "b"), ("new", "x"), ("seen", "old"), ("same", "c"),
    ]  # fmt: skip


def test_many_lines_that_are_gone_are_counted() -> None:
    html = to_html(lines("\n".join("abcdef"), "x"))
    assert "6 lines of the step before are not here" in html


def test_a_long_text_leaves_out_its_middle_with_a_count() -> None:
    html = to_html(lines(None, "\n".join(map(str, range(100)))), most=10)
    assert "90 lines left out" in html
    assert html.count('class="new"') == 10


def test_changed_words_only_where_the_lines_are_alike() -> None:
    assert changed_words("open the door", "open the roof") == "open the <ins>roof</ins>"
    assert "<ins>" not in changed_words("open the door", "nothing alike & so on")


def test_repeated_text_is_dimmed_and_named() -> None:
    reader = Reader(Trace(id="a", steps=[Step(tool="ls", output=o) for o in ("x", "y", "x")]))
    assert (reader.news(0), reader.news(2)) == (2, 0)
    assert "seen before" in reader.html(2)
    assert "nothing new" in reader.html(2)


def test_megabytes_are_shown_in_bounded_size_and_time() -> None:
    text = "\n".join(f"line {n} " + "x" * 50 for n in range(50_000))
    reader = Reader(Trace(id="a", steps=[Step(output=text), Step(output=text + "!")]))
    assert len(reader.html(1)) < 60_000


def test_strips_say_what_was_not_measured() -> None:
    trace = Trace(id="a", steps=[Step.of(state="x", passed=1), Step(), Step.of(state="x", passed=3)])
    deltas, passed = delta_strip(trace, metric("exact")), signal_strips(trace)[0]
    assert deltas.told == ("delta 1.00", "no opinion", "delta 0.00")
    assert passed.told == ("passed 1", "not measured", "passed 3")
    html = strips_html([deltas, passed], t=1, spans={"mine": (1, 3)})
    assert html.count('class="touch"') == 6
    assert 'class="span mine"' in html


# -- plain calls, the widget --------------------------------------------------------------------------------------


def test_the_plain_call_stores_what_the_labeller_would(path: Path) -> None:
    labelled = label(run("a"), "stalled", [Span(2, 4)], store=path, annotator="ann", note="n")
    assert labelled.stalls == stored(path, "a").stalls == (Span(2, 4),)
    assert Session([run("a")], path, annotator="ann").draft.last == 3
    with pytest.raises(InputError, match="labelled good but has a stall"):
        label(run("a"), "good", [Span(2)], store=path)
    with pytest.raises(InputError, match="label"):
        label(run("a"), "bad", store=path)


def test_the_widget_hears_keys_clicks_and_notes(path: Path) -> None:
    pytest.importorskip("anywidget", reason="needs the extra `lab`")
    from driftlab.lab.labeller import Labeller

    labeller = Labeller([run("a"), run("b")], path, annotator="ann")
    labeller._heard(labeller, {"go": 3}, [])
    labeller._heard(labeller, {"key": "s"}, [])
    labeller._heard(labeller, {"note": "hm", "run": "a"}, [])
    labeller._heard(labeller, {"note": "late", "run": "b"}, [])
    labeller._heard(labeller, {"strange": 1}, [])
    assert (stored(path, "a").stalls, stored(path, "a").note) == ((Span(3),), "hm")
    assert "saved as stalled" in labeller.foot
    assert labeller.t == 3
    strips = labeller.strips
    labeller.press("ArrowRight")
    assert labeller.strips == strips, "moving must not send the strips again"


def test_the_widget_has_a_page_for_readers_without_a_kernel(path: Path) -> None:
    pytest.importorskip("anywidget", reason="needs the extra `lab`")
    from driftlab.lab.labeller import Labeller

    data, _ = Labeller([run("a")], path)._repr_mimebundle_()
    assert "driftlab-label" in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_without_the_extra_the_error_names_it(path: Path) -> None:
    code = "import sys; sys.modules['anywidget'] = None\nfrom driftlab.lab.labeller import Labeller"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "pip install 'driftlab[lab]'" in done.stderr


def test_labelling_needs_no_widgets() -> None:
    heavy = ("anywidget", "ipywidgets", "matplotlib", "pandas")
    code = f"import sys, driftlab.lab.labeller.label\nprint([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
