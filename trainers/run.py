"""Run the scripts of this folder in the environments of ``environments.toml``, and write ``docs/trainers.md``.

Each pinned package is installed once into a folder of its own below ``build/trainers``, without its dependencies; an
environment is a ``PYTHONPATH`` of such folders, in front of the project's own packages. What was recorded is not run again,
unless its script or its environment has changed: a run that was interrupted continues where it stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from gradaccum.real_trainers import RECORDED

HERE = Path(__file__).resolve().parent
PACKAGES = HERE.parent / "build" / "trainers"
TIME_LIMIT = 900
"""Seconds that one script may take."""

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "WANDB_MODE": "disabled",
    "CUDA_VISIBLE_DEVICES": "",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONHASHSEED": "0",
}


@dataclass(frozen=True)
class Run:
    """A script in an environment: where its result belongs, and whether it has to be run again."""

    pins: tuple[str, ...]
    script: str

    @property
    def library(self) -> str:
        return self.pins[0].split("==")[0]

    @property
    def version(self) -> str:
        return self.pins[0].split("==")[1]

    @property
    def name(self) -> str:
        return f"{self.library}-{self.version}/{self.script}"

    @property
    def source(self) -> Path:
        return HERE / f"{self.script}.py"

    @property
    def result(self) -> Path:
        return RECORDED / f"{self.name}.json"

    @property
    def key(self) -> str:
        """Changes with the script and with its environment."""
        return hashlib.sha256(self.source.read_bytes() + " ".join(self.pins).encode()).hexdigest()[:16]

    @property
    def is_recorded(self) -> bool:
        return self.result.is_file() and json.loads(self.result.read_text())["key"] == self.key


def all_runs() -> Iterator[Run]:
    """In the order of the file."""
    listed = tomllib.loads((HERE / "environments.toml").read_text())
    for environment in listed["environment"]:
        pins = tuple(environment["pins"].format_map(listed["pins"]).split())
        yield from (Run(pins, script) for script in environment["scripts"].split())


def install(pin: str) -> Path:
    """The folder that holds a pinned package and nothing else."""
    folder = PACKAGES / pin
    if not folder.is_dir():
        PACKAGES.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=PACKAGES) as unfinished:
            options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--target", unfinished]
            subprocess.run([sys.executable, "-m", "pip", "install", *options, pin], check=True)
            shutil.copytree(unfinished, f"{folder}.part", dirs_exist_ok=True)
        os.rename(f"{folder}.part", folder)
    return folder


def record(run: Run) -> str:
    """Run a script in its environment and keep its result; return the end of what it printed if it fails."""
    path = os.pathsep.join(str(install(pin)) for pin in run.pins)
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(scratch, "result.json")
        environment = os.environ | OFFLINE | {"PYTHONPATH": path, "HF_HOME": scratch, "TRAINERS_RESULT": str(written)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # large libraries would be compiled again for each script
        try:
            command = [sys.executable, str(run.source)]
            done = subprocess.run(command, env=environment, cwd=scratch, capture_output=True, text=True, timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            return f"not done after {TIME_LIMIT} seconds"
        if done.returncode or not written.is_file():
            return "\n".join((done.stderr or done.stdout).splitlines()[-12:])
        result = {"key": run.key, "pins": run.pins, **json.loads(written.read_text())}
    run.result.parent.mkdir(parents=True, exist_ok=True)
    run.result.write_text(json.dumps(result, indent=None, separators=(",", ":")) + "\n")
    return ""


def main() -> int:
    """Return 1 if a script failed, or if the page cannot be written because a run is not recorded."""
    parser = argparse.ArgumentParser(description="Watch the trainers of many libraries, and write docs/trainers.md.")
    parser.add_argument("names", nargs="*", help="only runs whose name (library-version/script) contains one of these")
    parser.add_argument("--again", action="store_true", help="run them although their results are recorded")
    options = parser.parse_args()
    chosen = [run for run in all_runs() if not options.names or any(name in run.name for name in options.names)]
    if not chosen:
        parser.error(f"no run is called like {' or '.join(options.names)}; environments.toml lists them")
    failed = {}
    with tqdm([run for run in chosen if options.again or not run.is_recorded], unit="run") as progress:
        for run in progress:
            progress.set_description(run.name)
            if reason := record(run):
                failed[run.name] = reason
                progress.write(f"{run.name} failed:\n{reason}")
    if unrecorded := [run.name for run in all_runs() if not run.result.is_file()]:
        print(f"docs/trainers.md is left as it is, because these runs are not recorded: {', '.join(unrecorded)}.")
        print("`make trainers` runs them.")
        return 1
    from page import write_page

    write_page()
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
