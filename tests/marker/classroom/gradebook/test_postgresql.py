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
    """A PostgreSQL server with its data in its own folder, listening on the loopback interface only."""

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
        self.user = "postgres" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root
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
    with tempfile.TemporaryDirectory(prefix="postgresql-") as folder:  # only the user who runs pytest may read its folders
        server = Server(Path(folder))
        yield server
        server.stop()


@pytest.fixture(scope="module")
def course(server, tmp_path_factory, scheduler) -> GradedClass:
    """A class with its gradebook on the server and two students marked."""
    roster = tmp_path_factory.mktemp("roster") / "students.csv"
    roster.write_text("id,first_name\nstudent00,Ada\nstudent01,Zoë\n")
    course = GradedClass(tmp_path_factory.mktemp("course"), scheduler, "--db", server.url, "--roster", str(roster))
    course.hand_in("student00", course.right)
    course.hand_in("student01", course.untouched)
    course.grade()
    return course


def test_students_and_marks_are_in_the_database_and_no_file_is_created(course, server):
    assert course.scores(server.url) == {"student00": FULL, "student01": 0.0}
    assert not (course.directory / "gradebook.db").exists()
    with Gradebook(server.url) as gradebook:
        assert gradebook.find_student("student01").first_name == "Zoë"


def test_export_reads_from_the_database(course):
    course.do("export", "--format", "nbgrader", "--to", str(course.root / "grades.csv"))
    assert f"student00,,Ada,,{FULL}" in (course.root / "grades.csv").read_text()


def test_a_stopped_server_is_named_and_gets_all_marks_when_it_runs_again(course, server):
    course.hand_in("student01", course.right)
    server.stop()
    refused = course.grade(status=2)
    assert f"the gradebook cannot be read: {server.url}: connection failed: " in refused.complaints
    assert refused.complaints.count("\n") == 1
    server.start()
    assert "1 marked, 1 unchanged, 1 put into the gradebook" in course.grade().output
    assert course.scores(server.url)["student01"] == FULL


def test_another_database_can_be_named_when_grading(course, tmp_path):
    other = f"sqlite:///{tmp_path}/other.db"
    course.do("release", "--units", UNIT[:2], "--db", other)
    assert "0 marked, 2 unchanged, 2 put into the gradebook" in course.grade("--db", other).output
    assert course.scores(other).keys() == {"student00", "student01"}
