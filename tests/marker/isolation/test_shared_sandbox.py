"""Several processes that mark with fork servers in the same sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.isolation.fork_server_client import ForkServer
from autograder.isolation.sandbox import BWRAP
from autograder.marking.marker import Marker
from autograder.reading.submissions import parse_submission

pytestmark = pytest.mark.slow

CODE = """
import os, sys
print(os.path.exists("/tmp/left"), os.getpid(), "ipywidgets" in sys.modules)
open("/tmp/left", "w").close()
def average_gradients(gradients):
    return sum(gradients) / len(gradients)
"""
SUBMISSION = parse_submission(Path("00_start_here.py"), CODE.encode())


@pytest.fixture
def first() -> Iterator[ForkServer]:
    server = ForkServer(BWRAP, "cpu", many=True)
    yield server
    server.close()


def test_fork_servers_in_one_sandbox_mark_apart_and_one_that_ends_is_replaced(first):
    others = [ForkServer(BWRAP, "cpu", first.another()) for _ in range(2)]
    markers = [Marker(BWRAP, "cpu", server) for server in others]
    alone = [marker.mark(SUBMISSION) for marker in markers * 2]
    assert {marks.score for marks in alone} == {alone[0].max_score}
    assert {report.printed for marks in alone for report in marks.reports} == {"False 2 True\n"}
    assert all(server._server.started is None for server in others)
    first.close()
    again = markers[0].mark(SUBMISSION)
    assert again.score == alone[0].max_score
    assert again.reports[0].printed == "False 2 False\n"  # nobody has told it of many submissions
    assert others[0]._server.started is not None
    for marker in markers:
        marker.close()
