"""Observations cross from process to process unchanged, and nothing else does."""

from __future__ import annotations

import io
import json
import math
import socket

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save

from autograder.contract.folders import MAX_FOLDERS
from autograder.contract.observation import Failure, Observation
from autograder.isolation import wire
from autograder.isolation.cell_reports import MAX_PRINTED, CellReport
from autograder.isolation.wire import Frames, TransportError, decode, encode, plain

floats = st.floats(width=32)
shapes = st.lists(st.integers(0, 3), max_size=3)
words = st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=10,
)


@st.composite
def tensors(draw) -> torch.Tensor:
    shape = draw(shapes)
    numbers = draw(st.lists(floats, min_size=math.prod(shape), max_size=math.prod(shape)))
    dtype = draw(st.sampled_from(sorted(wire.DTYPES, key=str)))
    made = torch.tensor(numbers, dtype=torch.float32).reshape(shape)
    return (made.nan_to_num(0, 1, -1).clamp(0, 100) if not dtype.is_floating_point else made).to(dtype)


observations = st.builds(
    Observation,
    st.dictionaries(words, tensors(), max_size=3),
    st.dictionaries(words, json_values, max_size=3),
    st.none() | st.builds(Failure, st.sampled_from(wire.KINDS), st.text(alphabet="abc €…", max_size=30)),
)


def carried(left, change=lambda entries: None) -> tuple:
    """The folders that arrive, after a change to how they are described."""
    data = load(encode({"a": Observation(left=left)}))
    described = json.loads(bytes(data.pop("json").tolist()))
    change(described[0]["left"])
    text = torch.tensor(list(json.dumps(described).encode()), dtype=torch.uint8)
    return decode(save(data | {"json": text}), ["a"])["a"].left


def test_files_arrive_byte_for_byte_and_in_their_order():
    left = ({"b": b"1", "a": b""}, {}, {"a": bytes(range(256)), "b": b"1"})
    assert carried(left) == left
    assert [list(folder) for folder in carried(left)] == [["b", "a"], [], ["a", "b"]]


NAMES_THAT_ESCAPE = ["../x", "/x", "..", ".", "", "a/b", "a\\b", "a\0b", "\ud800", "x" * 201]


@pytest.mark.parametrize("name", NAMES_THAT_ESCAPE)
def test_file_whose_name_leads_elsewhere_is_refused_on_arrival_and_not_sent(name):
    with pytest.raises(TransportError):
        carried(({"a": b"1"},), lambda left: left[0][0].__setitem__(0, name))
    assert plain(Observation(left=({name: b"1"},))).failure


@pytest.mark.parametrize(
    "forged", [7, "a", [7], [[7]], [["a", "b"]], [[["a"]]], [[["a", 1]]], [[["a", "x"]]], [[[["a"], 0]]], {"a": 0}, None]
)
def test_folders_that_make_no_sense_are_refused(forged):
    def forge(left):
        left[:] = forged if isinstance(forged, list) else [forged]

    with pytest.raises(TransportError):
        carried(({"a": b"1"},), forge)


def test_one_file_under_many_names_counts_as_often_as_it_would_be_written():
    with pytest.raises(TransportError):
        carried(({"a": bytes(2**20)},), lambda left: left[0].extend([str(k), 0] for k in range(4)))
    with pytest.raises(TransportError):
        carried(({"a": b""},), lambda left: left.extend([[]] * MAX_FOLDERS))


def same(a: Observation, b: Observation) -> bool:
    """Equal to the bit, NaN included."""
    if a.tensors.keys() != b.tensors.keys() or json.dumps(a.facts) != json.dumps(b.facts) or a.failure != b.failure:
        return False
    pairs = [(a.tensors[name], b.tensors[name]) for name in a.tensors]
    return all(x.dtype == y.dtype and x.shape == y.shape and save({"x": x}) == save({"x": y}) for x, y in pairs)


@given(st.dictionaries(words, observations, max_size=3))
@settings(max_examples=60)
def test_observations_arrive_bit_for_bit(sent):
    received = decode(encode(sent), list(sent))
    assert received.keys() == sent.keys()
    assert all(same(received[trial], sent[trial]) for trial in sent)


@given(st.binary(max_size=400))
@settings(max_examples=200)
def test_arbitrary_bytes_are_refused(data):
    with pytest.raises(TransportError):
        decode(data, ["a"])


VALID = encode({"a": Observation({"x": torch.arange(6.0)}, {"n": 1}), "b": Observation(failure=Failure("raised", "no"))})


@given(st.integers(0, len(VALID) - 1), st.integers(0, 255), st.integers(0, 40))
@settings(max_examples=300)
def test_damaged_bytes_are_refused_or_are_still_observations(place, value, cut):
    data = bytearray(VALID)
    data[place] = value
    del data[place : place + cut]
    try:
        received = decode(bytes(data), ["a", "b"])
    except TransportError:
        return
    assert received.keys() == {"a", "b"}
    assert all(isinstance(o, Observation) and isinstance(o.facts, dict) for o in received.values())


def forged(described: object, **more: torch.Tensor) -> bytes:
    text = json.dumps(described).encode() if not isinstance(described, bytes) else described
    return save(more | {"json": torch.frombuffer(bytearray(text), dtype=torch.uint8)})


GOOD = {"trial": "a", "facts": {}, "failure": None}


@pytest.mark.parametrize(
    "data",
    [
        save({"x": torch.zeros(1)}),
        save({"json": torch.zeros(3)}),
        save({"json": torch.zeros(3, dtype=torch.bfloat16)}),
        forged(b"[" * 100_000),
        forged(b"\xff"),
        forged(b'[{"trial": "a", "facts": {"n": ' + b"9" * 5000 + b'}, "failure": null}]'),
        forged({}),
        forged([]),
        forged([3]),
        forged([GOOD, GOOD]),
        forged([GOOD | {"trial": "b"}]),
        forged([GOOD | {"trial": ["a"]}]),
        forged([GOOD | {"facts": []}]),
        forged([GOOD | {"trace": ["a hook"]}]),
        forged([GOOD | {"kept": ["a list"]}]),
        forged([GOOD | {"failure": "x"}]),
        forged([GOOD | {"failure": ["raised"]}]),
        forged([GOOD | {"failure": ["passed", "full marks"]}]),
        forged([GOOD | {"failure": ["raised", 3]}]),
        forged([GOOD], x=torch.zeros(1)),
        forged([GOOD], **{"1/x": torch.zeros(1)}),
        forged([GOOD], **{"-1/x": torch.zeros(1)}),
        forged([GOOD], **{"²/x": torch.zeros(1)}),
        forged([GOOD], **{"0/x": torch.zeros(1, dtype=torch.complex64)}),
        forged([GOOD], **{"0/x": torch.zeros(2**40, 0)}),
        pytest.param(lambda: forged([GOOD], **{f"0/{k}": torch.zeros(0) for k in range(30_000)}), id="many tensors"),
        pytest.param(lambda: forged(b"[" + b"[]," * 2**20 + b"[]]"), id="long JSON"),
    ],
)
def test_forged_observations_are_refused(data):
    with pytest.raises(TransportError):
        decode(data() if callable(data) else data, ["a"])


def test_the_forgeries_are_refused_because_of_what_is_forged_in_them():
    assert decode(forged([GOOD], **{"0/x": torch.zeros(1)}), ["a"])["a"].tensors["x"].tolist() == [0]


def test_a_pickle_is_refused():
    pickled = io.BytesIO()
    torch.save({"json": torch.zeros(1)}, pickled)
    with pytest.raises(TransportError):
        decode(pickled.getvalue(), ["a"])


def test_data_larger_than_the_limit_is_refused():
    with pytest.raises(TransportError, match="too large"):
        decode(bytes(wire.max_encoded_bytes(["a"]) + 1), ["a"])


@pytest.fixture
def socket_pair():
    """A sender and the frames that arrive from it: kind A of up to 10 bytes, 100 bytes together."""
    sender, receiver = socket.socketpair()
    with sender, receiver:
        yield sender, Frames(receiver, {b"A": 10}, 100)


def test_frames_arrive_as_they_were_sent(socket_pair):
    sender, frames = socket_pair
    wire.send(sender, b"A", b"one")
    wire.send(sender, b"A", b"")
    assert list(frames.arrived()) == [(b"A", b"one"), (b"A", b"")]


def test_a_frame_that_comes_in_pieces_arrives_whole(socket_pair):
    sender, frames = socket_pair
    for byte in b"A" + (3).to_bytes(8, "big") + b"on":
        sender.sendall(bytes([byte]))
        assert list(frames.arrived()) == []
    sender.sendall(b"e")
    assert list(frames.arrived()) == [(b"A", b"one")]


def test_what_was_sent_before_hanging_up_arrives(socket_pair):
    sender, frames = socket_pair
    wire.send(sender, b"A", b"one")
    sender.close()
    arrived = frames.arrived()
    assert next(arrived) == (b"A", b"one")
    with pytest.raises(EOFError):
        next(arrived)


@pytest.mark.parametrize(
    "sent", [b"B" + bytes(8), b"A" + (11).to_bytes(8, "big"), b"A" + b"\xff" * 8], ids=["kind", "size", "huge"]
)
def test_frames_of_another_kind_or_size_are_refused_at_their_head(socket_pair, sent):
    sender, frames = socket_pair
    sender.sendall(sent)
    with pytest.raises(TransportError):
        list(frames.arrived())


def test_a_flood_of_small_frames_is_refused(socket_pair):
    sender, frames = socket_pair
    for _ in range(10):
        wire.send(sender, b"A", b"12345678")
    with pytest.raises(TransportError, match="too much"):
        list(frames.arrived())


def test_a_flood_of_empty_frames_is_refused():
    sender, receiver = socket.socketpair()
    with sender, receiver:
        frames = Frames(receiver, {b"A": 10}, 10**6, max_frames=3)
        for _ in range(4):
            wire.send(sender, b"A", b"")
        with pytest.raises(TransportError, match="too many"):
            list(frames.arrived())


def test_receive_waits_for_a_trusted_senders_frame():
    here, there = socket.socketpair()
    with here, there:
        wire.send(here, b"A", b"x" * 10)
        assert wire.receive(there) == (b"A", b"x" * 10)
        here.close()
        with pytest.raises(EOFError):
            wire.receive(there)


@pytest.mark.parametrize(
    ("brought_back", "words"),
    [
        (Observation({"x": torch.zeros(1, dtype=torch.complex128)}), "something else than plain numbers"),
        (Observation({"x": torch.zeros(1, device="meta")}), "something else than plain numbers"),
        (Observation({"x": [1, 2]}), "something else than plain numbers"),
        (Observation(facts={"x": object()}), "something else than plain numbers"),
        (Observation(facts={"x": 10**5000}), "something else than plain numbers"),
        (Observation(facts={(1, 2): 3}), "something else than plain numbers"),
        (Observation(facts={"x": "a" * 2**21}), "far more than was asked for"),
        (Observation({"x": torch.zeros(1).expand(10**15)}), "far more than was asked for"),
    ],
)
def test_an_observation_that_cannot_be_sent_becomes_a_failure(brought_back, words):
    assert words in plain(brought_back).failure.message
    assert same(decode(encode({"a": brought_back}), ["a"])["a"], plain(brought_back))


def test_tensors_of_any_layout_arrive_as_dense_numbers():
    dense = torch.arange(6.0, requires_grad=True)
    sent = {"grad": dense, "view": dense[::2], "sparse": dense.to_sparse(), "expanded": torch.ones(1).expand(3), "same": dense}
    received = decode(encode({"a": Observation(sent)}), ["a"])["a"].tensors
    numbers = {name: tensor.tolist() for name, tensor in received.items()}
    assert numbers["grad"] == numbers["sparse"] == numbers["same"] == [0, 1, 2, 3, 4, 5]
    assert (numbers["view"], numbers["expanded"]) == ([0, 2, 4], [1, 1, 1])


def test_messages_are_short_and_cannot_steer_a_terminal():
    failure = plain(Observation(failure=Failure("raised", "a\n\x1b[2J\x1bcx" + "x" * 10_000))).failure
    assert failure.message.startswith("a \\x1bcxx")
    assert len(failure.message) == wire.MAX_MESSAGE_LENGTH


HOSTILE = "Ten\ud800sor\x1b]0;owned\x07\u202egnp.exe\u2066\r\n\0" + "x" * 10_000
"""Half of a character, codes for a terminal, reversed writing, line ends, and far too much of it."""


def texts_in(value) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in texts_in(item)]
    return [text for item in value for text in texts_in(item)] if isinstance(value, list) else [value]


def test_every_text_that_arrives_can_be_shown_stored_and_encoded():
    name, facts = HOSTILE.replace("\ud800", ""), {"type": HOSTILE, HOSTILE: [{HOSTILE: [HOSTILE]}]}
    text = json.dumps([{"trial": "a", "facts": facts, "failure": None}]).encode()
    forged = save({f"0/{name}": torch.zeros(1), "json": torch.frombuffer(bytearray(text), dtype=torch.uint8)})
    sent = {"a": Observation({name: torch.zeros(1)}, facts)}
    for arrived in (plain(sent["a"]), decode(encode(sent), ["a"])["a"], decode(forged, ["a"])["a"]):
        texts = [*texts_in(arrived.facts), *arrived.tensors]
        assert len(texts) == 6
        for text in texts:
            assert text.isprintable()
            assert text.encode()
            assert len(text) <= wire.MAX_MESSAGE_LENGTH


def test_what_cells_print_arrives_readable_and_clean():
    (report,) = CellReport.decode(CellReport.encode([CellReport(HOSTILE, f"one\ttwo\r\nthree\x1b[31m!\n{HOSTILE}", HOSTILE)]))
    assert report.printed.startswith("one     two\nthree!\nTen\\ud800sor\\x1b]0;owned\\x07\\u202egnp.exe")
    for text in (report.cell, report.printed, report.trouble):
        assert text.replace("\n", "").isprintable()
        assert len(text) <= MAX_PRINTED
