"""At least two settings of every registered detector, plain and within a context."""

from driftlab.detectors import Context, Learned, Within, detector

MAP = "(('plan', 'code'), ('code', 'test'))"
SPECS = [
    "action_novelty(window=4)",
    "action_novelty(view='node', window=2)",
    "after_done(2)",
    "after_done(1, signal='left')",
    "cycle",
    "cycle('node', longest=3, laps=1, least=2)",
    f"dead_end({MAP}, 2)",
    f"dead_end({MAP}, 2, ends=('plan',))",
    "error_streak(3)",
    "error_streak(2, kind='outage', over=1)",
    "flat(4)",
    "flat(2, signal='left')",
    "idle(3)",
    f"illegal_transition({MAP}, 3)",
    "net_change(exact, 3)",
    "net_change(jaccard(view='action'), 1)",
    "node_visits(3)",
    "oscillation(exact(view='call'), run(6), longest=3)",
    "oscillation(levenshtein, ewma(0.6), longest=8)",
    "phrases(2, length=6)",
    "plateau(exact, run(3))",
    "plateau(levenshtein(view='output'), ewma(0.8))",
    "plateau(noise, run(1))",
    "recurring(3, 6)",
    "recurring(2, 12, view='node')",
    "redo(2, last=3)",
    "regression(2)",
    "regression(1, signal='passed', fall=1.0)",
    "revisit(exact, run(2), last=4)",
    "run_length(exact(view='action'))",
    "run_length(levenshtein, limit=0.5)",
    "same_call(2)",
    "state_unchanged(2)",
    "steps",
    "stuck",
    "stuck(run(3))",
    "tool_entropy(least=3)",
]
CONTEXT = Context(
    tools=(("wait", "poller", 2), ("edit", "writer", 1)), ignore=(("read", "p"),), signals=("passed",), outages=2
)
SAMPLES = [detector(spec) for spec in SPECS]
SAMPLES += [Within(each, CONTEXT) for each in SAMPLES]
SAMPLES += [Learned(tuple(SAMPLES[3:25:4]), (2.0, -0.5, 1.0, 0.25, 3.0, 1.5), (1.0, 0.5, 0.0, -1.0, 2.0, 0.75), -1.5)]
SAMPLES += [Within(detector("recurring(3, 6)"), Context(tools=(("wa*", "exempt", 1), ("read", "reader", 1))))]
