"""What a saved rule depends on."""

import warnings

import pytest

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.metrics import metric
from driftlab.rules import provenance
from driftlab.rules.policy import Policy, StopRule
from driftlab.trace.schema import Span, Step, Trace


def test_the_data_hash_sees_steps_and_labels_but_no_order():
    one = Trace(id="a", steps=[Step(state="x")])
    two = Trace(id="b", steps=[Step(state="y")])
    base = provenance.data_hash([one, two])
    assert provenance.data_hash([two, one]) == base
    changed = [
        [one, two.replace(label="good")],
        [one.replace(steps=(Step(state="z"),)), two],
        [one, two.replace(label="stalled", stalls=(Span(0),))],
        [one],
    ]
    assert len({provenance.data_hash(traces) for traces in changed} | {base}) == 5


def test_every_mask_in_use_is_stamped():
    stamps = provenance.masks([metric("exact"), metric("levenshtein(mask='volatile')"), metric("noise")])
    assert sorted(stamps) == ["text", "volatile"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        provenance.check_masks(stamps)


def test_a_mask_that_changed_is_a_loud_warning():
    text = Policy((StopRule("plateau(exact, run(1))", 1.0),)).text()
    old = text.replace(provenance.masks([metric("exact")])["text"], "v0 000000000000")
    with pytest.warns(DriftlabWarning, match=r"mask 'text' was v0 0+ when the policy was measured.*calibrate again"):
        Policy.parse(old)


def test_the_model_behind_a_rule_is_stamped_too():
    pytest.importorskip("sentence_transformers")
    text = Policy((StopRule("plateau(embedding, run(1))", 0.9),)).text()
    (stamp,) = provenance.models([metric("embedding")]).values()
    assert stamp in text
    with pytest.warns(DriftlabWarning, match=r"model 'minilm' was another 1 when the policy was measured"):
        Policy.parse(text.replace(stamp, "another 1"))


def test_a_mask_that_is_not_here_is_an_error():
    with pytest.raises(InputError, match="needs the mask 'mine'; register it"):
        provenance.check_masks({"mine": "v1 abc"})
