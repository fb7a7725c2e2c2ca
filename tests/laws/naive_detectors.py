"""Slow, obvious twins of the detectors: one score from the plain numbers of the steps so far, nothing kept."""

import math


def said(numbers):
    return [x for x in numbers if not (isinstance(x, float) and math.isnan(x)) and not (isinstance(x, int) and x < 0)]


def run(stale, patience):
    return min(stale[-patience:]) if len(stale) >= patience else 0.0


def ewma(stale, decay):
    mean = 0.0
    for x in stale:
        mean = decay * mean + (1 - decay) * x
    return mean


def accumulated(accumulator, stale):
    return run(stale, accumulator.patience) if accumulator.name == "run" else ewma(stale, accumulator.decay)


def trailing(numbers, counts):
    """How many of the last numbers in a row count; those that say nothing are passed over."""
    count = 0
    for x in reversed(said(numbers)):
        if not counts(x):
            break
        count += 1
    return count


def plateau(d, columns):
    return accumulated(d.accumulator, [1 - x for x in said(columns[0])])


def stuck(d, columns):
    stale = []
    for row in zip(*columns, strict=True):
        told = [1 - x for x in row if not math.isnan(x)]
        if told:
            stale.append(sum(told) / len(told))
    return accumulated(d.accumulator, stale)


def oscillation(d, columns):
    held = [accumulated(d.accumulator, [1 - x for x in said(column)]) for column in columns]
    change = 1 - held[0]
    if change == 0:
        return 0.0
    return max(h * max(0.0, 1 - (1 - h) / change) for h in held[1:])


def net_change(d, columns):
    deltas = said(columns[0])
    return 1 - deltas[-1] if deltas else 0.0


def run_length(d, columns):
    length = trailing(columns[0], lambda x: x <= d.limit)
    return length / (length + 1)


def state_unchanged(d, columns):
    return min(1.0, trailing(columns[0], lambda x: x == 0) / d.patience)


def action_novelty(d, columns):
    last = said(columns[0])[-d.window :]
    return 1 - (len(set(last)) - 1) / (d.window - 1) if len(last) == d.window else 0.0


def recurring(d, columns):
    last = said(columns[0])[-d.window :]
    return min(1.0, (last.count(last[-1]) - 1) / (d.times - 1)) if last else 0.0


def tool_entropy(d, columns):
    calls = said(columns[0])
    return 1 - len(set(calls)) / len(calls) if len(calls) >= d.least else 0.0


def node_visits(d, columns):
    visits = said(columns[0])
    return min(1.0, (visits[-1] - 1) / d.most) if visits else 0.0


def equal_at(symbols, lag):
    count = 0
    while count + lag < len(symbols) and symbols[-1 - count] == symbols[-1 - count - lag]:
        count += 1
    return count


def cycle(d, columns):
    symbols = said(columns[0])
    constant = equal_at(symbols, 1)
    best = 0.0
    for lag in range(2, d.longest + 1):
        equal = equal_at(symbols, lag)
        if equal > constant:
            best = max(best, min(1.0, equal / max(d.least, d.laps * lag)))
    return best


def same_call(d, columns):
    pairs = list(zip(*columns, strict=True))
    count = 0
    for changed, new in reversed(pairs):
        if math.isnan(changed):
            continue
        if changed > d.changed or new > d.new:
            break
        count += 1
    return min(1.0, count / d.patience)


def redo(d, columns):
    return min(1.0, trailing(columns[0], lambda x: x <= d.new) / d.patience)


def error_streak(d, columns):
    count, last, well = 0, None, 0
    for found in columns[0]:
        if found == 0:
            well += 1
            if well > d.over:
                count = 0
        elif (found == 1) if d.kind == "outage" else (found > 1):
            count = count + 1 if found == last else 1
            last, well = found, 0
    return min(1.0, count / d.patience)


def phrases(d, columns):
    return min(1.0, trailing(columns[0], lambda x: x < d.new) / d.patience)


def idle(d, columns):
    if 1 not in columns[0]:
        return 0.0
    count = 0
    for called in reversed([x for x in columns[0] if x >= 0]):
        if called != 0:
            break
        count += 1
    # What was said before the first call does not count, nor what was said before the user spoke last.
    return min(1.0, count / d.patience)


def flat(d, columns):
    return min(1.0, trailing(columns[0], lambda x: x == 0) / d.patience)


def regression(d, columns):
    return min(1.0, trailing(columns[0], lambda x: x > d.fall) / d.patience)


def after_done(d, columns):
    return min(1.0, max(0, trailing(columns[0], lambda x: x == 1) - 1) / d.patience)


def illegal_transition(d, columns):
    return min(1.0, sum(x == 1 for x in columns[0]) / d.patience)


def dead_end(d, columns):
    return min(1.0, trailing(columns[0], lambda x: x == 1) / d.patience)


def steps(d, columns):
    t = len(columns[0]) - 1
    return t / (t + 1)


TWINS = {
    "action_novelty": action_novelty,
    "after_done": after_done,
    "cycle": cycle,
    "dead_end": dead_end,
    "error_streak": error_streak,
    "flat": flat,
    "idle": idle,
    "illegal_transition": illegal_transition,
    "net_change": net_change,
    "node_visits": node_visits,
    "oscillation": oscillation,
    "phrases": phrases,
    "plateau": plateau,
    "recurring": recurring,
    "redo": redo,
    "regression": regression,
    "revisit": plateau,
    "run_length": run_length,
    "same_call": same_call,
    "state_unchanged": state_unchanged,
    "steps": steps,
    "stuck": stuck,
    "tool_entropy": tool_entropy,
}


def scores(d, columns):
    """Return the score of every step: each from the whole prefix, from scratch."""
    length = len(columns[0])
    return [TWINS[d.name](d, [column[: t + 1] for column in columns]) for t in range(length)]


def within_scores(d, columns, resets):
    """Return the scores of a detector that starts again behind each reset, where it scores 0."""
    out, start = [], 0
    for t, reset in enumerate(resets):
        if reset:
            out.append(0.0)
            start = t + 1
        else:
            out.append(TWINS[d.name](d, [column[start : t + 1] for column in columns]))
    return out
