"""A real JupyterLab in a real browser, cut off from the user's own settings and from every other machine.

Its kernels are forks of a process that has imported what notebooks import.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, Response, WebSocket, expect, sync_playwright
from playwright.sync_api import TimeoutError as PageTimeoutError
from warm_python import warm_kernels

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SETTINGS = {"apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False}}
"""JupyterLab's own settings that differ from its defaults: it must not ask for news."""

PATIENCE = 60_000
"""Milliseconds to wait for what is expected of a page: a tenth of a second does, but not on a machine with much else to do."""

_ALL_RAN = """() => {
    const panel = jupyterapp.shell.currentWidget;
    const cells = panel.content.widgets.map(widget => widget.model).filter(model => model.type === 'code');
    const failed = cells.some(model => model.outputs.toJSON().some(output => output.output_type === 'error'));
    const left = cells.filter(model => model.sharedModel.source.trim() && !model.executionCount).length;
    return failed || !left;
}"""
_ALL_SHOWN = """() => {
    const notebook = jupyterapp.shell.currentWidget.content;
    const views = output => output.data?.['application/vnd.jupyter.widget-view+json'];
    const shown = cell => !cell.isPlaceholder() && (cell.model.type !== 'code' ||
        cell.node.querySelectorAll('.jp-OutputArea-output .jupyter-widgets').length >=
        cell.model.outputs.toJSON().filter(views).length);
    return notebook.widgets.every(shown) && notebook.activeCell.node.contains(document.activeElement);
}"""
"""JupyterLab draws cells out of sight when it has time, and gives the active one the focus once that is drawn."""
_OPEN = """async name => {
    for (const panel of [...jupyterapp.shell.widgets('main')]) panel.dispose();
    const panel = await jupyterapp.commands.execute('docmanager:open', {path: name});
    await panel.context.ready;
}"""
"""Closes, without a question, what is open, and opens a notebook instead."""

_IDLE = "jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"


def chromium() -> str | None:
    """Where the browser is, if there is one."""
    return shutil.which("chromium")


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Chromium without a window."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@dataclass(frozen=True)
class Lab:
    """A running server: the folder it serves, and where it is."""

    root: Path
    url: str
    token: str

    def request(self, method: str, path: str) -> Any:
        """The answer of the server's REST interface, from JSON."""
        request = urllib.request.Request(f"{self.url}api/{path}", method=method)
        request.add_header("Authorization", f"token {self.token}")
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")

    def shut_down_kernel(self, notebook: str) -> None:
        """Shut down the kernel of a notebook, if it has one, without waiting the second that takes."""
        for session in self.request("GET", "sessions"):
            if session["path"] == notebook:
                threading.Thread(target=self._end, args=(session["id"],), daemon=True).start()

    def _end(self, session: str) -> None:
        with suppress(OSError):  # the server, and with it its kernels, has ended before
            self.request("DELETE", f"sessions/{session}")


@contextmanager
def running_lab(root: Path, home: Path, settings: dict[str, Any] | None = None) -> Iterator[Lab]:
    """JupyterLab of this Python on the notebooks in ``root``, with an empty ``home``.

    Args:
        root: the folder served.
        home: an empty folder for settings, caches and the server's log.
        settings: JupyterLab settings by plug-in, on top of :data:`SETTINGS`.

    Raises:
        RuntimeError: the server did not start; with the end of its log.
    """
    folders = {name: home / name.lower() for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    for plugin, values in (SETTINGS | (settings or {})).items():
        file = folders["JUPYTER_CONFIG_DIR"] / f"lab/user-settings/@jupyterlab/{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    own = {name: str(folder) for name, folder in folders.items()} | {"HOME": str(home), "IPYTHONDIR": str(home / "ipython")}
    own |= warm_kernels(home / "warm") | {
        "OMP_NUM_THREADS": "1"
    }  # threads of several kernels that wait for each other would make tests slow
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0", f"--notebook-dir={root}"]
    command += ["--expose-app-in-browser", "--LabApp.extension_manager=readonly"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command += ["--allow-root"] if os.geteuid() == 0 else []
    log = home / "server.log"
    with log.open("w") as stream:
        server = subprocess.Popen(command, env=os.environ | own, stdout=stream, stderr=stream, cwd=root)
        try:
            address = _address(server, folders["JUPYTER_RUNTIME_DIR"], log)
            yield Lab(root, address["url"], address["token"])
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()


def _address(server: subprocess.Popen, runtime: Path, log: Path, seconds: float = 60) -> dict[str, str]:
    """What the server says about itself once it answers: it writes that before it listens."""
    end, file = time.monotonic() + seconds, runtime / f"jpserver-{server.pid}.json"
    while time.monotonic() < end and server.poll() is None:
        if file.exists() and (text := file.read_text()).endswith("}"):
            address = json.loads(text)
            with suppress(OSError), socket.create_connection(("127.0.0.1", address["port"])):
                return address
        time.sleep(0.05)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


def _checkpoint_written(answer: Response) -> bool:
    return answer.request.method == "POST" and answer.url.split("?")[0].endswith("/checkpoints")


@dataclass
class NotebookPage:
    """One notebook, open in JupyterLab.

    Attributes:
        complaints: errors of the page: messages on its console, exceptions, and requests that leave this machine.
    """

    lab: Lab
    name: str
    page: Page
    complaints: list[str] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.lab.root / self.name

    def open(self, kernel: bool) -> None:
        """Open this notebook, in JupyterLab as it stands or just loaded, until its cells and its kernel are there."""
        if self.page.url.startswith(self.lab.url):
            self.page.evaluate(_OPEN, self.name)
        else:
            self.page.goto(f"{self.lab.url}doc/tree/{self.name}?token={self.lab.token}")
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        if kernel:
            self.page.wait_for_function(f"() => {_IDLE}")
        else:
            self.page.get_by_role("dialog").get_by_role("button", name="No Kernel").click()

    def run_all(self, seconds: float = 120) -> None:
        """Run All Cells, from the menu.

        Returns when all have run, or one has failed, the kernel is idle again, and the page shows every cell.
        """
        self.menu("Run", "Run All Cells")
        self.page.wait_for_function(f"() => {_IDLE} && ({_ALL_RAN})()", timeout=seconds * 1000)
        self.page.wait_for_function(_ALL_SHOWN, timeout=PATIENCE)

    def menu(self, *names: str) -> None:
        for name in names:
            self.page.get_by_role("menuitem", name=name, exact=True).click()

    def save(self) -> None:
        """Save with the keyboard, until the file and its checkpoint are written.

        While JupyterLab saves automatically, every two minutes, it ignores the keys; so they are pressed again.
        """
        for seconds in (10, 10, 30):
            try:
                with self.page.expect_response(_checkpoint_written, timeout=1000 * seconds):
                    self.page.keyboard.press("Control+s")
                return
            except PageTimeoutError:
                continue
        dialogs = [dialog.inner_text() for dialog in self.page.get_by_role("dialog").all()]
        focus = self.page.evaluate("document.activeElement.outerHTML.slice(0, 300)")
        raise TimeoutError(f"{self.name} was not saved; dialogs: {dialogs}; focus: {focus}; complaints: {self.complaints}")

    def trust(self) -> None:
        """Trust Notebook, as from the menu; its outputs are drawn again."""
        self.page.evaluate("void jupyterapp.commands.execute('notebook:trust')")
        self.page.get_by_role("dialog").get_by_role("button", name="Trust").click()

    def cells(self) -> list[dict[str, Any]]:
        """The notebook's cells as they would be saved."""
        return self.page.evaluate("() => jupyterapp.shell.currentWidget.content.model.toJSON().cells")

    def code(self) -> list[dict[str, Any]]:
        """The code cells that hold something."""
        return [cell for cell in self.cells() if cell["cell_type"] == "code" and _source(cell)]

    def sources(self, start: str) -> list[str]:
        """The sources of all code cells that have a line with this beginning."""
        return [source for source in map(_source, self.code()) if f"\n{start}" in f"\n{source}"]

    def checks(self) -> list[str]:
        """The sources of the cells that check an exercise and do nothing else."""
        return [source for source in self.sources("check(") if source.startswith("check(")]

    def errors(self) -> list[str]:
        """What went wrong in cells, and what they wrote to stderr."""
        outputs = [output for cell in self.code() for output in cell["outputs"]]
        raised = [f"{output['ename']}: {output['evalue']}" for output in outputs if output["output_type"] == "error"]
        return raised + ["".join(output["text"]) for output in outputs if output.get("name") == "stderr"]

    def not_run(self) -> list[str]:
        """Code cells without a number."""
        return [_source(cell) for cell in self.code() if not cell["execution_count"]]

    def output_of(self, source: str) -> Locator:
        """What stands below the first code cell that consists of ``source``."""
        place = next(k for k, cell in enumerate(self.cells()) if _source(cell) == source)
        return self.page.locator(".jp-Notebook .jp-Cell").nth(place).locator(".jp-OutputArea")


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"]).strip()


@contextmanager
def notebook_in(page: Page, lab: Lab, name: str, kernel: bool = True) -> Iterator[NotebookPage]:
    """Open a notebook in a page that others have been open in, to spare loading JupyterLab. Afterwards its kernel is ended."""
    notebook = NotebookPage(lab, name, page)
    with listening(page, lab.url, notebook.complaints):
        try:
            notebook.open(kernel)
            yield notebook
        finally:
            lab.shut_down_kernel(name)


@contextmanager
def listening(page: Page, home: str, complaints: list[str]) -> Iterator[None]:
    """Note every error of a page, and every request that goes elsewhere than ``home``."""

    def note_request(request: Request | WebSocket) -> None:
        if not request.url.startswith((home, home.replace("http", "ws", 1), "data:", "blob:")):
            complaints.append(f"request to {request.url}")

    def note_exception(error: Exception) -> None:
        complaints.append(f"exception: {error}")

    def note_message(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(f"console: {message.text} ({message.location['url']})")

    notes = {"request": note_request, "websocket": note_request, "pageerror": note_exception, "console": note_message}
    for event, note in notes.items():
        page.on(event, note)
    try:
        yield
    finally:
        for event, note in notes.items():
            page.remove_listener(event, note)
