"""Environments of Python in which the wheel is installed, or what it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import distribution, requires
from pathlib import Path

from distributions import needed_by


@dataclass(frozen=True)
class Installation:
    """An environment in which the wheel is installed, and a home that is empty."""

    place: Path

    def run(self, folder: Path, program: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment in a folder, with a few variables of its own."""
        places = [self.place / "bin", Path(sys.executable).parent, os.environ["PATH"]]  # nbgrader runs alembic's program
        environment = {
            "PATH": os.pathsep.join(map(str, places)),
            "HOME": str(self.place.parent / "home"),
            "JUPYTER_PATH": f"{sys.prefix}/share/jupyter",  # nbconvert's templates
            "OMP_NUM_THREADS": "1",
        } | variables
        command = [str(self.place / "bin" / program), *map(str, arguments)]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)

    def gradaccum(self, folder: Path, *arguments: object) -> str:
        """What the command prints, which has to succeed."""
        done = self.run(folder, "gradaccum", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def new_environment(place: Path) -> Path:
    """Make an empty environment, and a home beside it; its folder of libraries."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", place], check=True)
    (place.parent / "home").mkdir()
    (library,) = place.glob("lib/python*/site-packages")
    return library


def installed(wheel: Path, place: Path) -> Path:
    """Install the wheel, and nothing that it needs, into a new environment; its folder of libraries."""
    library, uv = new_environment(place), Path(sys.executable).with_name("uv")
    command = [uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", place / "bin" / "python", wheel]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return library


def needed_without_extras() -> set[str]:
    """The distributions that the wheel needs."""
    return needed_by(*(line for line in requires("gradaccum") if "extra ==" not in line))


def link_distributions(library: Path, names: Iterable[str]) -> None:
    """Put distributions of this environment into another one's folder of libraries."""
    for name in names:
        for file in distribution(name).files:
            top = library / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not top.exists():
                top.symlink_to(distribution(name).locate_file(file.parts[0]))
