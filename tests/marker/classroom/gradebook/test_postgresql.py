"""A gradebook in PostgreSQL, on a real server that these tests start."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from graded_class import FULL, UNIT, GradedClass
from nbgrader.api import Gradebook

pytestmark = pytest.mark.slow


class Server:
    """PostgreSQL in a folder of its own, on the loopback interface."""

    def __init__(self, folder: Path):
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        found = shutil.which("initdb", path=os.pathsep.join([*map(str, reversed(programs)), os.environ["PATH"]]))
        if found is None:
            pytest.skip("PostgreSQL is missing: apt-get install postgresql")
        self.programs, self.folder, self.data = Path(found).resolve().parent, folder, folder / "data"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgresql://teacher@127.0.0.1:{self.port}/gradebook"
        self.user = "postgres" if os.geteuid() == 0 else None  # which refuses to be root
        if self.user:
            shutil.chown(folder, self.user)
        self._run("initdb", "--pgdata", str(self.data), "--username", "teacher", "--auth", "trust", "--no-sync")
        self.start()
        self._run("createdb", "--host", "127.0.0.1", "--port", str(self.port), "--username", "teacher", "gradebook")

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        log = str(self.folder / "log")
        self._run("pg_ctl", "--pgdata", str(self.data), "--wait", "--log", log, "--options", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "--pgdata", str(self.data), "--mode", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        done = subprocess.run(command, user=self.user, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout.decode()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="postgresql-") as folder:  # pytest's own folders are for the user who runs it
        server = Server(Path(folder))
        yield server
        server.stop()


@pytest.fixture(scope="module")
def course(server, tmp_path_factory, scheduler) -> GradedClass:
    """A class with its gradebook there, three students marked."""
    roster = tmp_path_factory.mktemp("roster") / "students.csv"
    roster.write_text("id,first_name\nstudent00,Ada\nstudent01,Zoë\nstudent02,\n")
    course = GradedClass(tmp_path_factory.mktemp("course"), scheduler, "--db", server.url, "--roster", str(roster))
    course.due = course.hand_in_many(3)
    course.grade()
    return course


def test_the_marks_are_in_it_and_no_file_is_made(course, server):
    assert course.scores(server.url) == course.due
    assert not (course.directory / "gradebook.db").exists()
    with Gradebook(server.url) as gradebook:
        assert gradebook.find_student("student01").first_name == "Zoë"


def test_export_reads_from_it(course):
    course.do("export", "--format", "nbgrader", "--to", str(course.root / "grades.csv"))
    assert f"student01,,Zoë,,{FULL}" in (course.root / "grades.csv").read_text()


def test_a_server_that_is_gone_is_named_and_one_that_is_back_gets_all_marks(course, server):
    course.hand_in("student02", course.right)
    server.stop()
    refused = course.grade(status=2)
    assert "the gradebook cannot be read: connection" in refused.complained
    assert refused.complained.count("\n") == 1
    server.start()
    assert "1 marked, 2 unchanged, 1 put into the gradebook" in course.grade().said
    assert course.scores(server.url)["student02"] == FULL


def test_another_database_can_be_named_when_grading(course, tmp_path):
    other = f"sqlite:///{tmp_path}/other.db"
    course.do("release", "--units", UNIT[:2], "--db", other)
    assert "0 marked, 3 unchanged, 3 put into the gradebook" in course.grade("--db", other).said
    assert course.scores(other).keys() == course.due.keys()
