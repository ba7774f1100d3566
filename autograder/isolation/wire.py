"""Carry what was observed from one process to another: tensors and JSON as safetensors over a socket, never pickle.

The sender may be a student's process. So everything is bounded and checked on arrival, and only numbers, text and the bytes of
files can arrive. Texts are cleaned here, so that no other module has to; what is in files is handed on and not looked at.
JSON and files travel as tensors of bytes, so the only formats to parse are JSON and safetensors, each by its own library.
"""

from __future__ import annotations

import json
import math
import socket
import struct
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.contract.folders import MAX_FOLDERS, Folder, FolderError, check_folder
from autograder.contract.observation import FAULT, Failure, Observation
from autograder.support.one_line import one_line

MAX_BYTES = 16 * 2**20
"""Bytes that may be observed on one trial. Right loops make some 10⁴; one with a thousand times as many updates is refused."""

MAX_FILE_BYTES = 16 * 2**20
"""Bytes of files that may be left on one trial; what is in several folders counts once. Right checkpoints have some 10⁵."""

MAX_TEXT_BYTES = 2**20
MAX_HEADER_BYTES = 2**20
"""Bytes of a safetensors header: names, types and shapes. A megabyte has room for some thousands of tensors."""

MAX_FRAMES = 100_000
"""Each costs the receiver some microseconds. A right submission sends one for each statement and each trial."""

MAX_MESSAGE_LENGTH = 400
"""Characters that are kept of a text, be it a message or a fact. No fact that is judged is longer."""

KINDS = ("missing", "broken", "unwritten", "raised", "changed", "time", "died", FAULT)
DTYPES = {torch.float64, torch.float32, torch.float16, torch.bfloat16}
DTYPES |= {torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool}

_TEXT = "json"
_FILE = "file"


class TransportError(ValueError):
    """What arrived is not what :func:`encode` produces."""


def plain(observation: Observation) -> Observation:
    """The observation as it will arrive: dense tensors on the CPU, and JSON; a failure if it cannot be converted to that.

    Marking in one process uses this too, so that it sees the same as marking in two processes.
    """
    try:
        text = json.dumps(observation.facts)
        tensors = {str(name): _dense(tensor) for name, tensor in observation.tensors.items()}
        if len(text) > MAX_TEXT_BYTES or sum(t.numel() * t.element_size() for t in tensors.values()) > MAX_BYTES:
            return _refused("Your function brought back far more than was asked for.")
        tensors = {
            one_line(name, MAX_MESSAGE_LENGTH): torch.empty(t.shape, dtype=t.dtype).copy_(t) for name, t in tensors.items()
        }
        failure = observation.failure and _plain_failure(observation.failure)
        trace, kept = (one_line(str(said), MAX_MESSAGE_LENGTH) for said in (observation.trace, observation.kept))
        return Observation(tensors, _cleaned(json.loads(text)), failure, _checked(observation.left), trace, kept)
    except FolderError as error:
        return _refused(str(error))
    except (TypeError, ValueError, RuntimeError, RecursionError):
        return _refused("Your function brought back something else than plain numbers.")


def encode(observations: Mapping[str, Observation]) -> bytes:
    """The observations of an exercise, by trial, as the content of a safetensors file."""
    from safetensors.torch import save

    tensors: dict[str, Tensor] = {}
    files: dict[bytes, int] = {}
    described: list[dict[str, Any]] = []
    for k, (trial, observation) in enumerate(observations.items()):
        observation = plain(observation)
        failure = observation.failure and [observation.failure.kind, observation.failure.message]
        left = [[[name, files.setdefault(data, len(files))] for name, data in folder.items()] for folder in observation.left]
        facts = {"facts": observation.facts, "trace": observation.trace, "kept": observation.kept}
        described.append({"trial": trial, "failure": failure, "left": left} | facts)
        tensors |= {f"{k}/{name}": tensor for name, tensor in observation.tensors.items()}
    tensors |= {f"{_FILE}/{k}": _as_tensor(data) for data, k in files.items()}
    return save(tensors | {_TEXT: _as_tensor(json.dumps(described).encode())})


def decode(data: bytes, trials: Collection[str]) -> dict[str, Observation]:
    """The observations that :func:`encode` was given, by trial.

    Args:
        data: what arrived.
        trials: the names of the trials; each must occur exactly once.

    Raises:
        TransportError: the data is anything else.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    if len(data) > max_encoded_bytes(trials) or int.from_bytes(data[:8], "little") > MAX_HEADER_BYTES:
        raise TransportError("too large")
    try:
        tensors = load(data)
        text = bytes(tensors.pop(_TEXT).numpy(force=True)) if _TEXT in tensors else b""
        names = [name for name in tensors if name.startswith(f"{_FILE}/")]
        files = {name.removeprefix(f"{_FILE}/"): tensors.pop(name).numpy(force=True).tobytes() for name in names}
        if len(text) > (len(trials) + 1) * MAX_TEXT_BYTES:  # parsed, it would take a hundred times as much memory
            raise TransportError("too much text")
        described = _cleaned(json.loads(text))
    except TransportError:
        raise
    except (SafetensorError, ValueError, TypeError, RuntimeError, RecursionError, KeyError, AssertionError) as error:
        raise TransportError(f"not readable: {type(error).__name__}") from None
    if not isinstance(described, list) or any(not isinstance(entry, dict) for entry in described):
        raise TransportError("not a list of observations")
    if sorted(str(entry.get("trial")) for entry in described) != sorted(trials):
        raise TransportError("not the trials that were asked for")
    observations = {e["trial"]: Observation({}, _facts(e), _failure(e), _left(e, files), *_said(e)) for e in described}
    for key, tensor in tensors.items():
        k, _, name = key.partition("/")
        if not (k.isdecimal() and int(k) < len(described)) or tensor.dtype not in DTYPES:
            raise TransportError("a tensor that belongs to nothing or is of a strange kind")
        if (
            math.prod(max(length, 1) for length in tensor.shape) > MAX_BYTES
        ):  # even one without elements: broadcasting may make it large
            raise TransportError("a tensor of a strange shape")
        observations[described[int(k)]["trial"]].tensors[one_line(name, MAX_MESSAGE_LENGTH)] = tensor
    return observations


def send(channel: socket.socket, kind: bytes, payload: bytes) -> None:
    """Send a frame: its kind in one byte, the payload's length in eight, the payload."""
    channel.sendall(_HEAD.pack(kind, len(payload)) + payload)


def receive(channel: socket.socket) -> tuple[bytes, bytes]:
    """Wait for a frame from a trusted sender; return its kind and payload.

    Raises:
        EOFError: the sender hung up.
    """
    kind, length = _HEAD.unpack(_exactly(channel, _HEAD.size))
    return kind, _exactly(channel, length)


class Frames:
    """The frames that arrive from an untrusted sender. Their sizes are limited, for each kind and in total.

    Args:
        channel: where they arrive; it is made non-blocking.
        max_bytes: bytes that a frame of each kind may have; no other kind may occur.
        max_total: bytes that may arrive in total.
        max_frames: frames that may arrive in total.
    """

    def __init__(self, channel: socket.socket, max_bytes: Mapping[bytes, int], max_total: int, max_frames: int = MAX_FRAMES):
        self._channel, self._max_bytes, self._bytes_left, self._frames_left = channel, max_bytes, max_total, max_frames
        self._buffer = bytearray()
        channel.setblocking(False)

    def arrived(self) -> Iterator[tuple[bytes, bytes]]:
        """The frames that are complete by now; to be called when the channel is readable.

        Raises:
            EOFError: the sender hung up, and all its frames have been yielded.
            TransportError: what arrives is not a sequence of such frames.
        """
        while True:
            yield from self._complete()
            try:
                data = self._channel.recv(min(2**20, self._bytes_left + 1))
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                raise EOFError
            self._bytes_left -= len(data)
            if self._bytes_left < 0:
                raise TransportError("too much")
            self._buffer += data

    def _complete(self) -> Iterator[tuple[bytes, bytes]]:
        while len(self._buffer) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._buffer)
            if length > self._max_bytes.get(kind, -1):
                raise TransportError("a frame that is too large or of an unknown kind")
            end = _HEAD.size + length
            if len(self._buffer) < end:
                return
            self._frames_left -= 1
            if self._frames_left < 0:
                raise TransportError("too many")
            payload = bytes(self._buffer[_HEAD.size : end])
            del self._buffer[:end]
            yield kind, payload


_HEAD = struct.Struct(">cQ")


def _exactly(channel: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = channel.recv(min(2**20, length - len(data)))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def max_encoded_bytes(trials: Collection[str]) -> int:
    """The most bytes that :func:`encode` produces for the observations of these trials."""
    return len(trials) * (MAX_BYTES + MAX_FILE_BYTES + MAX_TEXT_BYTES) + MAX_TEXT_BYTES


def _dense(tensor: Tensor) -> Tensor:
    if not isinstance(tensor, Tensor) or tensor.dtype not in DTYPES:
        raise TypeError("not a tensor of numbers")
    return tensor.detach() if tensor.layout is torch.strided else tensor.detach().to_dense()


def _plain_failure(failure: Failure) -> Failure:
    if failure.kind not in KINDS:
        raise ValueError(f"unknown kind of failure {failure.kind!r}")
    return Failure(failure.kind, one_line(str(failure.message), MAX_MESSAGE_LENGTH))


def _cleaned(value: Any) -> Any:
    """A JSON value with every text in it cleaned and shortened, keys included."""
    if isinstance(value, str):
        return one_line(value, MAX_MESSAGE_LENGTH)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {one_line(key, MAX_MESSAGE_LENGTH): _cleaned(item) for key, item in value.items()}
    return value


def _as_tensor(data: bytes) -> Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)


def _checked(left: tuple[Folder, ...]) -> tuple[Folder, ...]:
    """The folders, if they are carried.

    Raises:
        FolderError: they are not.
    """
    for folder in left:
        check_folder(folder)
    if len(left) > MAX_FOLDERS or sum(map(len, {data for folder in left for data in folder.values()})) > MAX_FILE_BYTES:
        raise FolderError("Your code left far more files than was asked for.")
    return left


def _refused(message: str) -> Observation:
    return Observation(failure=Failure("raised", message))


def _facts(entry: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(entry.get("facts"), dict):
        raise TransportError("facts are not an object")
    return entry["facts"]


def _said(entry: dict[str, Any]) -> tuple[str, str]:
    """The sentences on what is left behind, and on what is kept between calls."""
    trace, kept = entry.get("trace", ""), entry.get("kept", "")
    if not (isinstance(trace, str) and isinstance(kept, str)):
        raise TransportError("what is left behind or kept is not said in a text")
    return one_line(trace, MAX_MESSAGE_LENGTH), one_line(kept, MAX_MESSAGE_LENGTH)


def _left(entry: dict[str, Any], files: Mapping[str, bytes]) -> tuple[Folder, ...]:
    try:
        return _checked(tuple({name: files[str(k)] for name, k in folder} for folder in entry.get("left", ())))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise TransportError(f"not folders of files: {type(error).__name__}") from None


def _failure(entry: dict[str, Any]) -> Failure | None:
    failure = entry.get("failure")
    if failure is None:
        return None
    if not (isinstance(failure, list) and len(failure) == 2 and all(isinstance(text, str) for text in failure)):
        raise TransportError("a failure is not a kind and a message")
    try:
        return _plain_failure(Failure(*failure))
    except ValueError as error:
        raise TransportError(str(error)) from None
