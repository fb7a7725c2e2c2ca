"""Bad options: one sentence that names the option, the value, what is allowed, before any work."""

import inspect
import re
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest

import driftlab as dl
from driftlab._util.checks import LARGEST_SEED
from driftlab._util.errors import InputError
from driftlab._util.files import file_to_write, folder_to_write
from driftlab._util.spec import between, whole
from driftlab.metrics.cache import Cache
from driftlab.trace.schema import Span, Step, Trace
from driftlab.tuning.transfer import transfer

RUNS = [
    *(Trace(id=f"l{n}", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 4) for n in range(12)),
    *(Trace(id=f"w{n}", label="good", steps=[Step(state=s) for s in "abcd"]) for n in range(12)),
]
FEW = {"patience": [1], "decay": []}
CALLS = {
    "sweep": lambda **o: dl.sweep(RUNS, ["exact"], **{**FEW, "draws": 20, **o}),
    "calibrate": lambda **o: dl.calibrate(
        RUNS, **{**FEW, "metrics": ["exact"], "repeats": 1, "max_false_stop": 0.2, **o}
    ),
    "measure": lambda **o: dl.measure(RUNS, ["exact"], **o),
    "transfer": lambda **o: transfer(RUNS, "setup", ["exact"], **{**FEW, **o}),
}
SEED = "seed must be a whole number >= 0 and <= 2147483647, got "
JOBS = "n_jobs must be a number of processes, or -1 for all cores, got "
LIMIT = "max_false_stop must be between 0 and 1, or None to set none, got "
DECAY = "decay must be between 0 and 1, or 0 to forget at once, got "
GRID = [
    ({"patience": 3}, "patience must be a list, for example [1, 2, 3], got 3"),
    ({"patience": None}, "patience must be a list, for example [1, 2, 3], got None"),
    ({"patience": "12"}, "patience must be a list, for example [1, 2, 3], got '12'"),
    ({"patience": [0]}, "patience must be a whole number >= 1, got 0"),
    ({"patience": [1, 1.5]}, "patience must be a whole number >= 1, got 1.5"),
    ({"patience": [True]}, "patience must be a whole number >= 1, got True"),
    ({"decay": 0.9}, "decay must be a list, for example [0.6, 0.9], got 0.9"),
    ({"decay": [1.5]}, f"{DECAY}1.5"),
    ({"decay": [1]}, f"{DECAY}1"),
    ({"decay": ["a"]}, f"{DECAY}'a'"),
    ({"decay": [float("nan")]}, f"{DECAY}nan"),
    ({"detectors": "steps"}, "detectors must be a list, for example ['same_call(3)'], got 'steps'"),
    ({"detectors": [3]}, "detector 3 is not of the form name(parameter=value, ...)"),
]
MEASURED = [
    ({"n_jobs": 0}, f"{JOBS}0"),
    ({"n_jobs": 1.5}, f"{JOBS}1.5"),
    ({"n_jobs": "2"}, f"{JOBS}'2'"),
    ({"n_jobs": True}, f"{JOBS}True"),
    ({"progress": "yes"}, "progress must be True or False, got 'yes'"),
    ({"cache": 3}, "cache must be the path of a folder, got 3"),
    ({"cache": __file__}, f"cache {__file__!r} is a file; name a folder"),
]
DRAWN = [
    ({"draws": 0}, "draws must be a whole number >= 1, got 0"),
    ({"draws": -1}, "draws must be a whole number >= 1, got -1"),
    ({"draws": 2.0}, "draws must be a whole number >= 1, got 2.0"),
    ({"draws": "x"}, "draws must be a whole number >= 1, got 'x'"),
    ({"seed": -1}, f"{SEED}-1"),
    ({"seed": "x"}, f"{SEED}'x'"),
    ({"seed": None}, f"{SEED}None"),
    ({"seed": 2**31}, f"{SEED}2147483648"),
]
CALIBRATED = [
    ({"folds": 1}, "folds must be a whole number >= 2, got 1"),
    ({"folds": 0}, "folds must be a whole number >= 2, got 0"),
    ({"folds": 2.5}, "folds must be a whole number >= 2, got 2.5"),
    ({"repeats": -1}, "repeats must be a whole number >= 0, got -1"),
    ({"repeats": "x"}, "repeats must be a whole number >= 0, got 'x'"),
    ({"share": 0}, "share must be between 0 and 1, or 1.0 where all problems choose and certify, got 0"),
    ({"share": 2}, "share must be between 0 and 1, or 1.0 where all problems choose and certify, got 2"),
    ({"share": True}, "share must be between 0 and 1, or 1.0 where all problems choose and certify, got True"),
    ({"risk": 0}, "risk must be between 0 and 1, got 0"),
    ({"risk": 2}, "risk must be between 0 and 1, got 2"),
    ({"risk": "x", "promise": "confident"}, "risk must be between 0 and 1, got 'x'"),
    ({"max_false_stop": 2}, f"{LIMIT}2"),
    ({"max_false_stop": 0}, f"{LIMIT}0"),
    ({"max_false_stop": "x"}, f"{LIMIT}'x'"),
    ({"max_false_stop": float("nan")}, f"{LIMIT}nan"),
    ({"nudge": "x"}, "nudge must be between 0 and 1, or None to set none, got 'x'"),
    ({"nudge": 0.1}, "nudge must lie between max_false_stop (0.2) and 1, got 0.1"),
    ({"seed": -1}, f"{SEED}-1"),
    ({"random_state": -1}, f"random_state must{SEED[9:]}-1"),
    ({"seed": 3, "random_state": 4}, "seed and random_state are one option; give one of them, got {'seed': 3"),
    ({"promise": "firm"}, "promise must be 'mean' or 'confident', got 'firm'"),
    ({"objective": "x"}, "unknown objective 'x'; known: f0.5, f1, f2, recall, saved, youden"),
    ({"metrics": 3}, "metrics must be a list, for example ['exact', 'signal'], got 3"),
    ({"metrics": [3]}, "metric 3 is not of the form name(parameter=value, ...)"),
]
BAD = [
    *(("sweep", *case) for case in [*GRID, *MEASURED, *DRAWN]),
    *(("calibrate", *case) for case in [*GRID, *MEASURED, *CALIBRATED]),
    *(("measure", *case) for case in MEASURED),
    *(("transfer", *case) for case in [*GRID, *MEASURED]),
    ("transfer", {"max_false_stop": 1.5}, "max_false_stop must be between 0 and 1, got 1.5"),
    ("transfer", {"max_false_stop": "0.1"}, "max_false_stop must be between 0 and 1, got '0.1'"),
]


@pytest.mark.parametrize(("call", "options", "says"), BAD, ids=[f"{call}-{o}" for call, o, _ in BAD])
def test_a_bad_option_is_named_with_its_value_and_what_is_allowed(call, options, says):
    with pytest.raises(InputError, match=f"^{re.escape(says)}"):
        CALLS[call](**options)


@pytest.mark.parametrize("call", sorted(CALLS))
def test_the_same_calls_work_without_the_bad_option(call):
    assert CALLS[call]() is not None


@pytest.mark.parametrize("method", ["table", "best", "points"])
def test_the_tables_of_a_sweep_refuse_a_limit_that_is_no_share(method):
    found = CALLS["sweep"]()
    with pytest.raises(InputError, match=r"^max_false_stop must be between 0 and 1, got 5$"):
        getattr(found, method)(max_false_stop=5)
    assert len(getattr(found, method)(max_false_stop=1)) > 0


def test_a_bad_option_is_told_before_the_traces_are_measured(monkeypatch):
    def never(*_, **__):
        raise AssertionError("measured")

    for name in ("driftlab.tuning.sweep", "driftlab.tuning.cells"):  # the rooms that measure; functions hide theirs
        monkeypatch.setattr(sys.modules[name], "measure", never)
    for call in ("sweep", "calibrate"):
        with pytest.raises(AssertionError, match="measured"):
            CALLS[call]()
    for call, options, _ in BAD:
        if call in ("sweep", "calibrate") and "cache" not in options:
            with pytest.raises(InputError):
                CALLS[call](**options)


@pytest.mark.parametrize("call", [dl.sweep, dl.calibrate, dl.measure, dl.transfer, dl.Labeller])
def test_every_option_is_a_parameter_that_an_editor_can_show(call):
    kinds = {parameter.kind for parameter in inspect.signature(call).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    with pytest.raises(TypeError, match="unexpected keyword argument 'njobs'"):
        call(RUNS, "setup", njobs=2)


def test_what_is_a_list_in_other_words_is_taken():
    plain = CALLS["sweep"](patience=[1, 2], decay=[0.5], seed=3).table(None)
    other = CALLS["sweep"](patience=(n for n in (1, 2)), decay=np.array([0.5]), seed=np.int64(3)).table(None)
    assert plain.equals(other)
    assert repr(CALLS["sweep"](patience=np.arange(1, 2)).cells[0].detector) == "plateau(exact, run(1))"


def test_the_bounds_themselves():
    assert CALLS["sweep"](decay=[0], seed=LARGEST_SEED, draws=1) is not None
    allowed = {"folds": 2, "repeats": 0, "share": 1.0, "promise": "confident", "nudge": None, "n_jobs": -2}
    assert CALLS["calibrate"](**allowed) is not None
    with pytest.raises(InputError, match="seed must be a whole number"):
        CALLS["sweep"](seed=LARGEST_SEED + 1)


def test_the_largest_seed_calibrates():
    found = dl.calibrate(RUNS, metrics=["exact"], **FEW, max_false_stop=0.4, seed=LARGEST_SEED, repeats=2)
    assert found.nested is not None
    assert not found.nested.why


def test_whole_and_between_say_their_bounds():
    for value in (True, 2.0, "2", 0, 6, None):
        with pytest.raises(InputError, match=r"^n must be a whole number >= 1 and <= 5, got "):
            whole("n", value, 1, 5)
    whole("n", 5, 1, 5)
    for value in (True, 0, 1, "x", None, float("nan"), np.array([0.1, 0.2])):
        with pytest.raises(InputError, match=r"^x must be between 0 and 1 or so, got "):
            between("x", value, 0, 1, words=" or so")
    between("x", 1, 0, 1, also=1)


def test_a_measure_of_one_word_is_not_read_letter_by_letter():
    with pytest.raises(
        InputError, match=r"^inputs must be a list, for example \['exact', 'levenshtein'\], got 'exact'$"
    ):
        dl.measure(RUNS, "exact")
    with pytest.raises(InputError, match=r"^metric 3 is not of the form name\(parameter=value, \.\.\.\)$"):
        dl.measure(RUNS, [3])


@pytest.mark.parametrize("below", ["", "inside/", "inside/deep/"])
def test_a_place_below_a_file_is_refused(tmp_path, below):
    (tmp_path / "file").write_text("kept")
    path = tmp_path / "file" / f"{below}out"
    for check in (file_to_write, folder_to_write):
        with pytest.raises(InputError, match=r"^--output '.*out' cannot be written: '.*file' is a file; name another"):
            check("--output", path)
    with pytest.raises(InputError, match=r"^cache '.*out' cannot be written: '.*file' is a file; name another place$"):
        Cache(path)


def test_a_folder_that_is_write_protected_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(
        InputError, match=r"^-o '.*new' cannot be written: '.*' is write-protected; name another place$"
    ):
        folder_to_write("-o", tmp_path / "new")


def test_a_link_that_leads_nowhere_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"^--output '.*' cannot be written: '.*link' leads nowhere; name another"):
        file_to_write("--output", tmp_path / "link" / "rule.toml")


def test_no_limit_and_no_number_of_processes_are_choices():
    assert len(CALLS["transfer"](max_false_stop=None)) == 1
    plain = dl.measure(RUNS, ["levenshtein"]).deltas("levenshtein")
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert (dl.measure(RUNS, ["levenshtein"], n_jobs=None).deltas("levenshtein") == plain).all()


def test_checking_a_place_makes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file_to_write("--output", tmp_path / "a" / "b.toml")
    folder_to_write("--output", Path("c/d"))
    Cache("e")
    assert list(tmp_path.iterdir()) == []
    file_to_write("--output", __file__)
    folder_to_write("--output", tmp_path)


def test_a_file_needs_a_place_of_its_own(tmp_path):
    with pytest.raises(InputError, match=r"^--output '.*' is a folder; name a file$"):
        file_to_write("--output", tmp_path)
    with pytest.raises(InputError, match=r"^--output '/dev/null' is a device; name a file$"):
        file_to_write("--output", "/dev/null")
