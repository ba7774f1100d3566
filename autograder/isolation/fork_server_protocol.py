"""What a fork server and the process that started it say to each other, in both directions over one socket."""

from __future__ import annotations

import json
import socket
from dataclasses import asdict, dataclass

from autograder.isolation.namespaces import Bounds

READY = b"ready\n"
"""What a fork server says when it has started, and again whenever it begins to do what it was asked for."""

STOP = b"stop\n"
"""What it is told if the process of a submission is to be ended."""

ANOTHER = b"another\n"
"""What it is told if a fork of it is to serve as well, over the socket that is sent along."""

MAX_MESSAGE = 2**16
"""Bytes of a message: more than the longest path of a folder takes, written as JSON."""


@dataclass(frozen=True)
class ForkRequest:
    """A process that is wanted for one submission. The socket that leads to it is sent along.

    Attributes:
        bounds: what it may use.
        folder: where it runs if there is no sandbox.
    """

    bounds: Bounds
    folder: str

    def send(self, control: socket.socket, channel: socket.socket) -> None:
        socket.send_fds(control, [json.dumps(asdict(self)).encode()], [channel.fileno()])

    @staticmethod
    def receive(control: socket.socket) -> tuple[ForkRequest | None, int] | None:
        """Wait for a request, and take the descriptor that came with it; None if the other side hung up.

        Where another fork server is wanted, there is a descriptor only.

        Before a request there may be a ``STOP`` that was sent to a process which had just ended. It is passed over, whether it
        arrives on its own or in one piece with the request.
        """
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, MAX_MESSAGE, 1)
            if message == ANOTHER:
                return None, descriptors[0]
            if descriptors:
                asked = json.loads(message.removeprefix(STOP))
                return ForkRequest(Bounds(**asked["bounds"]), asked["folder"]), descriptors[0]
            if not message:
                return None


def send_another(control: socket.socket, channel: socket.socket) -> None:
    """Ask for a fork server that serves over another socket."""
    socket.send_fds(control, [ANOTHER], [channel.fileno()])


@dataclass(frozen=True)
class Ended:
    """How the process of a submission ended.

    Attributes:
        code: its exit status, or minus the signal that ended it, as in :mod:`subprocess`; None if it was stopped as told.
        over: what it used too much of, ``"memory"`` or ``"processes"``, if it was ended for that.
        error: why it could not even be started.
    """

    code: int | None = None
    over: str = ""
    error: str = ""

    def send(self, control: socket.socket) -> None:
        control.sendall(json.dumps(asdict(self)).encode() + b"\n")

    @staticmethod
    def receive(control: socket.socket) -> Ended | None:
        """Wait for the answer; None if the fork server died before it was complete."""
        line = b""
        while not line.endswith(b"\n"):
            try:
                part = control.recv(MAX_MESSAGE)
            except OSError:
                part = b""
            if not part:
                return None
            line += part
        return Ended(**json.loads(line))
