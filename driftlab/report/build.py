"""A sweep as a folder: tables, figures, report.md, report.html."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftlab._util.extras import need
from driftlab._util.files import replacing
from driftlab._util.wording import counted, share_text
from driftlab.metrics.measurements import Measurements, measure
from driftlab.report import chapters
from driftlab.report.decision import Decision, decide
from driftlab.report.document import Block, Bullets, Document, Figure, Section, Text
from driftlab.report.markdown import markdown
from driftlab.report.mistakes import Mistake, instructive, mistakes, told
from driftlab.report.page import page
from driftlab.report.tables import metric_table
from driftlab.rules.policy import StopRule
from driftlab.rules.provenance import version
from driftlab.trace.schema import Trace
from driftlab.tuning.calibrate import Calibration
from driftlab.tuning.naming import best_of, cell_name, is_steps, leader, task_name, why_not
from driftlab.tuning.objective import Price
from driftlab.tuning.sweep import LIMIT, Sweep

__all__ = ["report"]

if TYPE_CHECKING:
    from driftlab.report.figures import Album

ERRORS = 10


def report(
    sweep: Sweep,
    calibrations: Iterable[Calibration] = (),
    *,
    corpus: Iterable[Trace] | None = None,
    folder: str | os.PathLike[str],
    title: str = "driftlab report",
    errors: int = ERRORS,
    prevalence: float | None = None,
    price: Price | None = None,
) -> tuple[Path, ...]:
    """Write what a sweep found: tables, figures, report.md and one report.html that needs nothing else.

    The same sweep, rules and traces give the same bytes.

    Parameters
    ----------
    sweep : Sweep
    calibrations : iterable of Calibration
        Rules to judge, at most one a task; without one the report says what to calibrate.
    corpus : corpus or iterable of Trace, optional
        The traces that were swept; with them the costliest errors are shown step by step, in their own words.
    folder : path
        Made when it is missing; files of an earlier report in it are replaced.
    title : str
    errors : int
        How many errors are shown at most.
    prevalence : float, optional
        Share of runs that stall where the rules will work; default: the price's, else the share in these traces.
    price : Price, optional
        What a false stop and a wasted step cost; with it the report counts in money too.

    Returns
    -------
    tuple of Path
        report.html, report.md, best.csv (a row a metric and task), table.csv (a row a cell), then the figures.

    Examples
    --------
    >>> import tempfile
    >>> from driftlab.tuning.sweep import sweep
    >>> from driftlab.trace.schema import Step
    >>> found = sweep([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"])
    >>> paths = report(found, folder=tempfile.mkdtemp())
    >>> [path.name for path in paths]
    ['report.html', 'report.md', 'best.csv', 'table.csv', 'overview.png', 'roc.png']
    >>> "cannot be judged, no stalled traces" in paths[1].read_text()
    True
    """
    # Loaded here: the tables of this package must not load matplotlib.
    need("matplotlib", "study")  # names the extra where it is missing
    from driftlab.report.figures import drawing  # noqa: PLC0415

    study = _Study(sweep, tuple(calibrations), corpus, errors, {"prevalence": prevalence, "price": price})
    with drawing() as album:
        document = Document(title, study.sections(album))
    files = {"report.html": page(document, album.pictures), "report.md": markdown(document)}
    tables = {"best.csv": sweep.best() if sweep.cells else sweep.table(None), "table.csv": sweep.table(None)}
    files |= {name: frame.to_csv(index=False, lineterminator="\n") for name, frame in tables.items()}
    content = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    content |= {f"figures/{name}.png": picture for name, picture in album.pictures.items()}
    for name, data in content.items():
        with replacing(Path(folder) / name) as temporary:
            temporary.write_bytes(data)
    return tuple(Path(folder) / name for name in content)


def _those(figures: Mapping[str, Figure], *names: str, words: str = "") -> list[Block]:
    """The named figures that were drawn, with words before them; nothing where none was."""
    shown = [figures[name] for name in names if name in figures]
    return [Text(words), *shown] if shown and words else list(shown)


@dataclass(frozen=True, eq=False)
class _Study:
    """What the chapters are made from."""

    sweep: Sweep
    calibrations: tuple[Calibration, ...]
    corpus: Iterable[Trace] | None
    errors: int
    fleet: Mapping[str, Any]

    def sections(self, album: "Album") -> list[Section]:
        from driftlab.report import figures as draw  # noqa: PLC0415

        figures = draw.overall(album, self.sweep, self.fleet["price"])
        made = [
            Section("In short", chapters.in_short(self.sweep, self.decisions())),
            Section("What was looked at", [*chapters.looked_at(self.sweep), *self._notes()]),
            Section("Which metric, on which task", [*self._metrics(), *_those(figures, "overview")]),
            Section("What the controls say", chapters.controls_say(self.sweep)),
            Section("Ranking at equal age", _those(figures, "roc", words=_ROC if "pr" in figures else "")),
            Section("Alarms at every threshold", _those(figures, "pr", "saved", "amoc", words=_ALARMS)),
            Section("In money", _those(figures, "cost", words=_MONEY)),
            *self._settings(album),
            *self._rules(),
            *self._errors(album),
            Section("What can fool you", chapters.fooling(self.sweep, self.calibrations)),
            Section("How this was made", [Text(self._made())]),
        ]
        return [section for section in made if section.blocks]

    def decisions(self) -> list[Decision]:
        return [decide(self.sweep, self.calibrations, task, **self.fleet) for task in self.sweep.tasks]

    def _notes(self) -> list[Block]:
        return [Text("Hidden, left out or assumed:"), Bullets(self.sweep.notes)] if self.sweep.notes else []

    def _metrics(self) -> list[Block]:
        if not self.sweep.cells:
            return []
        frame = self.sweep.best()
        place, control = frame["task"].map(self.sweep.tasks.index), frame["verdict"].str.startswith("control")
        keys = {"_place": place, "_control": control, "_area": -frame["auc"]}
        ordered = frame.assign(**keys).sort_values(list(keys), kind="stable")
        return [Text(_TABLE), metric_table(ordered.drop(columns=list(keys)))]

    def _settings(self, album: "Album") -> list[Section]:
        from driftlab.report import figures as draw  # noqa: PLC0415

        rules = {task: rule for rule in self._chosen() for task in self._tasks(rule)}
        shown = {task: draw.of_task(album, self.sweep, task, rules) for task in self.sweep.tasks}
        parts = [Section(task_name(task), found, 3) for task, found in shown.items() if found]
        return [Section("Patience and threshold", [Text(_SETTINGS)]), *parts] if parts else []

    def _rules(self) -> list[Section]:
        if not self.calibrations:
            return [Section("The rule", [Text("No rule was calibrated; dl.calibrate finds one and certifies it.")])]
        parts = [Section(task_name(each.rule.task), chapters.certificate(each), 3) for each in self.calibrations]
        return [Section("The rule and its certificate", [Text(_RULE)]), *parts]

    def _errors(self, album: "Album") -> list[Section]:
        rules = [rule for rule in self._chosen() or self._provisional() if not rule.watch_only]
        if self.corpus is None or not rules:
            why = (
                "Give the corpus to see errors step by step."
                if self.corpus is None
                else "There is no rule that alarms, so no error to show."
            )
            return [Section("Errors, step by step", [Text(why)])]
        groups = [mistakes(rule, measured) for rule in rules for measured in self._measured(rule)]
        picked = instructive(groups, self.errors)
        wanted = {mistake.trace_id for mistake in picked}
        traces = {trace.id: trace for trace in self.corpus if trace.id in wanted}
        picked = [mistake for mistake in picked if mistake.trace_id in traces]
        from driftlab.report.figures import of_mistakes  # noqa: PLC0415

        figures = of_mistakes(album, picked, traces)
        parts = [
            Section(f"{n}. {_NAMES[m.kind]}: {m.trace_id}", [*told(m, traces[m.trace_id]), figure], 3)
            for n, (m, figure) in enumerate(zip(picked, figures, strict=True), 1)
        ]
        return [Section("Errors, step by step", [Text(self._which(rules, groups))]), *parts]

    def _chosen(self) -> list[StopRule]:
        return [found.rule for found in self.calibrations]

    def _provisional(self) -> list[StopRule]:
        """Without a calibrated rule: the leading metric of each task at the limit on these traces."""
        best = {task: leader(best_of(self.sweep, task)) for task in self.sweep.tasks if not why_not(self.sweep, task)}
        pairs = [(task, cell, cell.curve.at_limit(LIMIT)) for task, cell in best.items() if cell is not None]
        return [StopRule(cell.detector, line, task or None) for task, cell, line in pairs if line <= 1]

    def _tasks(self, rule: StopRule) -> Sequence[str]:
        return self.sweep.tasks if rule.task is None else [task for task in self.sweep.tasks if task == rule.task]

    def _measured(self, rule: StopRule) -> Iterable[Measurements]:
        """The traces of each of the rule's tasks, measured again where the sweep lacks a column."""
        for task in self._tasks(rule):
            known = self.sweep.evaluations[task].measurements
            if all(each in known.columns for each in rule.detector.needs):
                yield known
                continue
            yield measure([trace for trace in self.corpus or () if (trace.task or "") == task], rule.detector.needs)

    def _which(self, rules: Sequence[StopRule], groups: Sequence[Mapping[str, list[Mistake]]]) -> str:
        counts = {kind: sum(len(found[kind]) for found in groups) for kind in _NAMES}
        said = ", ".join(f"{_NAMES[kind].lower()} {count}" for kind, count in counts.items())
        of = (
            "the calibrated rules"
            if self.calibrations
            else f"the leading metrics at {share_text(LIMIT)} false stops on these traces (not certified)"
        )
        return f"Of {of}, on all labelled traces: {said}. Shown are the costliest of each kind, in turn."

    def _made(self) -> str:
        draws = {(each.draws, each.seed) for each in self.sweep.evaluations.values()}
        drawn = (
            ", ".join(f"{n} bootstrap draws over problems with seed {seed}" for n, seed in sorted(draws))
            or "nothing to draw from"
        )
        cells = sum(not is_steps(cell) for cell in self.sweep.cells)
        names = ", ".join(dict.fromkeys(cell_name(cell) for cell in self.sweep.cells if not is_steps(cell)))
        swept = f"{counted(cells, 'cell')} of {names or 'no metric'}"
        return f"driftlab {version()}; {swept}; {drawn}. The same input gives the same bytes."


_NAMES = {"false stop": "False stop", "miss": "Missed stall", "premature": "Premature alarm", "late": "Late alarm"}
_TABLE = (
    "One row a metric, its best accumulator, then the controls of the task. Bold rows beat counting steps and noise. "
    f"Rates are quoted at the threshold that saves most within {share_text(LIMIT)} false stops on these traces. A dash "
    "is undefined; the verdict says why."
)
_ROC = (
    "Every stalled trace against the good traces that run as long, over the same steps. The grey area is what noise "
    "reaches; counting steps is the diagonal. The coloured area is the pointwise 95% band of the leading metric."
)
_ALARMS = (
    "What a stop rule does, judged by its first alarm: an alarm before the onset is wrong. A ring marks the smallest "
    f"threshold within {share_text(LIMIT)} false stops. Read delay and recall together: a step counter may hit nearly "
    "every stall, at its very end."
)
_MONEY = (
    "What every threshold earns a run at your prices: steps saved, less good runs stopped and premature alarms. "
    "No rule at all earns 0. Where the lines stay below it, do not stop by these metrics."
)
_SETTINGS = (
    "Right of the stepped line a setting stops few enough good traces. A wide area of one colour there is a safe "
    "choice; a single bright cell is luck."
)
_RULE = "Metric and patience were chosen on some problems; the threshold was set on others, which chose nothing."
