"""Masks in both directions, canonical arguments, views, symbols."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import arguments, unicode_texts, wild_texts

from driftlab._util.errors import InputError
from driftlab.trace.masks import MASKS, Mask, register_mask
from driftlab.trace.schema import Step
from driftlab.trace.views import canonical, canonical_json, column, symbols, unpacked, view_text

volatile = MASKS["volatile"]

# What two runs of one command print differently although nothing has changed.
NOISE = [
    ("2031-04-09T08:00:01Z ready", "2031-04-09T09:14:55Z ready"),
    ("2031-04-09T08:00:01.123456+02:00 ready", "2031-04-10T18:00:09.5+02:00 ready"),
    ("2031-04-09 08:00:01,123 INFO up", "2031-04-11 09:10:11,456 INFO up"),
    ("2031-04-09 08:00 up", "2031-04-09 08:01 up"),
    ("2031/04/09 08:00:01 up", "2031/04/09 08:00:02 up"),
    ('1.2.3.4 - - [09/Apr/2031:08:00:01 +0000] "GET /"', '1.2.3.4 - - [09/Apr/2031:08:00:07 +0000] "GET /"'),
    ("Apr  9 08:00:01 host up", "Apr  9 08:00:02 host up"),
    ("[12:30:01] compiled", "[12:31:09] compiled"),
    ("elapsed 0:00:05.123", "elapsed 0:01:07.9"),
    ("passed in 5.1s", "passed in 12.3s"),
    ("passed in 5.10 s", "passed in 7.25 s"),
    ("done in 812ms", "done in 1340ms"),
    ("done in 812 ms", "done in 3 ms"),
    ("took 3.2µs", "took 4.7µs"),
    ("took 250us", "took 70us"),
    ("took 5 seconds", "took 12 seconds"),
    ("took 1 min", "took 2 mins"),
    ("started 2 hours ago", "started 3 hours ago"),
    ("up 2m35s", "up 14m1s"),
    ("up 1h5m3s", "up 11h9m"),
    ("age 5d3h", "age 6d4h"),
    ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174fff"),
    ("id 123E4567-E89B-12D3-A456-426614174000", "id 999E4567-E89B-12D3-A456-426614174000"),
    ("commit 3f9ac2", "commit 77be01"),
    ("run 3f9ac21be7d0", "run 77be01aa94c2"),
    ("layer_3f9ac21b.tar", "layer_77be01aa.tar"),
    ("sha256:9f86d081884c7d65", "sha256:60303ae22b998861"),
    ("<Foo object at 0x7f3a2c1b>", "<Foo object at 0x7f3a99ff>"),
    ("pid 4242 alive", "pid 991 alive"),
    ("pid=4242", "pid=991"),
    ('{"pid": 4242}', '{"pid": 17}'),
    ("PPID: 12", "PPID: 3456"),
    ("process id 4242", "process id 17"),
    ("request_id=ab12-9", "request_id=zz77-1"),
    ('{"request_id": "req-77aa9"}', '{"request_id": "req-88bb1"}'),
    ("X-Request-Id: 8842", "X-Request-Id: 8843"),
    ("trace id: k9x2", "trace id: m3y8"),
    ("msg_01AbCdE2", "msg_01XyZwV9"),
    ("toolu_01A9kLm", "toolu_01B7qRs"),
    ("chatcmpl-9xYz12", "chatcmpl-8aBc34"),
    ("run_8k2m4x", "run_9p3q7z"),
    ("open /tmp/tmpab12cd/x.py", "open /tmp/tmpzz99yy/x.py"),
    ("open /tmp/tmp.Xy1Zab", "open /tmp/tmp.Qr7Stu"),
    ("open /private/tmp/tmpabc/x", "open /private/tmp/tmpxyz/x"),
    ("/tmp/pytest-of-root/pytest-12/test_a0", "/tmp/pytest-of-root/pytest-13/test_a0"),
    ("/var/folders/zz/zyx_n0000gn/T/tmpq1w2e3", "/var/folders/aa/bcd_n0000gn/T/tmpr4t5y6"),
    (r"C:\Users\me\AppData\Local\Temp\tmpa1b2", r"C:\Users\me\AppData\Local\Temp\tmpc3d4"),
    ("     7\tdef f():", "    19\tdef f():"),
    ("7\tdef f():", "19\tdef f():"),
    ("12:def f():", "31:def f():"),
    ("12:    return x", "13:    return x"),
    ("12|def f():", "31|def f():"),
    ("  12 │ def f():", "  13 │ def f():"),
    ("    12→def f():", "    13→def f():"),
    ("\x1b[31mFAILED\x1b[0m", "FAILED"),
    ("\x1b]0;title\x07ready", "ready"),
    ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
]
# What looks alike and is content.
CONTENT = [
    ("5 failed, 37 passed", "4 failed, 38 passed"),
    ("exit code 1", "exit code 2"),
    ("[Errno 2] No such file", "[Errno 13] No such file"),
    ("HTTP 404", "HTTP 500"),
    ("404: not found", "500: not found"),
    ("listening on localhost:8080", "listening on localhost:8081"),
    ("10.0.0.1", "10.0.0.2"),
    ("version 1.2.3", "version 1.2.4"),
    ("5 m of cable", "6 m of cable"),
    ("5 of 12 done", "6 of 12 done"),
    ("process 2 of 5", "process 3 of 5"),
    ("process failed with 1", "process exited with 1"),
    ("give 5 us dollars", "give 6 us dollars"),
    ("docker run -m 512m", "docker run -m 1024m"),
    ("42%", "43%"),
    ("page 3", "page 4"),
    ("3 | Alice", "4 | Alice"),
    ("  120  a.py", "  121  a.py"),
    ("score 12:30", "score 12:31"),
    ("a.py:12:30: error", "a.py:12:31: error"),
    ("2031-04-09", "2031-04-10"),
    ("1712649601", "1712649999"),
    ("1e5", "1e6"),
    ("status 0x1", "status 0x2"),
    ("run_test1", "run_test2"),
    ("call_home2024", "call_home2025"),
    ("deface", "decade"),
    ("/tmp/build.log", "/tmp/test.log"),
    ("/tmp/project/a.py", "/tmp/project/b.py"),
    ("open /tmp/tmpab12cd/x.py", "open /tmp/tmpab12cd/y.py"),
    ("FAILED", "failed"),
    ("x = 3", "x = 4"),
    ("12:    return x", "12:    return y"),
    ("3.14", "3.15"),
    ("-5", "-6"),
    ("step 10", "step 11"),
    ("a" * 8, "b" * 8),
]


@pytest.mark.parametrize(("first", "second"), NOISE)
def test_volatile_hides_noise(first: str, second: str) -> None:
    assert volatile(first) == volatile(second)


@pytest.mark.parametrize(("first", "second"), CONTENT)
def test_volatile_keeps_content(first: str, second: str) -> None:
    assert volatile(first) != volatile(second)


@pytest.mark.parametrize(("first", "second"), [pair for pair in NOISE if "\x1b" not in pair[0]])
def test_nothing_is_hidden_unless_asked_for(first: str, second: str) -> None:
    for name in ("raw", "text", "terminal"):
        assert MASKS[name](first) != MASKS[name](second)


def test_digits_are_masked_in_outputs_alone() -> None:
    mask = MASKS["digits"]
    assert mask("5 failed, 37 passed", output=True) == mask("4 failed, 381 passed", output=True)
    step = Step(tool="read", args={"page": 3}, output="3 of 9")
    assert view_text(step, "action", mask) == 'read {"page":3}'
    assert view_text(step, "output", mask) == "# of #"
    assert view_text(step, "call", mask) == 'read {"page":3}\n# of #'


def test_text_mask_drops_what_cannot_be_seen() -> None:
    mask = MASKS["text"]
    assert mask("pl\u200ban\u00a0ready\ufeff") == mask("plan ready")
    assert mask("a  \r\nb\t\rc\n\n") == "a\nb\nc"
    assert mask("Cafe\u0301") == mask("Caf\u00e9")
    assert mask("\U0001f469\u200d\U0001f4bb") != mask("\U0001f469\U0001f4bb")
    assert mask("  a  b") == "a  b"


LETTERS = "[]\x07\\-. \n\t=TZx<>|\rdhs#"
PARTS = ["\x1b", "31m", "12", ":30", ":01", "0a1b2c", "ms", "5m", "/tmp/", "tmp", "pid", "_id", "req_", "2031-04-09"]
HIDDEN = ["e\u0301", "\u200b", "\u00a0"]
BITS = st.lists(st.sampled_from([*LETTERS, *PARTS, *HIDDEN]), max_size=14).map("".join)


@given(st.one_of(BITS, unicode_texts, wild_texts), st.booleans())
@example("\x1b\x1b[31m[31m", False)
@example("12:30\u200b:01", False)
def test_masks_are_idempotent(text: str, output: bool) -> None:
    for name in ("raw", "text", "terminal", "volatile", "digits"):
        once = MASKS[name](text, output=output)
        assert MASKS[name](once, output=output) == once


@given(BITS)
def test_no_escape_survives_the_terminal_mask(text: str) -> None:
    assert "\x1b" not in MASKS["terminal"](text)


@pytest.mark.parametrize(
    "unit", ["a", " ", "0", "0a", "\x1b[", "12:", "1m", "-", "pid ", "/tmp/", "a b\n", "1.", "\x1b]"]
)
def test_masks_take_linear_time(unit: str) -> None:
    text = "x" + unit * (400_000 // len(unit)) + "x"
    started = time.perf_counter()
    MASKS["digits"](text, output=True)
    assert time.perf_counter() - started < 3  # quadratic would be hours


def test_own_patterns_come_after_those_of_the_base() -> None:
    mask = register_mask("test_text_ticket", [(r"TICKET-\d+", "<ticket>")], base="volatile")
    assert mask("TICKET-7 at 12:30:01") == "<ticket> at <time>"
    assert MASKS["test_text_ticket"] is mask
    assert register_mask("test_text_ticket", [(r"TICKET-\d+", "<ticket>")], base="volatile") == mask


def test_masks_say_what_is_wrong() -> None:
    with pytest.raises(InputError, match=r"unknown mask 'volatle'; did you mean 'volatile'\? known: .*register_mask"):
        MASKS["volatle"]
    with pytest.raises(InputError, match="exists already and is another"):
        register_mask("text", [("a", "b")])
    with pytest.raises(InputError, match="is not a regular expression"):
        register_mask("test_text_bad", [("(", "b")])
    with pytest.raises(InputError, match="does not fit"):
        register_mask("test_text_bad", [("a", r"\2")])
    with pytest.raises(InputError, match="start from 'text'"):
        register_mask("test_text_bad", [("a", "b")], base="raw")


def test_digest_follows_every_pattern_and_the_version() -> None:
    masks = [
        Mask("m"),
        Mask("m", 2),
        Mask("m", patterns=(("a", "b"),)),
        Mask("m", output_patterns=(("a", "b"),)),
        Mask("m", clean=False),
    ]
    assert len({mask.digest for mask in masks}) == len(masks)
    assert len({mask.digest for mask in MASKS.values()}) == len(MASKS)
    assert Mask("m").digest == Mask("m").digest


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"a": 1, "b": {"x": 1, "y": 2}}, {"b": {"y": 2, "x": 1}, "a": 1}, True),
        ({"a": 3}, {"a": 3.0}, True),
        ('{ "a" : 3 }', {"a": 3}, True),
        ("[1, 2]", [1, 2], True),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": None}, {}, False),
        (None, {}, True),
        ('{"a": ', '{"a": ', True),
        ('{"a": ', '{"a":', False),
        ("ls -l", "ls  -l", False),
        (2**70, 2**70 + 1, False),
        (1e300, 1e301, False),
        ({"a": "\ud800"}, {"a": "\ud800"}, True),
        ({"a": "\ud800"}, {"a": "\ud801"}, False),
    ],
)
def test_canonical_arguments(first: object, second: object, same: bool) -> None:
    assert (canonical(first) == canonical(second)) is same


@given(arguments)
def test_canonical_is_stable(args: object) -> None:
    assert canonical(canonical(args)) == canonical(args)


def test_arguments_that_cannot_be_compared_are_named() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError, match="nested too deeply"):
        canonical(deep)
    with pytest.raises(InputError, match="hold what JSON cannot"):
        canonical_json({"a": object()})
    assert unpacked("[" * 100_000) == "[" * 100_000


def test_views_that_are_absent() -> None:
    mask = MASKS["text"]
    chat, call = Step(state="hello"), Step(tool="ls")
    assert [view_text(chat, view, mask) for view in ("action", "output", "call")] == [None] * 3
    assert [view_text(call, view, mask) for view in ("state", "thought")] == [None] * 2
    assert view_text(call, "output", mask) == ""
    assert view_text(Step(args={}), "action", mask) == "{}"


def test_column_numbers_texts_by_first_appearance() -> None:
    found = column([Step(state="a"), Step(), Step(state="b"), Step(state=" a\n")], "state", "text")
    assert found.texts == ("a", None, "b", "a")
    assert found.symbols.tolist() == [0, -1, 1, 0]
    assert symbols([]).tolist() == []
    with pytest.raises(InputError, match="unknown view 'stat'; did you mean 'state'"):
        column([], "stat", "text")
