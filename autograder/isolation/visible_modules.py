"""Which modules of the course student code can import in a sandbox: what observes it, and what notebooks use.

Nothing there judges it. ``gradaccum.watch`` is among what notebooks use, and with it the bench's diagnosis, which names the
mistakes of any training loop; what is due in an exercise is not there. The list is the only one: the sandbox shows these files
and no others of the two packages, the contract on imports in ``pyproject.toml`` repeats it, and tests compare it with what is
there to be imported, from inside.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib.util import cache_from_source
from pathlib import Path

PACKAGES = ("autograder", "gradaccum")

VISIBLE_MODULES = (
    "autograder",
    "autograder.contract",
    "autograder.contract.cell",
    "autograder.contract.devices",
    "autograder.contract.folders",
    "autograder.contract.observation",
    "autograder.contract.units",
    "autograder.devices",
    "autograder.exercises",
    "autograder.exercises.*",
    "autograder.exercises.*.observing",
    "autograder.exercises.*.observing.*",
    "autograder.isolation",
    "autograder.isolation.cell_reports",
    "autograder.isolation.demonstrations",
    "autograder.isolation.fork_server",
    "autograder.isolation.fork_server_protocol",
    "autograder.isolation.huge_pages",
    "autograder.isolation.limits",
    "autograder.isolation.namespaces",
    "autograder.isolation.seccomp",
    "autograder.isolation.statement_runner",
    "autograder.isolation.wire",
    "autograder.isolation.worker",
    "autograder.isolation.written_modules",
    "autograder.observing",
    "autograder.observing.*",
    "autograder.reading",
    "autograder.reading.python_source",
    "autograder.support",
    "autograder.support.garbage_collection",
    "autograder.support.one_line",
    "autograder.support.regular_files",
    "gradaccum",
    "gradaccum.capstone",
    "gradaccum.capstone.budget",
    "gradaccum.capstone.config",
    "gradaccum.capstone.live",
    "gradaccum.capstone.model",
    "gradaccum.capstone.run",
    "gradaccum.capstone.text",
    "gradaccum.collectives",
    "gradaccum.components",
    "gradaccum.contrastive",
    "gradaccum.diagnosis",
    "gradaccum.diagnosis.*",
    "gradaccum.drawing",
    "gradaccum.explore",
    "gradaccum.fingerprint",
    "gradaccum.fingerprint_tables",
    "gradaccum.fingerprint_words",
    "gradaccum.kept_state",
    "gradaccum.loops",
    "gradaccum.loops.*",
    "gradaccum.loops_contrastive",
    "gradaccum.loops_ddp",
    "gradaccum.memory",
    "gradaccum.noise",
    "gradaccum.notebook",
    "gradaccum.notebook.*",
    "gradaccum.phenomena",
    "gradaccum.phenomena.batchnorm_divergence",
    "gradaccum.phenomena.contrastive_negatives",
    "gradaccum.phenomena.equivalence",
    "gradaccum.phenomena.fingerprint_reading",
    "gradaccum.phenomena.gallery",
    "gradaccum.phenomena.gradient_noise",
    "gradaccum.phenomena.learning_rate_scaling",
    "gradaccum.phenomena.low_precision_sums",
    "gradaccum.phenomena.memory_bar",
    "gradaccum.phenomena.missing_scale",
    "gradaccum.phenomena.momentum_effects",
    "gradaccum.phenomena.order_of_operations",
    "gradaccum.phenomena.ranks_over_time",
    "gradaccum.phenomena.real_gpu",
    "gradaccum.phenomena.resume",
    "gradaccum.phenomena.run_dashboard",
    "gradaccum.phenomena.sample_gradients",
    "gradaccum.phenomena.timeline",
    "gradaccum.phenomena.token_weighted_loss",
    "gradaccum.phenomena.trainers",
    "gradaccum.phenomena.who_hides",
    "gradaccum.predict",
    "gradaccum.problems",
    "gradaccum.problems.*",
    "gradaccum.ranks",
    "gradaccum.real_trainers",
    "gradaccum.recording",
    "gradaccum.resuming",
    "gradaccum.showing",
    "gradaccum.still",
    "gradaccum.theme",
    "gradaccum.threads",
    "gradaccum.token_problems",
    "gradaccum.trainer",
    "gradaccum.watching",
    "gradaccum.watching.*",
)
"""Their names; ``*`` stands for one name. Packages are named apart from what is in them."""

DATA = ("gradaccum/real_trainers/recorded/*/*.json",)
"""Files that visible modules read."""


def packages_folder() -> Path:
    """The folder in which the course's two packages are."""
    return Path(__file__).resolve().parents[2]


def modules_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """The modules of the two packages in a folder, with their files."""
    for package in PACKAGES:
        for file in sorted(folder.joinpath(package).rglob("*.py")):
            *parents, name = file.relative_to(folder).with_suffix("").parts
            yield ".".join(parents if name == "__init__" else [*parents, name]), file


def is_visible(module: str) -> bool:
    """Whether student code can import a module in a sandbox."""
    names = module.split(".")
    patterns = (pattern.split(".") for pattern in VISIBLE_MODULES)
    return any(len(names) == len(pattern) and all(map(fnmatchcase, names, pattern)) for pattern in patterns)


def copy_visible_modules(target: Path) -> None:
    """Copy the visible modules into an empty folder, with what Python has compiled of them and the data they read.

    Raises:
        OSError: they cannot be copied.
    """
    for module, file in modules_in(packages_folder()):
        if is_visible(module):
            copy, compiled = target / file.relative_to(packages_folder()), Path(cache_from_source(str(file)))
            copy.parent.joinpath("__pycache__").mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)  # with its time, by which Python knows what was compiled of it
            if compiled.exists():
                shutil.copy2(compiled, copy.parent / "__pycache__" / compiled.name)
    for pattern in DATA:
        for file in packages_folder().glob(pattern):
            copy = target / file.relative_to(packages_folder())
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
