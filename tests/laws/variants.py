"""Made-up runs of the kinds users reported, good and stalled, in words drawn anew for every seed."""

import random
from collections.abc import Callable

from driftlab.trace.schema import Span, Step, Trace

NOUNS = [
    "ledger", "badge", "parcel", "router", "tariff", "queue", "invoice", "sensor", "cluster", "voucher",
    "branch", "ticket", "depot", "canal", "beacon",
]  # fmt: skip
VERBS = [
    "check", "scan", "build", "sync", "move", "parse", "load", "verify", "patch", "list", "merge", "index",
    "export",
]  # fmt: skip
ERRORS = [
    "Error: cannot open database: file is locked by another user",
    "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'",
    "fatal: refusing to merge unrelated histories",
    "bash: frobnicate: command not found",
    "permission denied: scope reports.write is missing",
]


def word(draw: random.Random) -> str:
    return f"{draw.choice(NOUNS)}_{draw.randint(10, 99)}"


def sentence(draw: random.Random, length: int = 12) -> str:
    return " ".join(draw.choice(NOUNS + VERBS) for _ in range(length))


def page(draw: random.Random, lines: int = 15) -> str:
    return "\n".join(
        f"{n + 1:4d}  {word(draw)} = {draw.choice(VERBS)}({word(draw)}, {draw.random():.4f})" for n in range(lines)
    )


def clock(draw: random.Random, t: int) -> str:
    minute, second, rest = draw.randint(0, 59), draw.randint(0, 59), draw.randint(0, 999)
    return f"2033-02-{1 + t // 24:02d}T{t % 24:02d}:{minute:02d}:{second:02d}.{rest:03d}Z"


def start(draw: random.Random, count: int = 3) -> list[Step]:
    """Return a few steps of honest work."""
    steps = [
        Step(tool="read_file", args={"path": f"/srv/{word(draw)}.py"}, output=page(draw), state=sentence(draw, 6))
        for _ in range(count)
    ]
    return [with_signal(step, 0.0) for step in steps]


def with_signal(step: Step, value: float) -> Step:
    return Step(
        **{name: getattr(step, name) for name in step.__struct_fields__ if name != "signals"}, signals={"p": value}
    )


def flat(steps: list[Step], value: float = 0.0) -> list[Step]:
    return [with_signal(step, value) for step in steps]


def rising(steps: list[Step], first: int = 1) -> list[Step]:
    return [with_signal(step, float(first + n)) for n, step in enumerate(steps)]


# --- good ---------------------------------------------------------------------------------------------------


def poll_percent(draw):
    job, parts = word(draw), draw.sample(NOUNS, 6)
    steps = [
        Step(tool="job_status", args={"job": job}, output=f"{job}: {5 * n}% done, now {parts[n % 6]} ({31 * n}/620)")
        for n in range(20)
    ]
    return rising(steps)


def poll_and_sleep(draw):
    steps = []
    for n in range(10):
        steps.append(
            Step(tool="tail", args={"job": 3}, output="\n".join(f"row {n * 7 + k} {word(draw)}" for k in range(4)))
        )
        steps.append(Step(tool="bash", args={"command": "sleep 10"}, output=""))
    return [with_signal(step, n // 2) for n, step in enumerate(steps)]


def silent_wait(draw):
    waits = [
        Step(tool="wait_for_job", args={"seconds": 120}, output="still running, nothing printed") for _ in range(8)
    ]
    return [
        *flat(waits),
        *rising([Step(tool="wait_for_job", args={"seconds": 120}, output=page(draw)) for _ in range(3)]),
    ]


def edits(draw):
    lines: list[str] = []
    steps = []
    for _ in range(14):
        lines.append(f"def {word(draw)}(): return {draw.randint(1, 999)}")
        args = {"path": "/srv/app.py", "old": word(draw), "new": lines[-1]}
        steps.append(Step(tool="replace", args=args, output="1 replacement made", state="\n".join(lines)))
    return rising(steps)


def fix_and_test(draw):
    steps = []
    for n in range(12):
        steps.append(
            Step(tool="replace", args={"old": word(draw), "new": word(draw)}, output="edited", signals={"p": n})
        )
        output = f"{'.' * n}{'F' * (12 - n)}\n{12 - n} failed, {n} passed in {draw.random():.2f}s"
        steps.append(Step(tool="bash", args={"command": "pytest -q"}, output=output, signals={"p": n + 1}))
    return steps


def batch_lookup(draw):
    steps = [Step(tool="lookup", args={"key": word(draw) + str(n)}, output="null") for n in range(15)]
    return rising(steps)


def batch_write(draw):
    steps = [Step(tool="add_item", args={"cart": 4, "item": word(draw) + str(n)}, output="true") for n in range(13)]
    return rising(steps)


def three_step_batch(draw):
    steps = []
    for n in range(9):
        name = f"{word(draw)}{n}"
        steps += flat(
            [Step(tool="grep", args={"q": name}, output=f"{name} used in {word(draw)}:{draw.randint(1, 400)}")], n
        )
        steps += flat([Step(tool="bash", args={"command": f"git mv {name} lib/{name}"}, output="")], n)
        steps += flat([Step(tool="bash", args={"command": f"sed -i s/{name}/lib.{name}/ *"}, output="")], n + 1)
    return steps


def backoff(draw):
    body = draw.choice(
        ['{{"error":"rate_limited","status":429,"retry_after":{}}}', "HTTP 503 Service Unavailable, retry in {} s"]
    )
    tries = [
        Step(tool="post", args={"url": "https://x.test", "attempt": n}, output=body.format(2**n)) for n in range(8)
    ]
    done = [
        Step(tool="put", args={"part": word(draw)}, output=f'{{"bytes":{draw.randint(1, 9999)}}}') for _ in range(6)
    ]
    return [*flat(tries), *rising(done)]


def outage_same_text(draw):
    tries = [Step(tool="fetch", args={"url": "https://x.test"}, output="Error: connection refused") for _ in range(7)]
    return [*flat(tries), *rising([Step(tool="fetch", args={"url": "https://x.test"}, output=page(draw))])]


def table(draw):
    return [
        Step(state=f"| {word(draw):<14} | {word(draw):<14} | {draw.randint(1, 999):>5} |\n|----|----|----|")
        for _ in range(18)
    ]


def listing(draw):
    head = f"projects/{word(draw)}/locations/north-1/services/{word(draw)}/revisions/"
    return [Step(state=f"{n + 1}. `{head}{word(draw)}-{draw.randint(1000, 9999)}` is ready") for n in range(20)]


def reread_after_compaction(draw):
    reads = [
        Step(tool="read_file", args={"path": f"/srv/{n}.py"}, output=page(draw), signals={"p": 0}) for n in range(7)
    ]
    summary = Step(
        event="compaction", tool="compact", args={}, output="41k -> 3k", state=f"Summary: {sentence(draw, 30)}"
    )
    work = [Step(tool="edit", args={"patch": word(draw)}, output="ok") for _ in range(6)]
    return [*reads, with_signal(summary, 0.0), *reads, *rising(work)]


def sweep(draw):
    best, steps = 0.5, []
    for n in range(20):
        best = best + 0.01 if n % 5 == 0 else best
        value = best if n % 5 == 0 else best - draw.random() / 10
        output = f"epoch 1 loss {draw.random():.4f}\nepoch 2 loss {draw.random():.4f}\nacc {value:.3f}"
        steps.append(
            Step(tool="bash", args={"command": f"train --lr {draw.random():.5f}"}, output=output, signals={"p": value})
        )
    return steps


def timestamp_progress(draw):
    steps = [
        Step(tool="bash", args={"command": "replica --lag"}, output=f'{{"applied": "{clock(draw, t)}"}}')
        for t in range(15)
    ]
    return rising(steps)


def build_with_warnings(draw):
    head, steps = "\n".join(f"warning: field {word(draw)} is never read" for _ in range(30)), []
    for n in range(9):
        steps.append(
            Step(tool="bash", args={"command": "make"}, output=f"{head}\nerror E{n}: {word(draw)}", signals={"p": n})
        )
        steps.append(Step(tool="edit", args={"patch": word(draw)}, output="ok", signals={"p": n}))
    return steps


def user_asks_again(draw):
    steps = []
    for _ in range(8):
        steps.append(Step(event="user", state="Please look once more.", node="user"))
        steps.append(Step(tool="status", args={}, output="idle"))
        steps.append(Step(state=f"It is idle. {sentence(draw, 8)}"))
    return steps


def long_answer(draw):
    return [*start(draw, 4), *(Step(state=sentence(draw, 60)) for _ in range(6))]


def exploring(draw):
    steps = start(draw, 14)
    return [*steps, *rising([Step(tool="edit", args={"patch": word(draw)}, output="ok") for _ in range(4)])]


# --- stalled: (steps, onset) --------------------------------------------------------------------------------


def stuck(draw, loop: list[Step], honest: int = 3):
    return [*start(draw, honest), *loop], honest + 1


def reshuffled_search(draw):
    terms = draw.sample(NOUNS, 8)
    loop = [
        Step(tool="grep", args={"pattern": "|".join(draw.sample(terms, draw.randint(3, 6)))}, output="(no hits)")
        for _ in range(20)
    ]
    return stuck(draw, loop)


def same_error(draw):
    error = draw.choice(ERRORS)
    loop = [Step(tool="bash", args={"command": f"load --head {50 * n} {word(draw)}"}, output=error) for n in range(20)]
    return stuck(draw, flat(loop))


def noisy_error(draw):
    name = word(draw)
    loop = []
    for t in range(20):
        output = f"{clock(draw, t)} INFO job[{4000 + 7 * t}] run {draw.getrandbits(32):08x}\n"
        output += (
            f"{clock(draw, t)} ERROR job[{4000 + 7 * t}] {name}: quota of project exhausted after {draw.random():.2f}s"
        )
        loop.append(Step(tool="bash", args={"command": "./push.sh"}, output=output))
    return stuck(draw, flat(loop))


def duplicate_posts(draw):
    text = sentence(draw)
    loop = [
        Step(
            tool="post",
            args={"channel": "ops", "text": text},
            output=f'{{"ok":true,"id":"{draw.getrandbits(64):016x}","at":"{clock(draw, t)}"}}',
        )
        for t in range(18)
    ]
    return stuck(draw, flat(loop, 1.0))


def reordered_arguments(draw):
    base = {"depot": word(draw), "weeks": 3, "unit": "box", "opts": {"lang": "en", "full": False}}
    loop = []
    for _ in range(16):
        keys = draw.sample(list(base), len(base))
        args = {key: base[key] for key in keys} | {"weeks": draw.choice([3, 3.0])}
        loop.append(Step(tool="report", args=args, output='{"in": [1, 2, 3]}'))
    return stuck(draw, loop)


def cycle_of(length: int) -> Callable:
    def cycle(draw):
        lap = [
            Step(tool=draw.choice(["read", "grep", "bash"]), args={"q": f"{word(draw)}{n}"}, output=page(draw, 4))
            for n in range(length)
        ]
        loop = [step for _ in range(6) for step in lap]
        return [*start(draw), *flat(loop)], 3 + length

    cycle.__name__ = f"cycle_of_{length}"
    return cycle


def noisy_cycle(draw):
    lap = [(f"t{n}", word(draw), page(draw, 4)) for n in range(4)]
    loop = [
        Step(tool=tool, args={"q": q}, output=f"{text}\ndone in {draw.random():.2f}s", state=sentence(draw, 5))
        for _ in range(7) for tool, q, text in lap
    ]  # fmt: skip
    return [*start(draw), *flat(loop)], 7


def ab_patches(draw):
    a, b = f"- x = {word(draw)}\n+ x = 1", f"- x = 1\n+ x = {word(draw)}"
    loop = []
    for n in range(10):
        loop.append(Step(tool="patch", args={"patch": (a, b)[n % 2]}, output="patched"))
        failed = ("test_race", "test_lock")[n % 2]
        loop.append(
            Step(
                tool="bash",
                args={"command": "pytest"},
                output=f"FAILED {failed}\n1 failed, 9 passed in {draw.random():.2f}s",
            )
        )
    return [*start(draw), *flat(loop)], 7


def announcements(draw):
    starts = ["Now I will", "Next, let me", "I am about to", "Time to", "I can now", "Let us"]
    loop = [Step(state=f"{draw.choice(starts)} {sentence(draw, 14)}.") for _ in range(16)]
    return stuck(draw, loop)


def repeated_speech(draw):
    parts = [sentence(draw, 20) for _ in range(5)]
    loop = [Step(state=". ".join(draw.sample(parts, 4))) for _ in range(14)]
    return stuck(draw, loop)


def claims_of_progress(draw):
    loop = []
    for n in range(12):
        loop.append(
            Step(
                tool="edit",
                args={"old": f"line {n}", "new": word(draw)},
                output="The file was edited.",
                state=sentence(draw),
            )
        )
        output = f"FAILED test_{NOUNS[0]}\n3 failed, 20 passed in {draw.random():.2f}s"
        loop.append(Step(tool="bash", args={"command": "pytest"}, output=output, state=sentence(draw)))
    return stuck(draw, flat(loop, 20.0))


def agent_ring(draw):
    agents = draw.sample(NOUNS, 3)
    loop = [
        Step(
            node=agents[n % 3],
            tool="send",
            args={"to": agents[(n + 1) % 3], "case": 8},
            output="delivered",
            state=f"{sentence(draw, 5)} ({n})",
        )
        for n in range(24)
    ]
    return stuck(draw, flat(loop))


def growing_command(draw):
    block = f"; grep -n {word(draw)} *.inc"
    loop = [
        Step(tool="bash", args={"command": "ls" + block * (n + 1)}, output="a.inc\n" + "3: match\n" * (n + 1))
        for n in range(20)
    ]
    return stuck(draw, flat(loop, 1.0))


def interleaved(draw):
    loop = []
    for n in range(14):
        loop.append(Step(tool="bash", args={"command": "make itest"}, output="itest: timeout in handshake"))
        loop.append(Step(tool="read_file", args={"path": f"/srv/{word(draw)}{n}.py"}, output=page(draw)))
    return stuck(draw, flat(loop))


def interleaved_varied_error(draw):
    loop = []
    for n in range(14):
        loop.append(Step(tool="bash", args={"command": f"deploy --try {n}"}, output="Error: certificate has expired"))
        loop.append(Step(tool="read_file", args={"path": f"/srv/{word(draw)}{n}.py"}, output=page(draw)))
    return stuck(draw, flat(loop))


def reverify_after_done(draw):
    work = rising([Step(tool="edit", args={"patch": word(draw)}, output="ok") for _ in range(10)])
    loop = [
        Step(
            tool="bash",
            args={"command": "pytest -q | tail -1"},
            output=f"98 passed in {draw.random():.2f}s",
            signals={"p": 11},
            state=sentence(draw, 4),
        )
        for _ in range(20)
    ]
    return [*work, *loop], 11


def summary_loop(draw):
    aim = f"Aim - {sentence(draw, 30)}. Known so far - {sentence(draw, 15)}."
    loop = []
    for n in range(10):
        loop.append(Step(node="build", state=aim))
        loop.append(
            Step(
                node="compact",
                event="compaction",
                tool="compact",
                args={},
                output=f"{89 + n}k -> 3k tokens",
                state=f"Compacting. {aim}",
            )
        )
    return [*start(draw), *flat(loop)], 6


def blanks(draw):
    loop = [
        Step(
            tool="notes",
            args={"op": "get"},
            output=draw.choice([None, "", "\n", "(none)"]),
            state=draw.choice(["", " ", "\n", "\t"]),
        )
        for _ in range(16)
    ]
    return stuck(draw, loop)


def rotating_paths(draw):
    text = sentence(draw, 20)
    loop = []
    for _ in range(18):
        path = f"/srv/out/{draw.choice(['note', 'text', 'clean', 'final'])}-{draw.randint(0, 9)}.md"
        loop.append(
            Step(tool="write_file", args={"path": path, "content": text}, output=f"wrote {len(text)} bytes to {path}")
        )
    return stuck(draw, loop)


def invisible_variation(draw):
    text = f"Café plan — {sentence(draw, 8)}. Ready ✨"
    marks = ["", "\u200b", "\u00ad", "\ufeff", "\ufe0f", "  ", "\r\n"]
    loop = []
    for _ in range(16):
        cut, mark = draw.randint(1, len(text) - 1), draw.choice(marks)
        loop.append(Step(state=text + mark if mark.isspace() else text[:cut] + mark + text[cut:]))
    return stuck(draw, loop)


def hopeless_poll(draw):
    field = word(draw)
    loop = [
        Step(
            tool="bash",
            args={"command": f"jobs show 5 --format {field}"},
            output=f"[{25 * t // 60:02d}:{25 * t % 60:02d} elapsed] jobs: field {field} is not defined",
        )
        for t in range(18)
    ]
    return stuck(draw, flat(loop))


def bare_sleeps(draw):
    loop = [
        Step(tool="bash", args={"command": f"sleep {draw.choice([30, 45, 60, 90, 120]) + t}"}, output="")
        for t in range(16)
    ]
    return stuck(draw, flat(loop))


def error_cascade(draw):
    error = "error: cannot write: read-only file system (os error 30)"
    tools = ["bash", "mkdir", "touch", "copy", "edit_file", "write_file", "unzip"]
    loop = [Step(tool=draw.choice(tools), args={"path": f"/srv/{word(draw)}{n}"}, output=error) for n in range(18)]
    return stuck(draw, flat(loop))


def grinding(draw):
    loop = [
        Step(
            tool="bash",
            args={"command": f"{draw.choice(VERBS)} --from {draw.randint(1, 9999)}"},
            output=f"frames={draw.randint(1, 99)} top={draw.getrandbits(24):06x} m={draw.random():.4f}",
        )
        for _ in range(40)
    ]
    return stuck(draw, flat(loop))


def apologies(draw):
    args = {"path": "/srv/Form.tsx", "search": word(draw), "replace": word(draw)}
    loop = [
        Step(tool="replace", args=args, output="refused: the search text was not found", state=sentence(draw))
        for _ in range(16)
    ]
    return stuck(draw, loop)


GOOD = [
    poll_percent, poll_and_sleep, silent_wait, edits, fix_and_test, batch_lookup, batch_write,
    three_step_batch, backoff, outage_same_text, table, listing, reread_after_compaction, sweep,
    timestamp_progress, build_with_warnings, user_asks_again, long_answer, exploring,
]  # fmt: skip
STALLED = [
    reshuffled_search, same_error, noisy_error, duplicate_posts, reordered_arguments,
    *map(cycle_of, range(2, 9)), noisy_cycle, ab_patches, announcements, repeated_speech, claims_of_progress,
    agent_ring, growing_command, interleaved, interleaved_varied_error, reverify_after_done, summary_loop,
    blanks, rotating_paths, invisible_variation, hopeless_poll, bare_sleeps, error_cascade, grinding,
    apologies,
]  # fmt: skip


def good_run(kind: Callable, seed: int) -> Trace:
    return Trace(id=f"{kind.__name__}-{seed}", label="good", steps=kind(random.Random(f"{kind.__name__}-{seed}")))


def stalled_run(kind: Callable, seed: int) -> Trace:
    steps, onset = kind(random.Random(f"{kind.__name__}-{seed}"))
    return Trace(id=f"{kind.__name__}-{seed}", label="stalled", stalls=[Span(onset)], steps=steps)
