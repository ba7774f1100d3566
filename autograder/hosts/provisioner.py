"""A Jupyter kernel in the sandbox that submissions are marked in: kernelspec ``gradaccum-sandbox``.

Notebooks of the course are not marked by running them in a kernel (see ARCHITECTURE.md). This kernel is for all other
notebooks that are not to be trusted: submissions to an instructor's own assignments in the same class, which nbgrader runs, and
a student's notebook that an instructor wants to open and try.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.provisioning import LocalProvisioner

from autograder.isolation.sandbox import bwrap_command, require_bwrap
from autograder.isolation.visible_modules import packages_folder

KERNEL = "gradaccum-sandbox"


def install_kernelspec() -> str:
    """Register the kernel with Jupyter, in this Python environment or, if that is read-only, for this user; return its name."""
    manager = KernelSpecManager()
    if KERNEL not in manager.find_kernel_specs():
        with as_file(files("autograder.hosts").joinpath("kernels", KERNEL)) as folder:
            try:
                manager.install_kernel_spec(str(folder), KERNEL, prefix=sys.prefix)
            except OSError:
                manager.install_kernel_spec(str(folder), KERNEL, user=True)
    return KERNEL


class SandboxProvisioner(LocalProvisioner):
    """Starts a kernel under bubblewrap: no network, nothing to write but a private ``/tmp``.

    Without a network a kernel cannot listen on a port, so it listens on sockets in a folder that both sides see.

    Raises:
        SandboxError: bubblewrap is not there.
    """

    _folder: Path | None = None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        require_bwrap()
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="gradaccum-kernel-"))
        manager = self.parent
        assert manager is not None, "jupyter_client gives every provisioner its kernel manager"
        manager.transport, manager.ip = "ipc", str(self._folder / "kernel")
        manager.connection_file = str(self._folder / "connection.json")
        kwargs = await super().pre_launch(**kwargs)
        sandbox = bwrap_command(
            packages_folder(), more=["--bind", str(self._folder), str(self._folder), "--setenv", "IPYTHONDIR", "/tmp/ipython"]
        )
        return kwargs | {"cmd": [*sandbox, *kwargs["cmd"]], "cwd": str(self._folder)}

    async def cleanup(self, restart: bool = False) -> None:
        await super().cleanup(restart)
        if self._folder is not None and not restart:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
