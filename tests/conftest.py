"""Shared by all tests: tables that tests measure, and on CI nothing skipped for want of what CI could have installed."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from pathlib import Path

import pytest

# One thread: on tensors this small a second one costs twice the time. Set before anything imports torch.
os.environ.setdefault("OMP_NUM_THREADS", "1")

ALLOWED_SKIP = "needs a CUDA device"
LONGEST = ("browser", "test_sample_submissions.py", "test_classroom_faults.py", "test_stock_nbgrader.py")
"""Folders and files whose tests take minutes together."""

ON_A_GPU = Path(__file__).parent / "cuda"


# Until all tests are collected nothing is garbage, and to look for some takes a third of that time.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") == "true":
        config.pluginmanager.register(NoSkips())
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells tell what they run in the background
        with contextlib.suppress(ValueError):  # another thread than the main one
            signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _results_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Notebooks that tests run do not become the progress of whoever runs the tests."""
    os.environ["GRADACCUM_RESULTS"] = str(tmp_path_factory.mktemp("progress") / "results.json")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m cuda`` nothing else is imported: a machine with a GPU may have only torch, matplotlib and pytest."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if config.getoption("markexpr") == "cuda" and is_test and ON_A_GPU not in collection_path.parents else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that at the end no worker waits for another that has just begun with it."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}

    def place(item: pytest.Item) -> tuple[int, bool, Path]:
        long = next((k for k, name in enumerate(LONGEST) if name in item.path.parts), len(LONGEST))
        return long, item.path not in slow, item.path

    items.sort(key=place)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Tests of a file are run by one worker, since they share what is dear to set up; those with a browser, too.

    Two browsers at once would wait for each other on two cores until their patience ends.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "browser" if "/browser/" in file else file

    config.option.loadscopereorder = False  # it would begin with the files of most tests
    return ByFile(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded with ``record_property("table", text)``, also when they ran in another process."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, text in report.user_properties if report.when == "call" else ():
            if name == "table":
                terminalreporter.section(report.nodeid.rpartition("::")[2])
                terminalreporter.line(text)


class NoSkips:
    """Lists skipped tests and turns a run that has any into a failed one."""

    def __init__(self):
        self.skips: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.skips and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.skips:
            terminalreporter.section("skipped, which is not allowed on CI", red=True)
        for skip in self.skips:
            terminalreporter.line(skip)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2].removeprefix("Skipped: ")
            if reason != ALLOWED_SKIP:
                self.skips.append(f"{report.nodeid}: {reason}")
