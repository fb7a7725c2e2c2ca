"""Labels: the store, the sheet, weak labels."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.trace.labels.sheet import read_sheet, write_sheet
from driftlab.trace.labels.store import LabelEntry, LabelStore
from driftlab.trace.labels.weak import from_alarms, from_outcomes, from_signal
from driftlab.trace.schema import SignalSpec, Span, Step, Trace


def trace(id: str, length: int = 10, **fields: object) -> Trace:
    return Trace(id=id, steps=[Step(tool="ls")] * length, **fields)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    held = LabelStore(tmp_path / "labels.jsonl")
    held.set("a", "stalled", [Span(2, 4, "repeat"), Span(7)], annotator="ann", note="clear", steps=10)
    held.set("a", "stalled", [Span(3)], annotator="bo")
    held.set("b", "good", annotator="ann")
    held.set("b", "unsure", annotator="bo")
    held.save()
    return held


def test_the_file_gives_back_what_was_kept(store: LabelStore) -> None:
    again = LabelStore(store.path)
    assert sorted(again, key=repr) == sorted(store, key=repr)
    assert again.annotators == ["ann", "bo"]
    assert [path.name for path in store.path.parent.iterdir()] == ["labels.jsonl"]


def test_saving_is_all_or_nothing(store: LabelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    before = store.path.read_bytes()
    store.set("c", "good")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        store.save()
    assert store.path.read_bytes() == before
    assert len(list(store.path.parent.iterdir())) == 1


def test_labels_outlive_an_import_that_lost_a_trace(store: LabelStore) -> None:
    """A trace that is missing today keeps its label for tomorrow."""
    store.apply([trace("b")], annotator="ann")
    store.save()
    assert LabelStore(store.path).get("a", "ann") is not None


def test_two_annotators_are_kept_apart(store: LabelStore) -> None:
    ann = store.apply([trace("a"), trace("b"), trace("c")], annotator="ann")
    bo = store.apply([trace("a"), trace("b")], annotator="bo")
    assert [t.label for t in ann] == ["stalled", "good", None]
    assert [t.label for t in bo] == ["stalled", "unsure"]
    assert [span.start for span in ann[0].stalls] == [2, 7]
    assert [span.start for span in bo[0].stalls] == [3]
    assert ann[0].label_source == "human"


def test_disagreement_becomes_unsure_with_a_warning(store: LabelStore) -> None:
    with pytest.warns(DriftlabWarning, match="1 traces are labelled differently .* first is 'b'"):
        found = store.apply([trace("a"), trace("b")])
    assert [(t.label, t.label_source) for t in found] == [("stalled", "human"), ("unsure", "disagreement")]


def test_spans_that_do_not_fit_any_more_are_reported(store: LabelStore) -> None:
    with pytest.warns(DriftlabWarning, match="do not fit their steps any more"):
        found = store.apply([trace("a", 5)], annotator="ann")
    assert found[0].label is None
    assert store.get("a", "ann") is not None


def test_a_run_that_grew_keeps_its_stalls_and_loses_its_good(tmp_path: Path) -> None:
    held = LabelStore(tmp_path / "labels.jsonl")
    held.set("a", "stalled", [Span(2, 4), Span(7)], steps=10)
    held.set("b", "good", steps=10)
    with pytest.warns(DriftlabWarning, match="1 traces have labels .* first is 'b'"):
        grown, fresh = held.apply([trace("a", 14), trace("b", 14)])
    assert [(span.start, span.end) for span in grown.stalls] == [(2, 4), (7, 10)]
    assert fresh.label is None


def test_a_broken_file_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id":"a","label":"good"}\n{"id":"b","label":"god"}\n')
    with pytest.raises(InputError, match=r"labels.jsonl:2: is no label.*god"):
        LabelStore(path)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"id": "", "label": "good"}, "id of a trace"),
        ({"id": "a", "label": "good", "stalls": (Span(1),)}, "labelled good but has a stall"),
    ],
)
def test_entries_that_make_no_sense(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        LabelEntry(**fields)  # type: ignore[arg-type]


def test_a_label_nobody_knows(store: LabelStore) -> None:
    with pytest.raises(InputError, match="unknown label 'stuck'; known: good, stalled, unsure"):
        store.set("a", "stuck")


# The sheet


def test_sheet_round_trip(store: LabelStore, tmp_path: Path) -> None:
    traces = [trace("a", task="code"), trace("b"), trace("c")]
    write_sheet(store, tmp_path / "labels.csv", traces, annotator="ann")
    text = (tmp_path / "labels.csv").read_text(encoding="utf-8-sig")
    assert text.splitlines()[0].startswith("id,annotator,label,start,end,kind,note")
    assert sum(line.startswith("c,ann,,") for line in text.splitlines()) == 1  # a row to fill in
    again = LabelStore(tmp_path / "other.jsonl")
    assert read_sheet(again, tmp_path / "labels.csv", traces) == []
    assert [(e.id, e.annotator, e.label, e.stalls, e.note) for e in again] == [
        (e.id, e.annotator, e.label, e.stalls, e.note) for e in store
    ]


def test_sheet_conflicts_are_listed_and_nothing_is_overwritten(store: LabelStore, tmp_path: Path) -> None:
    sheet = tmp_path / "labels.csv"
    write_sheet(store, sheet)
    store.set("a", "good", annotator="bo")  # somebody worked on, while the sheet was away
    text = sheet.read_text(encoding="utf-8-sig").replace("a,bo,stalled,3", "a,bo,stalled,5")
    sheet.write_text(text)
    (conflict,) = read_sheet(store, sheet)
    assert (conflict.id, conflict.annotator) == ("a", "bo")
    assert "the store says good, changed since the sheet was written; the sheet says stalled [5, end)" in str(conflict)
    assert store.get("a", "bo").label == "good"  # type: ignore[union-attr]


def test_sheet_changes_are_taken_over(store: LabelStore, tmp_path: Path) -> None:
    sheet = tmp_path / "labels.csv"
    write_sheet(store, sheet)
    sheet.write_text(sheet.read_text(encoding="utf-8-sig").replace("b,bo,unsure", "b,bo,good"))
    assert read_sheet(store, sheet) == []
    assert store.get("b", "bo").label == "good"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("a,x,stuck,,", "label 'stuck' is none of"),
        ("a,x,stalled,two,", "'two' is no step number"),
        ("a,x,stalled,2.5,", "'2.5' is no step number"),
        ("a,x,stalled,5,3", "0 <= start < end"),
        ("a,x,stalled,1,5\na,x,stalled,3,6", "overlap"),
        ("a,x,stalled,1,\na,x,stalled,3,6", "overlap"),
        ("a,x,stalled,1,2\na,x,good,,", "disagree: good, stalled"),
        ("a,x,good,1,2", "labelled good but has a stall"),
        ("a,x,stalled,12,", "the trace has 10 steps"),
    ],
)
def test_sheet_rows_that_cannot_be_read(tmp_path: Path, rows: str, reason: str) -> None:
    (tmp_path / "labels.csv").write_text(f"id,annotator,label,start,end\nok,x,good,,\n{rows}\n")
    store = LabelStore(tmp_path / "labels.jsonl")
    (conflict,) = read_sheet(store, tmp_path / "labels.csv", [trace("a")])
    assert reason in conflict.reason
    assert [entry.id for entry in store] == ["ok"]


def test_sheet_as_spreadsheets_write_it(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_bytes("\ufeffid;annotator;label;start;end\r\na;x;Stalled;6.0;8,0\r\n".encode())
    store = LabelStore(tmp_path / "labels.jsonl")
    assert read_sheet(store, tmp_path / "labels.csv") == []
    assert store.get("a", "x").stalls == (Span(6, 8),)  # type: ignore[union-attr]


def test_not_a_sheet(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="must name the columns, at least id and label"):
        read_sheet(LabelStore(tmp_path / "labels.jsonl"), tmp_path / "x.csv")
    (tmp_path / "y.csv").write_bytes(b"id,label\n\xff,good\n")
    with pytest.raises(InputError, match="save the sheet as CSV in UTF-8"):
        read_sheet(LabelStore(tmp_path / "labels.jsonl"), tmp_path / "y.csv")


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)


@given(st.dictionaries(st.tuples(texts, texts), st.tuples(st.sampled_from(["good", "unsure"]), texts), max_size=5))
def test_any_text_survives_the_sheet(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[tuple[str, str], tuple[str, str]]
) -> None:
    """A cell that begins like a formula is not run by a spreadsheet, and comes back as it was."""
    folder = tmp_path_factory.getbasetemp() / "sheets"
    folder.mkdir(exist_ok=True)
    store, again = LabelStore(folder / "none.jsonl"), LabelStore(folder / "nothing.jsonl")
    for (id, annotator), (label, note) in entries.items():
        store.set(id, label, annotator=annotator, note=note)
    write_sheet(store, folder / "labels.csv")
    assert not any(cell.startswith("=") for line in (folder / "labels.csv").read_text(encoding="utf-8-sig").splitlines()
                   for cell in line.split(","))  # fmt: skip
    assert read_sheet(again, folder / "labels.csv") == []
    assert list(again) == list(store)


# Weak labels


def test_outcomes_say_nothing_about_failures_unless_asked() -> None:
    traces = [
        trace("a", outcome=True),
        trace("b", outcome=False),
        trace("c"),
        trace("d", outcome=True, label="stalled"),
    ]
    assert [t.label for t in from_outcomes(traces)] == ["good", "unsure", None, "stalled"]
    assert [t.label for t in from_outcomes(traces, failed="stalled")] == ["good", "stalled", None, "stalled"]
    assert from_outcomes(traces)[3].label_source is None


def test_alarms_become_onsets() -> None:
    found = from_alarms(
        [trace("a"), trace("b"), trace("c"), trace("d", label="good")], {"a": 4, "b": None, "d": 1}, "r"
    )
    assert [(t.label, t.onset, t.label_source) for t in found] == [
        ("stalled", 4, "rule:r"),
        ("good", None, "rule:r"),
        (None, None, None),
        ("good", None, None),
    ]


@pytest.mark.parametrize(
    ("values", "spec", "label", "onset"),
    [
        ([1, 2, 2, 2, 2], SignalSpec(), "stalled", 2),
        ([1, 2, 3, 4, 5], SignalSpec(), "good", None),
        ([1, 2, 2, 2, 2], SignalSpec(goal=2), "good", None),
        ([5, 4, 4, 4, 4], SignalSpec("lower"), "stalled", 2),
        ([5, 0, 0, 0, 0], SignalSpec("lower", goal=0), "good", None),
        ([3, 1, 1, 1, 1], SignalSpec(), "stalled", 1),
        ([1, 2, 1, 2, 3], SignalSpec(), "good", None),
        ([None, 1, None, None, None], SignalSpec(), "stalled", 2),
        ([None] * 5, SignalSpec(), None, None),
        ([math.nan] * 5, SignalSpec(), None, None),
    ],
)
def test_signal(values: list[float | None], spec: SignalSpec, label: str | None, onset: int | None) -> None:
    steps = [Step(signals={"x": value}) for value in values]
    (found,) = from_signal([Trace(id="a", steps=steps, signal_specs={"x": spec})], "x", patience=3)
    assert (found.label, found.onset) == (label, onset)
    assert found.label_source == (None if label is None else "signal:x")


def test_signal_needs_patience() -> None:
    with pytest.raises(InputError, match="patience must be"):
        from_signal([], "x", patience=0)
