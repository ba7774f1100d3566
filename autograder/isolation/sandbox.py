"""What a sandbox looks like, and whether there can be one here.

The sandbox is bubblewrap's: it has no network, an empty environment, and of the file system only what Python needs, read-only.
In it every submission gets namespaces of its own (see :mod:`autograder.isolation.namespaces`).
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.isolation import seccomp
from autograder.isolation.visible_modules import PACKAGES, packages_folder

BWRAP, NONE = "bwrap", "none"
SANDBOXES = (BWRAP, NONE)

LIBRARIES = ("site-packages", "dist-packages")
"""What folders are called in which Python packages are installed."""

UNSANDBOXED_HINT = (
    "if you trust every file (grade … --sandbox none, MarkSubmission.sandbox=none in nbgrader; see docs/security.md)"
)


class ChildError(RuntimeError):
    """No process can be started to run a submission in. This is no submission's fault."""


class SandboxError(ChildError):
    """There is no sandbox here. The message says what to do."""


def require_bwrap() -> None:
    """Check that submissions can be sandboxed here.

    Raises:
        SandboxError: they cannot; the message says what to do.
    """
    if sys.platform != "linux":
        raise SandboxError(f"the sandbox needs Linux; mark there, or without a sandbox {UNSANDBOXED_HINT}")
    if platform.machine() not in seccomp.TABLES:
        known = " and ".join(seccomp.TABLES)
        raise SandboxError(
            f"the sandbox knows {known} only, not {platform.machine()}; mark there, or without one {UNSANDBOXED_HINT}"
        )
    if shutil.which("bwrap") is None:
        raise SandboxError(
            "bubblewrap is not installed; install it (apt-get install bubblewrap), "
            f"or mark without a sandbox {UNSANDBOXED_HINT}"
        )


def bwrap_command(packages: Path, device: str = "cpu", more: Sequence[str] = ()) -> list[str]:
    """``bwrap`` with the options that make a sandbox, up to the ``--`` that the command follows.

    Args:
        packages: a folder that holds what is to be seen of the course's two packages, wherever these are.
        device: ``"cpu"`` or ``"cuda"``.
        more: further options.
    """
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    # Always the same user, even if root marks: the kernel does not pass root on to namespaces inside these.
    command += ["--uid", "1000", "--gid", "1000"]
    for name, value in (fork_server_settings(device) | {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}).items():
        command += ["--setenv", name, value]
    command += ["--setenv", "PYTHONPATH", str(packages_folder())]
    for place in ("/bin", "/sbin", "/lib", "/lib64"):
        if os.path.islink(place):
            command += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            command += ["--ro-bind", place, place]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    clone = "" if packages_folder().name in LIBRARIES else str(packages_folder())
    for place in _outer_first({clone, *_visible_places()} - {""}):  # after /tmp, because the clone may be in there
        command += ["--tmpfs", place] if place == clone else ["--ro-bind", place, place]
    for package in _copies_of_the_packages():
        command += ["--ro-bind", str(packages / package.name), str(package)]
    command += ["--remount-ro", clone] if clone else []
    for fonts in _font_lists():  # matplotlib would take seconds to make another one
        command += ["--ro-bind", str(fonts), f"/tmp/.cache/matplotlib/{fonts.name}"]
    if device == "cuda":
        for node in sorted(Path("/dev").glob("nvidia*")):
            command += ["--dev-bind", str(node), str(node)]
        command += ["--ro-bind-try", "/sys", "/sys"]
    return [*command, *more, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--"]


def fork_server_settings(device: str) -> dict[str, str]:
    """Environment variables of a fork server, with or without a sandbox."""
    one_thread = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return {"PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"} | one_thread | _visible_gpus(device)


def _visible_gpus(device: str) -> dict[str, str]:
    """Which GPUs a process sees, and how it looks for them: a process that sees one and computes can no longer be forked."""
    if device == "cpu":
        return {"CUDA_VISIBLE_DEVICES": ""}
    kept = {name: os.environ[name] for name in ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}


def _visible_places() -> set[str]:
    """Python and its libraries."""
    places = ["/usr", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/fonts", "/etc/localtime"]
    places += [sys.base_prefix, sys.prefix, *(entry for entry in sys.path if Path(entry).name in LIBRARIES)]
    existing = {os.path.abspath(place) for place in places if os.path.exists(place)}
    return existing | {os.path.realpath(place) for place in existing}


def _copies_of_the_packages() -> list[Path]:
    """Where the two packages are, and everywhere else that they are installed and would be seen."""
    libraries = {library for place in _visible_places() for library in Path(place).glob("lib*/python*/*-packages")}
    libraries |= {Path(place) for place in _visible_places() if Path(place).name in LIBRARIES}
    others = {library / name for library in libraries for name in PACKAGES if (library / name).is_dir()}
    return sorted(others | {packages_folder() / name for name in PACKAGES})


def _outer_first(places: Iterable[str]) -> list[str]:
    return sorted(places, key=lambda place: (len(place), place))


def _font_lists() -> list[Path]:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return sorted(Path(os.environ.get("MPLCONFIGDIR") or cache / "matplotlib").glob("fontlist-*.json"))
