"""A machine with a JupyterHub, of which nothing stays: its users, ``/etc``, ``/home``, ``/srv`` and ``/tmp`` are its own.

It is a mount and a process namespace. Python and this clone are seen in it by all users, wherever they are.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

ROOT = Path(__file__).parents[2]
PACKAGES = Path(__file__).parent / "hub"
INSTALLED = ROOT / "build" / "hub"
OLDER = ("alembic==1.13.3", "sqlalchemy==1.4.54")
HUB_CONFIG = "/etc/jupyterhub/jupyterhub_config.py"
PASSWORD, TOKEN = "password", "of-the-test"

_SET_UP = """
set -euo pipefail
own=/mnt
mount -t tmpfs none "$own"
for place in "$@"; do mkdir -p "$own/seen$place"; mount --bind "$place" "$own/seen$place"; done
for closed in $CLOSED; do mount -t tmpfs -o mode=755 none "$closed"; done
mount -t tmpfs -o mode=1777 none /tmp
for place in "$@"; do mkdir -p "$place"; mount --bind "$own/seen$place" "$place"; done
cp -a /etc "$own/etc"
mkdir -p "$own/etc/jupyter" "$own/etc/jupyterhub"
mount --bind "$own/etc" /etc
for place in /home /srv; do mount -t tmpfs -o mode=755 none "$place"; done
echo ready
exec cat
"""
"""Arguments are folders that have to be seen; ``CLOSED`` are the outermost folders around them that only root can enter."""

_HUB_CONFIG = """
c = get_config()
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.db_url = "sqlite:////srv/hub.sqlite"
c.JupyterHub.cookie_secret_file = "/srv/cookie_secret"
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = {password!r}
c.Authenticator.allowed_users = {users!r}
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [{singleuser!r}]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {{"OMP_NUM_THREADS": "1"}}
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api_port}"
c.JupyterHub.services.append({{"name": "test", "api_token": {token!r}}})
c.JupyterHub.load_roles.append({{"name": "test", "services": ["test"], "scopes": ["admin:servers", "tokens", "admin:users"]}})
"""


def missing() -> str:
    """What a hub needs and this machine lacks; empty if there is nothing."""
    if os.geteuid() != 0:
        return "a hub with users of the operating system needs root"
    if not Path(sys.executable).with_name("jupyterhub").exists():
        return "jupyterhub is missing: pip install -c constraints.txt jupyterhub"
    lacking = [program for program in ("npm", "node", "unshare", "nsenter", "setpriv", "useradd") if not shutil.which(program)]
    return f"{', '.join(lacking)} missing; .ci/run installs what is needed" if lacking else ""


def proxy() -> Path:
    """The hub's proxy, installed by npm from its lock file the first time."""
    program = INSTALLED / "node_modules" / ".bin" / "configurable-http-proxy"
    if not program.exists():
        INSTALLED.mkdir(parents=True, exist_ok=True)
        for file in PACKAGES.iterdir():
            shutil.copy(file, INSTALLED)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=INSTALLED, check=True, capture_output=True, text=True)
    return program


def libraries_of_ngshare() -> Path:
    """A folder with libraries that ngshare needs in versions older than ours, installed by pip the first time."""
    folder = INSTALLED / "ngshare"
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "install", "--no-deps", f"--target={folder}", *OLDER]
        subprocess.run(command, check=True, capture_output=True, text=True)
    return folder


@dataclass
class HubMachine:
    """The machine while it runs.

    Attributes:
        pid: its first process, as seen from outside.
        url: where the hub is, without a slash at the end.
        log: of the hub and all servers that it starts.
    """

    pid: int
    folder: Path
    ports: dict[str, int] = field(
        default_factory=lambda: dict(zip(("port", "hub_port", "api_port"), free_ports(3), strict=True))
    )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['port']}"

    @property
    def log(self) -> Path:
        return self.folder / "hub.log"

    def path(self, place: str) -> Path:
        """A path on this machine, as seen from outside."""
        return Path(f"/proc/{self.pid}/root{place}")

    def home(self, user: str) -> Path:
        """Somebody's home on this machine, as seen from outside."""
        return self.path(f"/home/{user}")

    def command(self, user: str, *command: str, **environment: str) -> list[str]:
        """The command that runs a command as a user, in their home."""
        home = "/root" if user == "root" else f"/home/{user}"
        folders = f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        values = {"HOME": home, "USER": user, "PATH": folders, "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"} | environment
        enter = ["nsenter", f"--target={self.pid}", "--mount", "--pid", f"--wd=/proc/{self.pid}/root"]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        inside = ["env", "-i", f"--chdir={home}", *(f"{name}={value}" for name, value in values.items())]
        return [*enter, *become, *inside, *command]

    def run(self, user: str, line: str, **environment: str) -> str:
        """Run a line of shell as a user, in their home; what it prints."""
        command = self.command(user, "bash", "-euo", "pipefail", "-c", line, **environment)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{user}: {line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def api(self, method: str, path: str, told: object = None) -> Any:
        """The answer of the hub's REST interface, from JSON."""
        data = None if told is None else json.dumps(told).encode()
        request = urllib.request.Request(f"{self.url}/hub/api/{path}", method=method, data=data)
        request.add_header("Authorization", f"token {TOKEN}")
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")

    def configure(self, users: tuple[str, ...], more: str) -> None:
        """Write the configuration of a hub for these users before there is a class; it ends with ``more``."""
        config = _HUB_CONFIG.format(
            users=set(users),
            password=PASSWORD,
            token=TOKEN,
            proxy=str(proxy()),
            singleuser=str(Path(sys.executable).with_name("jupyterhub-singleuser")),
            **self.ports,
        )
        self.path(HUB_CONFIG).write_text(f"{config}\n{more}\n")

    def install_ngshare(self, place: str) -> None:
        """Make an environment with ngshare, with libraries of this Python and, before them, the older ones."""
        self.run("root", f"{sys.executable} -m venv --without-pip {place}")
        (libraries,) = self.path(place).glob("lib/python*/site-packages")
        (libraries / "others.pth").write_text(f"{libraries_of_ngshare()}\n{sysconfig.get_path('purelib')}\n")

    @contextmanager
    def running_hub(self, users: tuple[str, ...]) -> Iterator[None]:
        """Run the hub as it is configured, and a server for each of these users."""
        command = self.command("root", "jupyterhub", f"--config={HUB_CONFIG}")
        with self.log.open("w") as log:
            hub = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            self._until(lambda: self.api("GET", "") is not None, hub)
            for user in users:
                self.api("POST", f"users/{user}/server")
            for user in users:
                self._until(lambda user=user: self.api("GET", f"users/{user}")["server"], hub)
            yield
        finally:
            hub.kill()  # all that it started ends with the machine
            hub.wait()

    def _until(self, there: Any, hub: subprocess.Popen, seconds: float = 180) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and hub.poll() is None:
            try:
                if there():
                    return
            except (HTTPError, URLError, ConnectionError):
                pass
            time.sleep(0.2)
        raise RuntimeError(f"the hub did not start:\n{self.log.read_text(errors='replace')[-4000:]}")


@contextmanager
def running_machine(folder: Path, users: tuple[str, ...]) -> Iterator[HubMachine]:
    """A machine with these users, whose homes only they can enter. With the block all of it ends."""
    seen = _outermost({Path(sys.base_prefix), Path(sys.prefix), ROOT, proxy().parents[2]})
    closed = {closed for place in seen if (closed := _closed(place))}
    if own := sorted(closed.intersection(seen)):
        raise RuntimeError(f"users of the hub cannot enter {own[0]}: chmod go+rx {own[0]}")
    arguments = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
    arguments += ["bash", "-c", _SET_UP, "set-up", *map(str, seen)]
    environment = os.environ | {"CLOSED": " ".join(map(str, sorted(closed)))}
    machine = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert machine.stdout is not None
        if machine.stdout.readline() != "ready\n":
            raise RuntimeError(f"no namespaces for a hub; {' '.join(arguments[:8])} ended with status {machine.wait()}")
        (child,) = Path(f"/proc/{machine.pid}/task/{machine.pid}/children").read_text().split()
        hub_machine = HubMachine(int(child), folder)
        for user in users:
            hub_machine.run("root", f"useradd --create-home --shell /bin/bash {user} && chmod 700 /home/{user}")
        yield hub_machine
    finally:
        machine.communicate(timeout=60)


def free_ports(number: int) -> list[int]:
    """Ports of the loopback device on which nobody listens."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _outermost(places: set[Path]) -> list[Path]:
    return sorted(place for place in places if not any(other in place.parents for other in places))


def _closed(place: Path) -> Path | None:
    """The outermost folder on the way to a place that others cannot enter, if there is one."""
    on_the_way = [*reversed(place.parents), place]
    return next((folder for folder in on_the_way if not folder.stat().st_mode & 0o001), None)
