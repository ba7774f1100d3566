"""The attack corpus, ``tests/attacks``: no attack gains a mark, costs another exercise or submission one, or leaves a trace.

Each file there says in its first comment what it tries. The functions it defines earn nothing, unless a line
``# Earns: name=points`` says otherwise. Right solutions of all other exercises of the unit are added, and must earn all points.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import pkgutil
import re
import site
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from attack_corpus import ATTACKS, defined_in, due_to

import autograder
import gradaccum
from autograder.contract.units import unit_in
from autograder.hosts.provisioner import install_kernelspec
from autograder.isolation.fork_server_client import ForkServer
from autograder.isolation.limits import Limits
from autograder.marking.marker import Marker, Marks
from autograder.reading.submissions import parse_submission

ROOT = Path(__file__).parents[3]
LIMITS = Limits(statement=2.0, load=10.0, trial=1.0, grace=0.5, memory=2**30, processes=32, disk=16 * 2**20)
SECRET = "the secret of the class"
CONFESSIONS = (
    "attached to",
    "read the memory of",
    "could write",
    "a reference was computed",
    "left_by_an_attack",
    "still here",
)
"""What an attack prints if it gets further than it should."""

CANARY = """
# A right submission that also prints whatever an earlier one might have left to it.
import builtins, os, random, sys
import matplotlib, numpy, torch
print({place: sorted(os.listdir(place)) for place in ("/tmp", "/dev/shm", "/proc", os.getcwd())})
print(sorted(os.environ.items()), sys.path, sorted(sys.modules), sorted(vars(builtins)), sorted(os.listdir(".")))
print(random.random(), torch.rand(3), numpy.random.rand(), torch.get_num_threads(), torch.get_default_dtype())
print(matplotlib.rcParams["lines.linewidth"], os.getpid(), os.sysconf("SC_OPEN_MAX"))
print([number for number in range(100) if os.path.exists("/tmp") and not _closed(number)])

def average_gradients(gradients):
    return torch.stack(gradients).mean(0)
"""
OPEN = "def _closed(number):\n    import os\n    try:\n        os.fstat(number)\n    except OSError:\n        return True\n"


@dataclass(frozen=True)
class Outcome:
    """What an attack achieved: points, and lists of what else it did."""

    gained: float
    lost: float
    seen: tuple[str, ...]
    affected: tuple[str, ...]
    changed: tuple[str, ...]


class Stage:
    """What attacks are tried on: baits, a marker, and a canary."""

    def __init__(self, folder: Path, marker: Marker, listeners: list[socket.socket], process: subprocess.Popen):
        self.folder, self.marker, self.listeners, self.process = folder, marker, listeners, process
        port, name = listeners[0].getsockname()[1], listeners[1].getsockname()[1:].decode()
        self.bait = {"folder": str(folder), "clone": str(ROOT), "port": port, "socket": name, "process": process.pid}
        install_kernelspec()  # not in the midst of an attack, by a test that runs at the same time
        self.canary = self._canary()
        self.files = _fingerprints(folder)

    @cache  # noqa: B019 - there is one stage
    def outcome(self, attack: Path) -> Outcome:
        before = self.files
        marks, earned = self._mark(attack), due_to(attack)
        found = {verdict.exercise: verdict.score or 0.0 for verdict in marks.verdicts}  # unmarked is not a point
        affected = [] if self._canary() == self.canary else ["the canary"]
        affected += [] if self.process.poll() is None else ["the bait process"]
        after = self.files = _fingerprints(self.folder)
        said = json.dumps(marks.as_json()) + "".join(report.printed for report in marks.reports)
        return Outcome(
            gained=sum(max(0.0, found[name] - points) for name, points in earned.items()),
            lost=sum(max(0.0, points - found[name]) for name, points in earned.items()),
            seen=tuple(word for word in (SECRET, *CONFESSIONS) if word in said) + self._heard(),
            affected=tuple(affected),
            changed=tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))),
        )

    def _mark(self, attack: Path) -> Marks:
        path = self.folder / f"handed_in{attack.suffix}"
        unit, source, baits = unit_in(attack.name), attack.read_text(), f"BAIT = {self.bait!r}\n"
        honest = _honest(unit, defined_in(attack))
        if attack.suffix == ".py":
            data = f"{baits}{source}\n\n{honest}"
        else:
            notebook = json.loads(source)
            cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
            notebook["cells"] = [cell | {"source": baits}, *notebook["cells"], cell | {"source": honest}]
            data = json.dumps(notebook)
        return self.marker.mark(parse_submission(path, data.encode(), unit), limits=LIMITS)

    def _canary(self) -> tuple:
        submission = parse_submission(self.folder / "canary.py", (OPEN + CANARY).encode(), "00_start_here")
        marks = self.marker.mark(submission, limits=LIMITS)
        return json.dumps(marks.as_json()), str(marks.verdicts), marks.reports

    def _heard(self) -> tuple[str, ...]:
        heard = []
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                while True:
                    listener.accept()[0].close()
                    heard.append(f"a connection to {listener.getsockname()}")
        return tuple(heard)


@pytest.fixture(scope="module")
def stage(tmp_path_factory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("class")
    (folder / "other").mkdir()
    for name in ("gradebook.db", "seed.txt", "secret.txt", "nbgrader_config.py", "feedback.html", "handed_in.py"):
        (folder / name).write_text(f"# {SECRET}\n")
    (folder / "other" / "04_training_loop.py").write_text(f"# {SECRET}\n" + _honest("04_training_loop", set()))
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket(kind)) for kind in (socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX)]
        addresses = [("127.0.0.1", 0), f"\0gradaccum-bait-{os.getpid()}", str(folder / "socket")]
        for listener, address in zip(listeners, addresses, strict=True):
            listener.bind(address)
            listener.listen()
            listener.setblocking(False)
        process = stack.enter_context(subprocess.Popen(["sleep", "1000"]))
        stack.callback(process.kill)
        os.environ["BAIT_SECRET"] = SECRET
        stack.callback(os.environ.pop, "BAIT_SECRET")
        yield Stage(folder, stack.enter_context(Marker(fork_server=ForkServer("bwrap", "cpu", many=True))), listeners, process)


def test_every_attack_says_what_it_tries():
    first_lines = {path.name: re.search(r"# [A-Z].{30,}\.", path.read_text()) for path in ATTACKS}
    assert [name for name, line in first_lines.items() if not line] == []
    assert len(ATTACKS) >= 40


def test_everything_that_an_attack_replaces_in_our_packages_exists():
    gone = []
    for path in (path for path in ATTACKS if path.suffix == ".py"):
        targets = [
            target for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Assign) for target in node.targets
        ]
        for name in map(ast.unparse, targets):
            try:
                pkgutil.resolve_name(name if name.startswith(("autograder.", "gradaccum.")) else "ast")
            except (ImportError, AttributeError):
                gone.append(f"{path.name}: {name}")
    assert gone == [], "an attack that replaces nothing proves nothing"


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda path: path.name)
def test_an_attack_achieves_nothing(stage, attack):
    assert stage.outcome(attack) == Outcome(0.0, 0.0, (), (), ())


@pytest.mark.slow
def test_what_all_attacks_achieve(stage, record_property):
    outcomes = [stage.outcome(attack) for attack in ATTACKS]
    figures = {
        "attacks": len(ATTACKS),
        "marks gained that were not earned": sum(outcome.gained for outcome in outcomes),
        "other submissions affected": sum(len(outcome.affected) for outcome in outcomes),
        "files changed outside": sum(len(outcome.changed) for outcome in outcomes),
        "secrets seen, connections made": sum(len(outcome.seen) for outcome in outcomes),
        "marks of honest exercises lost": sum(outcome.lost for outcome in outcomes),
    }
    record_property("table", "\n".join(f"{value:6g}  {name}" for name, value in figures.items()))
    assert list(figures.values())[1:] == [0] * 5


@cache
def _solutions(unit: str) -> dict[str, str]:
    """The source of each function, class and constant of a unit's solutions by name, and under ``""`` all imports."""
    source = (ROOT / "solutions" / f"{unit}.py").read_text()
    nodes = ast.parse(source).body
    imports = [ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    found = {"": "\n".join(imports)}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = ast.get_source_segment(source, node)
        elif isinstance(node, ast.Assign) and (name := ast.unparse(node.targets[0])).isupper():
            found[name] = ast.unparse(node)
    return found


def _honest(unit: str, but: set[str]) -> str:
    """Right solutions of a unit's exercises."""
    return "\n\n\n".join(source for name, source in _solutions(unit).items() if name not in but)


def _fingerprints(folder: Path) -> dict[str, tuple]:
    """Size, time and, of baits, content of every file that an attack might change or add."""
    packages = [Path(package.__path__[0]) for package in (autograder, gradaccum)]
    starts = [Path(place) for place in (*site.getsitepackages(), sys.prefix)]
    files = [path for place in packages for path in place.rglob("*") if "__pycache__" not in path.parts]
    files += [path for place in starts for path in place.glob("*")]
    files += [*Path(sys.prefix, "share/jupyter/kernels").rglob("*"), *(ROOT / "solutions").glob("*.py")]
    found = {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files if path.is_file()}
    return found | {str(path): (path.read_bytes(),) for path in folder.rglob("*") if path.is_file()}
