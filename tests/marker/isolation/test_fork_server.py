"""The fork server and its client: whatever happens to one of them, a submission's end is reported once and marking goes on."""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.isolation import fork_server
from autograder.isolation.folder_for_packages import PACKAGES_PREFIX, folder_for_packages
from autograder.isolation.fork_server_client import NO_REPLY, Run
from autograder.isolation.fork_server_protocol import STOP, Ended, ForkRequest
from autograder.isolation.namespaces import Bounds

BOUNDS = Bounds(memory=2**30, processes=8, disk=2**20)
UNLIMITED = Bounds(memory=0, processes=8, disk=2**20)  # a fork of this process begins with all the memory that this one has
REQUEST = ForkRequest(BOUNDS, "/somewhere")


@pytest.fixture
def control() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The client's and the fork server's end of the socket between them."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def in_a_fork(work: Callable[[], object]) -> int:
    """Do something in a fork; return its exit status, which is 77 if the work returned or raised."""
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(77)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def in_a_fork_server(serve: Callable[[], Ended]) -> Ended:
    """How a submission ended for a fork server that is a fork of this process.

    A fork server counts whatever its children use, and kills those that a submission left: this process has children that
    other tests need.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        in_a_fork(lambda: serve().send(theirs))
        return Ended.receive(ours)


def something_arrives(receiver: socket.socket) -> bool:
    return bool(select.select([receiver], [], [], 0)[0])


def refuse() -> None:
    raise PermissionError("no namespaces here")


def test_a_fork_whose_server_died_ends_without_answering_for_it(control, monkeypatch):
    """It used to send the broken pipe as a reason why there could be no sandbox, and went on as a second fork server."""
    ours, theirs = control
    monkeypatch.setattr(fork_server.namespaces, "unshare", refuse)
    reader, writer = os.pipe()
    os.close(reader)
    assert in_a_fork(lambda: fork_server._enter_namespaces(writer, 0, theirs, BOUNDS)) == 1
    os.close(writer)
    assert not something_arrives(ours)


def test_namespaces_that_the_kernel_refuses_are_an_error(control, monkeypatch):
    ours, theirs = control
    monkeypatch.setattr(fork_server.namespaces, "unshare", refuse)
    ended = in_a_fork_server(lambda: fork_server._serve(REQUEST, os.dup(ours.fileno()), theirs, base=0, isolate=True))
    assert ended == Ended(error="no namespaces here")


def test_a_fork_that_is_killed_before_it_has_namespaces_is_an_end_of_the_submission(control, monkeypatch):
    ours, theirs = control
    monkeypatch.setattr(fork_server.namespaces, "unshare", lambda: os.kill(os.getpid(), signal.SIGKILL))
    ended = in_a_fork_server(lambda: fork_server._serve(REQUEST, os.dup(ours.fileno()), theirs, base=0, isolate=True))
    assert ended == Ended(-signal.SIGKILL)


def test_an_end_is_noticed_where_the_kernel_has_no_descriptors_of_processes(control, monkeypatch):
    def unknown(process: int) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    def supervise() -> Ended:
        process = os.fork()
        if process == 0:
            os._exit(3)
        return fork_server._supervise(process, control[1], UNLIMITED, base=0, isolate=False)

    monkeypatch.setattr(os, "pidfd_open", unknown)
    assert in_a_fork_server(supervise) == Ended(3)


def test_a_fork_server_that_dies_without_an_answer_ends_the_submission_without_an_error(control):
    ours, theirs = control
    run = Run(socket.socketpair()[0], ours)
    theirs.sendall(b'{"code": 1, "err')
    theirs.close()
    assert run.stop() is NO_REPLY
    assert (NO_REPLY.code, NO_REPLY.error) == (-signal.SIGKILL, "")


def test_how_a_submission_ended_arrives_as_it_was_sent(control):
    ours, theirs = control
    for ended in (Ended(3), Ended(-9), Ended(), Ended(over="memory"), Ended(error="no “namespaces” here\n")):
        ended.send(theirs)
        assert Ended.receive(ours) == ended


@pytest.mark.parametrize("late_stops", [0, 1])
def test_a_stop_that_comes_too_late_does_not_spoil_the_next_request(control, late_stops):
    """The kernel may hand over both in one piece."""
    ours, theirs = control
    for _ in range(late_stops):
        ours.sendall(STOP)
    REQUEST.send(ours, ours)
    request, descriptor = ForkRequest.receive(theirs)
    os.close(descriptor)
    assert request == REQUEST


def test_a_stop_that_comes_too_late_is_no_request(control):
    ours, theirs = control
    ours.sendall(STOP)
    ours.close()
    assert ForkRequest.receive(theirs) is None


def test_a_request_with_a_very_long_path_fits_into_one_message(control):
    ours, theirs = control
    request = ForkRequest(BOUNDS, str(Path("/", *["é" * 100] * 20)))
    request.send(ours, ours)
    received, descriptor = ForkRequest.receive(theirs)
    os.close(descriptor)
    assert received == request


def test_folders_of_killed_markers_go_and_those_of_running_ones_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    of_running = folder_for_packages()
    of_killed, just_made = (Path(tempfile.mkdtemp(prefix=PACKAGES_PREFIX)) for _ in range(2))
    for folder in (Path(of_running.name), of_killed):
        folder.joinpath("gradaccum").mkdir()
        os.utime(folder, (0, 0))
    with folder_for_packages() as own:
        assert set(map(str, tmp_path.iterdir())) == {of_running.name, str(just_made), own}
    of_running.cleanup()
