"""Hypothesis strategies for texts, steps and traces: small alphabets, so that repeats happen."""

from typing import Any

from hypothesis import strategies as st

from driftlab.trace.schema import SignalSpec, Step, Trace

WINDOW = 8  # the largest lag and patience that laws are tested with; traces of twice that reach past warm-up

texts = st.text(alphabet="ab \n.3é", max_size=24)
"""Short texts over a small alphabet: equal ones, empty ones and blank ones are common."""

unicode_texts = st.text(max_size=60)
"""Any text without surrogates."""

wild_texts = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=60)
"""Any text, lone surrogates included."""

arguments = st.one_of(
    st.none(),
    texts,
    st.dictionaries(
        st.sampled_from(["path", "line", "q"]), st.one_of(texts, st.integers(0, 3), st.booleans()), max_size=3
    ),
    st.just('{"q": "x", "k": 1}'),
    st.just('{"q": '),
)
"""Arguments as they occur: none, an object, its JSON text, broken JSON, plain text."""


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Draw a step in which every part may be absent."""
    called = draw(st.booleans())
    keys: dict[str, Any] = {
        "state": draw(st.one_of(st.none(), texts)),
        "thought": draw(st.one_of(st.none(), texts)),
        "tool": draw(st.sampled_from(["ls", "cat", "sh run"])) if called else None,
        "args": draw(arguments) if called else None,
        "output": draw(st.one_of(st.none(), texts)) if called else None,
        "signals": draw(
            st.one_of(st.none(), st.fixed_dictionaries({"passed": st.one_of(st.none(), st.integers(0, 3))}))
        ),
        "node": draw(st.sampled_from([None, "a", "b"])),
        "event": draw(st.sampled_from([None, None, None, "user", "compaction"])),
    }
    return Step(**keys)


@st.composite
def traces(draw: st.DrawFn, min_size: int = 0, max_size: int = 3 * WINDOW) -> Trace:
    """Draw a trace of 0, 1, or at least twice the window steps, made from few different ones.

    Lists drawn freely have a median length of six: too short for anything that looks back eight steps.
    """
    least = 2 * WINDOW
    sizes = (
        st.one_of(st.integers(min_size, 1), st.integers(least, max_size))
        if min_size <= 1
        else st.integers(min_size, max_size)
    )
    size = draw(sizes)
    pool = draw(st.lists(steps(), min_size=1, max_size=5))
    places = draw(st.lists(st.integers(0, len(pool) - 1), min_size=size, max_size=size))
    direction = draw(st.sampled_from(["higher", "lower"]))
    return Trace(
        id=f"trace-{draw(st.integers(0, 99))}",
        signal_specs={"passed": SignalSpec(direction)},
        steps=[pool[place] for place in places],
    )


def long_traces() -> st.SearchStrategy[Trace]:
    """Traces of at least twice the window alone."""
    return traces(min_size=2 * WINDOW)
