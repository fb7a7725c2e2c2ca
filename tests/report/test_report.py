"""The report says what the numbers say, in bytes that do not change, with nothing from outside."""

import html
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from figure_data import loops

from driftlab.detectors import StepCount, detector, needed
from driftlab.metrics.measurements import measure
from driftlab.report import report, text_table
from driftlab.report.decision import decide
from driftlab.report.document import Code, Document, Section, Table
from driftlab.report.markdown import escape, markdown
from driftlab.report.mistakes import excerpt, instructive, mistakes, told
from driftlab.report.page import page
from driftlab.rules.policy import StopRule
from driftlab.trace.schema import Span, Step, Trace
from driftlab.tuning.calibrate import Calibration, calibrate
from driftlab.tuning.sweep import Sweep, sweep

matplotlib.use("Agg")
METRICS = ["exact", "levenshtein", "signal"]
EVIL = '<script src="http://evil.example/x.js"></script> | `code` \x1b[31mred\u202e'


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    first, *rest = loops()
    steps = [Step(tool="web", args={"q": EVIL}, output=EVIL, state="same")] * len(first.steps)
    return [first.replace(id="evil | <b>run</b>", steps=steps), *rest, *loops("tiny", problems=3)]


@pytest.fixture(scope="module")
def found(traces) -> Sweep:
    return sweep(traces, METRICS, patience=[1, 2, 3], decay=[0.8], draws=200)


@pytest.fixture(scope="module")
def rule(traces) -> Calibration:
    return calibrate(traces, task="code", metrics=METRICS, patience=[1, 2, 3], decay=[0.8], max_false_stop=0.2)


@pytest.fixture(scope="module")
def written(found, rule, traces, tmp_path_factory) -> tuple[Path, ...]:
    return report(found, [rule], corpus=traces, folder=tmp_path_factory.mktemp("report"), errors=3)


class TestFiles:
    def test_all_parts_are_written_and_named(self, written):
        names = [path.name for path in written]
        assert names[:4] == ["report.html", "report.md", "best.csv", "table.csv"]
        assert {"overview.png", "roc.png", "pr.png", "amoc.png", "saved.png", "heatmap_saved_1_code.png"} < set(names)
        assert all(path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for path in written if path.suffix == ".png")
        here = written[0].parent
        assert {path for path in here.rglob("*") if path.is_file()} == set(written)

    def test_tables_hold_every_cell(self, written, found):
        assert len(pd.read_csv(written[3])) == len(found.cells)
        assert len(pd.read_csv(written[2])) == len(found.best())

    def test_the_same_input_gives_the_same_bytes_whatever_style_is_in_force(
        self, written, found, rule, traces, tmp_path
    ):
        before, figures = dict(matplotlib.rcParams), plt.get_fignums()
        with plt.style.context("dark_background"):
            again = report(found, [rule], corpus=traces, folder=tmp_path, errors=3)
        assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written]
        assert dict(matplotlib.rcParams) == before
        assert plt.get_fignums() == figures

    def test_markdown_shows_figures_that_are_there(self, written):
        shown = re.findall(r"\]\((figures/[^)]+)\)", written[1].read_text())
        assert len(shown) == len(written) - 4
        assert all((written[0].parent / name).is_file() for name in shown)

    def test_markdown_tables_are_aligned(self, written):
        for block in written[1].read_text().split("\n\n"):
            if block.startswith("| "):
                assert len({len(line) for line in block.splitlines()}) == 1


class TestPage:
    def test_nothing_comes_from_outside(self, written):
        text = written[0].read_text()
        targets = re.findall(r"""(?:src|href|action|data)\s*=\s*["']([^"']*)""", re.sub(r"<t[dh].*?</t[dh]>", "", text))
        assert all(target.startswith(("#", "data:image/png;base64,")) for target in targets)
        assert not re.search(r"<(script|link|iframe|object|form)\b|@import|url\(", text)
        assert "default-src 'none'; img-src data:" in text

    def test_text_of_traces_is_text(self, written):
        text = written[0].read_text()
        assert (
            "&lt;script src=&quot;http://evil.example" in text or "&lt;script src=\\&quot;http://evil.example" in text
        )
        assert "evil | &lt;b&gt;run&lt;/b&gt;" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert r"evil \| \<b\>run\</b\>" in written[1].read_text()

    def test_links_of_the_contents_lead_somewhere(self, written):
        text = written[0].read_text()
        links = re.findall(r'href="#([^"]+)"', text)
        assert len(links) == len(set(links)) >= 9
        assert all(f'id="{link}"' in text for link in links)

    def test_every_picture_says_what_it_shows(self, written):
        assert all(len(alt) > 10 for alt in re.findall(r'<img alt="([^"]*)"', written[0].read_text()))


class TestWords:
    def test_summary_table_controls_rule_errors_and_traps_are_there(self, written, rule):
        text = html.unescape(written[0].read_text())
        for part in ("In short", "Which metric, on which task", "What the controls say", "What can fool you"):
            assert f">{part}</h2>" in text
        assert "tiny: cannot be judged, 3 good traces, 20 needed." in text
        assert repr(rule.rule.detector) in text
        assert "driftlab-policy/1" in text
        assert "code, placebo: noise through the same accumulator ranks at AUC" in text
        assert "where 10% do, the same rule would have" in text

    def test_errors_are_shown_step_by_step_with_the_alarm_marked(self, written):
        text = written[1].read_text()
        assert re.search(r"### 1\. False stop: ", text)
        assert "◀ alarm" in text
        assert "What the detector saw:" in text

    def test_without_corpus_or_rule_it_says_what_to_do(self, found, tmp_path):
        text = report(found, folder=tmp_path)[1].read_text()
        assert "Give the corpus to see errors step by step." in text
        assert "**No rule was calibrated on code.** The metric to calibrate is" in text
        assert "**No rule was calibrated on tiny.** Nothing can be deployed: 3 good traces, 20 needed." in text

    def test_without_a_rule_errors_are_those_of_the_leading_metric(self, found, traces, tmp_path):
        text = report(found, corpus=traces, folder=tmp_path, errors=2)[1].read_text()
        assert "Of the leading metrics at 5% false stops on these traces (not certified)" in text
        assert text.count("\n### ") == 2 + 1  # two errors, one task under "Patience and threshold"


class TestOddCorpora:
    def test_good_traces_only(self, tmp_path):
        only = [trace for trace in loops() if trace.label == "good"]
        text = report(
            sweep(only, ["exact"], draws=50), [calibrate(only, metrics=["exact"])], corpus=only, folder=tmp_path
        )[1]
        assert (
            "**Do not deploy on code.** Nobody can tell whether the metric detects stalls: no stalled traces."
            in text.read_text()
        )
        assert not (tmp_path / "figures" / "pr.png").exists()

    def test_no_traces(self, tmp_path):
        text = report(sweep([], ["exact"], draws=50), folder=tmp_path)[1].read_text()
        assert "**Do not deploy.** There is no trace to judge." in text

    def test_traces_without_task_and_measurements_without_text(self, tmp_path):
        plain = [trace.replace(task=None) for trace in loops()]
        cells = sweep(
            measure(plain, needed([detector("plateau(exact, run(1))"), StepCount()])),
            ["exact"],
            patience=[1, 2],
            decay=[],
            draws=50,
        )
        assert (
            "- all traces: exact (state) with run(2) tells stalls best" in report(cells, folder=tmp_path)[1].read_text()
        )

    def test_names_that_are_no_file_names_or_formulas(self, tmp_path):
        odd = [trace.replace(task="../$a$ é") for trace in loops()]
        written = report(sweep(odd, ["exact"], patience=[2], decay=[], draws=50), corpus=odd, folder=tmp_path)
        assert all(path.parent in (tmp_path, tmp_path / "figures") for path in written)


class TestDecision:
    @pytest.mark.parametrize(
        ("change", "kind", "reason"),
        [
            ({}, "deploy", "saved"),
            ({"hit": 0, "miss": 15}, "do not deploy", "stalls was hit."),
            (
                {"hit": 0, "premature": 0, "late": 0, "miss": 0},
                "do not deploy",
                "There is no stalled trace to measure recall on.",
            ),
            (
                {"false_stop": 12, "passed": 3},
                "do not deploy",
                "broke its promise: 12 of 15 good traces stopped, 20% allowed",
            ),
            ({"lost_steps": 999}, "do not deploy", "loses 999 steps of good traces"),
            ({"saved_steps": 0, "lost_steps": -1}, "do not deploy", "Counting steps does as well"),
        ],
    )
    def test_every_reason_against(self, found, rule, change, kind, reason):
        decision = decide(found, [replace(rule, tally=replace(rule.tally, **change))], "code")
        assert (decision.kind, reason in decision.reason) == (kind, True)

    def test_watch_only_and_undefined_are_never_deployed(self, found, rule):
        watching = replace(rule, rule=StopRule(rule.rule.detector, math.inf, "code", evidence={"why": "3 more needed"}))
        assert decide(found, [watching], "code").reason == "The rule can only watch: 3 more needed."
        assert decide(found, [replace(rule, rule=replace(rule.rule, task="tiny"))], "tiny").kind == "do not deploy"

    def test_a_score_no_better_than_steps_is_no_evidence(self, found, rule):
        poor = next(cell for cell in found.cells if cell.task == "code" and cell.verdict.startswith("not better"))
        decision = decide(found, [replace(rule, rule=StopRule(poor.detector, 0.9, "code"))], "code")
        assert decision.reason == f"The metric is {poor.verdict}."

    def test_what_setup_may_explain_may_only_flag(self, rule):
        one = sweep([t.replace(setup="s") for t in loops()], METRICS, patience=[1, 2, 3], decay=[0.8], draws=200)
        decision = decide(one, [rule], "code")
        assert decision.headline == "Let it flag, not stop on code."
        assert decision.reason.endswith("But the metric cannot be told from setup.")


class TestMistakes:
    TRACES = (
        Trace(id="cut", label="good", steps=[Step(state="x")] * 6),
        Trace(id="early", label="stalled", stalls=[Span(4)], steps=[Step(state="x")] * 6),
        Trace(id="late", label="stalled", stalls=[Span(0, 2)], steps=[Step(state=s) for s in "abcdd"]),
        Trace(id="missed", label="stalled", stalls=[Span(1)], steps=[Step(state=s) for s in "abcdefghij"]),
    )

    def test_each_kind_with_its_cost(self):
        found = mistakes(StopRule("plateau(exact, run(1))", 1.0), measure(self.TRACES, ["exact"]))
        got = {kind: [(m.trace_id, m.alarm, m.cost) for m in ms] for kind, ms in found.items()}
        expected = {"false stop": [("cut", 1, 4)], "premature": [("early", 1, 3)], "late": [("late", 4, 4)]}
        assert got == expected | {"miss": [("missed", -1, 9)]}

    def test_kinds_take_turns_and_the_step_is_marked(self):
        found = mistakes(StopRule("plateau(exact, run(1))", 1.0), measure(self.TRACES, ["exact"]))
        picked = instructive([found, found], 3)
        assert [(m.kind, m.trace_id) for m in picked] == [
            ("false stop", "cut"),
            ("miss", "missed"),
            ("premature", "early"),
        ]
        traces = {trace.id: trace for trace in self.TRACES}
        words, table = told(picked[0], traces["cut"])
        assert words.text.startswith("The run was good and would have been cut at step 1, 4 steps before its end.")
        assert [row[0] for row in table.rows] == ["1 ◀ alarm", "2"]
        words, table = told(picked[1], traces["missed"])
        assert "In it the score reached 0.000, the threshold is 1.000." in words.text
        assert [row[0] for row in table.rows][:3] == ["0", "1 ◀ onset", "2"]

    def test_excerpts_are_short_clean_and_on_one_line(self):
        assert excerpt(EVIL) == '<script src="http://evil.example/x.js"></script> | `code` red'
        assert len(excerpt("x" * 999)) == 200
        assert excerpt(None) == ""


class TestTables:
    def test_a_terminal_line_is_at_most_150_columns_and_keeps_the_verdict(self, found):
        long = [trace.replace(task="a-very-long-name-of-a-task-indeed") for trace in loops()]
        table = sweep(long, ["levenshtein(view='action')"], patience=[2], decay=[0.8], draws=50).best()
        for frame in (found.best(), found.table(None), table):
            lines = text_table(frame).splitlines()
            assert len(lines) == len(frame) + 1
            assert max(map(len, lines)) <= 150
            assert lines[0].startswith("verdict ")
            assert lines[1].startswith(frame["verdict"][0][:40])

    def test_undefined_is_a_dash_and_never_a_nan(self, found, written):
        tiny = text_table(found.best()).splitlines()[-1]
        assert "–" in tiny
        assert not re.search(
            r"\bnan\b", text_table(found.table(None)) + written[1].read_text() + written[0].read_text()
        )

    def test_no_rows(self):
        assert text_table(sweep([], ["exact"]).table()) == "(no rows)"

    def test_the_tables_do_not_load_matplotlib(self):
        code = "import sys, driftlab.report; sys.exit('matplotlib' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestRenderers:
    DOCUMENT = Document(
        "T", [Section("S", [Code("a ``` b <x>"), Table(["w", "n"], [["a|b", "1"]], strong=frozenset({0}))])]
    )

    def test_markdown_cannot_be_broken_out_of(self):
        text = markdown(self.DOCUMENT)
        assert "````\na ``` b <x>\n````" in text
        assert r"| **a\|b** | **1** |" in text
        assert escape("# *a*\n[b](c)") == r"\# \*a\* \[b\](c)"

    def test_page_escapes_code_and_marks_strong_rows(self):
        text = page(self.DOCUMENT, {})
        assert "<pre>a ``` b &lt;x&gt;</pre>" in text
        assert '<tr class="strong"><td class="w">a|b</td><td class="n">1</td></tr>' in text
