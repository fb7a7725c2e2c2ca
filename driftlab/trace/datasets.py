"""Traces as a folder that a hub of datasets takes as it is."""

import os
from collections.abc import Iterable
from pathlib import Path

from driftlab.trace import corpus
from driftlab.trace.schema import Trace
from driftlab.trace.summary import summarise

__all__ = ["card", "write_dataset"]


def write_dataset(
    traces: Iterable[Trace], folder: str | os.PathLike[str], *, title: str = "Agent traces", license: str = "unknown"
) -> Path:
    """Write ``traces.parquet`` and a dataset card, ``README.md``, into a folder that a hub takes as it is.

    Parameters
    ----------
    traces : iterable of Trace
    folder : path
    title : str
        Of the card.
    license : str
        The licence of the traces, as the hub names it.

    Returns
    -------
    Path
        The Parquet file.

    Examples
    --------
    >>> import tempfile
    >>> from driftlab.trace.schema import Step
    >>> path = write_dataset([Trace(id="a", steps=[Step()])], tempfile.mkdtemp())
    >>> corpus.read(path)[0].id, "traces" in path.with_name("README.md").read_text()
    ('a', True)
    """
    held = list(traces)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    path = place / "traces.parquet"
    corpus.write(held, path)
    (place / "README.md").write_text(card(held, title=title, license=license), encoding="utf-8")
    return path


def card(traces: Iterable[Trace], *, title: str = "Agent traces", license: str = "unknown") -> str:
    """Return a dataset card: what the traces are, where labels came from, how to read them.

    Examples
    --------
    >>> card([Trace(id="a", steps=[])]).splitlines()[0]
    '---'
    """
    held = list(traces)
    sources = sorted({trace.source for trace in held if trace.source})
    return _CARD.format(
        title=title,
        license=license,
        summary=summarise(held),
        sources=", ".join(sources) or "not recorded",
        labels=", ".join(sorted({trace.label_source for trace in held if trace.label_source})) or "none",
    )


_CARD = """---
license: {license}
tags: [agents, trajectories, driftlab]
configs:
- config_name: default
  data_files: traces.parquet
---

# {title}

One row a trace, one element of `steps` a step (one tool call). `args` and `extra` are JSON text.
A stall is a half-open range `[start, end)` of steps, counted from 0; an open end is the end of the trace.

```
{summary}
```

Imported from: {sources}. Labels came from: {labels}.

```python
import driftlab as dl
corpus = dl.read("traces.parquet")
```
"""
