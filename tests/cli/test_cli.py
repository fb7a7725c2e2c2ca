"""The command line: what it prints, its exit codes, its one line on bad input."""

import json
import re

import pytest
from commands import run, run_process
from places import ROOT

from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.corpus import write
from driftlab.trace.schema import Span, Step, Trace

COMMANDS = (
    *("demo", "lab", "notebook", "inspect", "import", "redact", "masks"),
    *("sweep", "report", "calibrate", "gate", "transfer", "agree", "replay", "watch"),
)
SLOW = {
    "demo": "run by test_readme.py",
    "lab": "serves until it is closed; see test_lab.py",
    "notebook": "see test_notebooks.py",
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """Forty loops whose states repeat and forty that move on, over forty problems of one task."""
    made = []
    for n in range(40):
        states = [f"edit {n} line {i}" for i in range(3)]
        loop = [Step(state=s) for s in [*states, *[states[-1]] * (8 + n % 3)]]
        work = [Step(state=f"problem {n}: wrote part {i} of {'abcdefghijkl'[: i + 1]}") for i in range(12)]
        common = {"task": "code", "problem": str(n), "source": "test", "label_source": "written"}
        made.append(Trace(id=f"loop-{n}", label="stalled", stalls=[Span(3)], steps=loop, setup="a", **common))
        made.append(Trace(id=f"work-{n}", label="good", steps=work, setup="ab"[n % 2], **common))
    path = tmp_path_factory.mktemp("cli") / "runs.jsonl"
    write(made, path)
    return path


def test_help_lists_every_command_with_an_example():
    shown = run("--help").stdout
    for name in COMMANDS:
        assert re.search(rf"^  {name}\b", shown, re.M), name
        assert f"Example: driftlab {name}" in run(name, "--help").stdout


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in SLOW])
def test_the_example_of_each_help_works_as_written(name, tmp_path):
    for folder in ("data", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (example,) = re.findall(r"Example: driftlab (.*?)\n\n", run(name, "--help").stdout, re.DOTALL)
    words, _, source = " ".join(example.split()).partition(" < ")
    text = (ROOT / source).read_text() if source else ""
    found = run(*words.split(), text=text, cwd=tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.strip()


def test_inspect_counts(traces):
    assert "labels     good 40, stalled 40" in run("inspect", traces).stdout
    assert json.loads(run("inspect", traces, "--json").stdout)["labels"] == {"good": 40, "stalled": 40}


def test_sweep_writes_table_figures_and_report(traces, tmp_path):
    found = run("sweep", traces, "-o", tmp_path / "study", "-m", "exact", "-m", "levenshtein")
    assert found.returncode == 0, found.stderr
    assert "beats steps and placebo" in found.stdout
    names = {path.name for path in (tmp_path / "study").rglob("*") if path.is_file()}
    assert {"table.csv", "report.html", "report.md"} <= names
    assert any(name.endswith(".png") for name in names)


def test_calibrate_then_replay_then_watch(traces, tmp_path):
    rule = tmp_path / "rule.toml"
    found = run("calibrate", traces, "-m", "exact", "-m", "levenshtein", "--max-false-stop", "0.05", "-o", rule)
    assert found.returncode == 0, found.stderr
    assert StopRule.load(rule).threshold <= 1
    shown = run("replay", rule, traces, "-o", tmp_path / "runs.csv")
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"code: \d+ of 40 stalls hit", shown.stdout)
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 81
    steps = "".join(json.dumps({"state": "same"}) + "\n" for _ in range(12))
    answers = [json.loads(line) for line in run("watch", rule, "--task", "code", text=steps).stdout.splitlines()]
    assert len(answers) == 12
    assert answers[0]["stop"] is False
    assert answers[-1]["stop"] is True


def test_watch_answers_a_broken_line_and_goes_on(tmp_path):
    rule = tmp_path / "rule.toml"
    StopRule("plateau(exact, run(1))", 1.0).save(rule)
    found = run("watch", rule, text='{"state": "a"}\nno json\n{"state": 4}\n[1]\n{"state": "a"}\n')
    answers = [json.loads(line) for line in found.stdout.splitlines()]
    assert [answer.get("line") for answer in answers] == [None, 2, 3, 4, None]
    assert answers[-1]["stop"] is True
    assert found.returncode == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["inspect", "missing.jsonl"], "missing.jsonl: cannot be read: No such file"),
        (["inspect", "runs.csv"], "must end in one of"),
        (["inspect", "RUNS", "--signal", "error"], "not of the form NAME:higher"),
        (["sweep", "RUNS", "-m", "levenstein"], "did you mean 'levenshtein'"),
        (["calibrate", "RUNS", "--task", "sql"], "no trace has task 'sql'; tasks: code"),
        (["calibrate", "RUNS", "--max-false-stop", "2"], "--max-false-stop must be between 0 and 1, got 2"),
        (["calibrate", "RUNS", "--max-false-stop", "0"], "--max-false-stop must be between 0 and 1, neither of them"),
        (["report", "RUNS", "--max-false-stop", "1"], "--max-false-stop must be between 0 and 1, neither of them"),
        (
            ["report", "RUNS", "--price", "30"],
            "--price '30' is not of the form FALSE_STOP:WASTED_STEP, for example 30:1",
        ),
        (["calibrate", "RUNS", "--price", "30:-1"], "--price '30:-1' is not of the form"),
        (
            ["calibrate", "RUNS", "--price", "3:1", "--objective", "f1"],
            "--price and --objective f1 both say what decides",
        ),
        (["calibrate", "RUNS", "--objective", "f3"], "unknown objective 'f3'; "),
        (["sweep", "RUNS", "--prevalence", "2"], "--prevalence must be between 0 and 1, neither of them, got 2"),
        (["calibrate", "RUNS", "--nudge", "0.01"], "nudge must lie between max_false_stop (0.05) and 1, got 0.01"),
        (["transfer", "RUNS", "--max-false-stop", "2"], "--max-false-stop must be between 0 and 1, got 2"),
        (["sweep", "RUNS", "-m", "exact", "-j", "0"], "n_jobs must be a number of processes, or -1 for all cores"),
        (["import", "no/log"], "no/log: no such file or folder; name logs, or folders that hold them"),
        (["import", "RUNS", "no/log"], "no/log: no such file or folder; name logs"),
        (["sweep", "RUNS", "-m", "exact", "--max-false-stop", "5"], "between 0 and 1, got 5"),
        (["replay", "RUNS", "RUNS"], "not a driftlab-policy/1 file"),
        (["watch", "missing.toml"], "missing.toml: cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(traces, tmp_path, words, says):
    found = run(*(traces if word == "RUNS" else word for word in words), cwd=tmp_path)
    assert found.returncode == 2
    assert says in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_where(tmp_path):
    found = run_process("inspect", "missing.jsonl", "--debug", cwd=tmp_path)
    assert "Traceback" in found.stderr
    assert found.returncode == 2


def test_watch_answers_bytes_that_are_no_text_and_goes_on(tmp_path):
    rule = tmp_path / "rule.toml"
    StopRule("plateau(exact, run(1))", 1.0).save(rule)
    lines = b'{"state": "a"}\n{"state": "\xff"}\n{"extra": 1, "mood": "x"}\n{"state": "a"}\n'
    found = run_process("watch", rule, text=lines)
    answers = [json.loads(line) for line in found.stdout.splitlines()]
    assert [answer.get("line") for answer in answers] == [None, 2, 3, None]
    assert answers[-1]["stop"] is True
    assert (found.returncode, found.stderr) == (2, b"")


def test_calibrate_says_which_runs_tuned_nothing(traces, tmp_path):
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(traces.read_text() + '{"id": "no task", "steps": [{"state": "x"}]}\n')
    found = run("calibrate", mixed, "-m", "exact", "-o", tmp_path / "rule.toml")
    assert "note: 1 traces have no task: they tuned nothing and no rule is for them; give them a task" in found.stdout
    assert [rule.task for rule in Policy.load(tmp_path / "rule.toml").rules] == ["code"]


def test_report_makes_no_rule_over_everything_for_runs_without_a_task(traces, tmp_path):
    lines = traces.read_text().splitlines(keepends=True)
    other = [line.replace('"task":"code",', "").replace('"id":"', '"id":"free ') for line in lines]
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text("".join(lines + other))
    found = run("report", mixed, "-m", "exact", "-o", tmp_path / "study")
    assert found.returncode == 0, found.stderr
    assert "\nall traces\n" not in found.stdout
    assert "\ncode\ndetector " in found.stdout
    assert "note: 80 traces have no task: they tuned nothing and no rule is for them" in found.stdout
    mixed.write_text("".join(other))
    found = run("report", mixed, "-m", "exact", "-o", tmp_path / "study")
    assert "\nall traces\ndetector " in found.stdout
    assert "have no task" not in found.stdout


def test_report_finds_the_rule_that_calibrate_finds(traces, tmp_path):
    rule = run("calibrate", traces, "-m", "exact", "-m", "levenshtein", "-o", tmp_path / "rule.toml")
    told = run("report", traces, "-m", "exact", "-m", "levenshtein", "-o", tmp_path / "study")
    assert rule.stdout.split("written:")[0].strip() in told.stdout
    assert (tmp_path / "rule.toml").read_text().strip() in (tmp_path / "study" / "report.md").read_text()


def test_prices_choose_the_rule_and_are_told(traces, tmp_path):
    options = ("-m", "exact", "--price", "20:1", "--prevalence", "0.2")
    run("calibrate", traces, *options, "-o", tmp_path / "rule.toml", "--nudge", "0.3")
    policy = Policy.load(tmp_path / "rule.toml")
    assert [rule.action for rule in policy.rules] == ["stop", "nudge"]
    assert "Price(false_stop=20.0, wasted_step=1.0, prevalence=0.2)" in str(policy.provenance["selection"])
    run("report", traces, *options, "-o", tmp_path / "study")
    told = (tmp_path / "study" / "report.md").read_text()
    assert "At 20 a false stop and 1 a step it earns" in told
    assert "where 20% of the runs stall" in told
    assert (tmp_path / "study" / "figures" / "cost.png").exists()


def test_a_rule_that_earns_nothing_is_advised_against(traces, tmp_path):
    found = run("calibrate", traces, "-m", "exact", "--price", "1:0", "-o", tmp_path / "rule.toml")
    assert "advice      do not deploy: at 1 a false stop and 0 a step it earns " in found.stdout
    fine = run("calibrate", traces, "-m", "exact", "--price", "1:1", "-o", tmp_path / "rule.toml")
    assert "advice" not in fine.stdout


def test_report_of_no_traces_still_says_so(tmp_path):
    (tmp_path / "none.jsonl").write_text("")
    found = run("report", "none.jsonl", "-m", "exact", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "note: there are no traces: nothing can be ranked" in found.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["calibrate", "missing.jsonl", "-o", "folder"], "--output 'folder' is a folder; name a file"),
        (
            ["calibrate", "missing.jsonl", "-o", "file/rule.toml"],
            "'file/rule.toml' cannot be written: 'file' is a file",
        ),
        (["redact", "missing.jsonl", "-o", "folder.jsonl"], "--output 'folder.jsonl' is a folder; name a file"),
        (["redact", "missing.jsonl", "-o", "out.csv"], "--output 'out.csv' must end in one of .jsonl, .jsonl.gz,"),
        (["import", "file", "-o", "file/x.jsonl"], "--output 'file/x.jsonl' cannot be written: 'file' is a file"),
        (["import", "file", "-o", "out.csv"], "--output 'out.csv' must end in one of .jsonl, .jsonl.gz, .parquet"),
        (["replay", "missing.toml", "missing.jsonl", "-o", "folder"], "--output 'folder' is a folder; name a file"),
        (["sweep", "missing.jsonl", "-o", "file"], "--output 'file' is a file; name a folder"),
        (["report", "missing.jsonl", "-o", "file"], "--output 'file' is a file; name a folder"),
        (["report", "missing.jsonl", "-o", "file/new"], "--output 'file/new' cannot be written: 'file' is a file"),
        (["demo", "-o", "file"], "--output 'file' is a file; name a folder"),
        (["notebook", "04", "-o", "file"], "--output 'file' is a file; name a folder"),
        (["sweep", "missing.jsonl", "--cache", "file"], "--cache 'file' is a file; name a folder"),
        (["report", "missing.jsonl", "--cache", "file/new"], "--cache 'file/new' cannot be written: 'file' is a file"),
        (["calibrate", "missing.jsonl", "--cache", "file"], "--cache 'file' is a file; name a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_the_traces_are_read(tmp_path, words, says):
    (tmp_path / "file").write_text("kept")
    for name in ("folder", "folder.jsonl"):
        (tmp_path / name).mkdir()
    found = run(*words, cwd=tmp_path)
    assert found.returncode == 2, found.stderr
    assert says in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "folder.jsonl"]
    assert (tmp_path / "file").read_text() == "kept"


def test_a_dry_run_needs_no_place_to_write(traces, tmp_path):
    (tmp_path / "redacted.jsonl").mkdir()
    assert run("redact", traces, "--dry-run", cwd=tmp_path).returncode == 0


def test_folders_on_the_way_to_an_output_are_made(traces, tmp_path):
    assert run("redact", traces, "-o", "new/deep/out.jsonl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "new/deep/out.jsonl").exists()
