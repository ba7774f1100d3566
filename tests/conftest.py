"""Shared by all tests: tables that tests measure, and on CI nothing skipped for want of what CI could have installed."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import sys
from functools import cache
from pathlib import Path

import pytest
from _pytest.pytester import SysModulesSnapshot

# One thread: on tensors this small a second one costs twice the time. Set before anything imports torch.
os.environ.setdefault("OMP_NUM_THREADS", "1")

LONGEST_FIRST = (
    *("browser", "site", "test_faults.py", "classroom", "10_distributed", "test_stock_nbgrader.py"),
    *("04_training_loop", "test_attacks.py", "test_wheel.py", "test_marker.py", "test_release.py", "test_nbgrader_plugins.py"),
    *("test_guides.py", "12_capstone", "08_unequal_micro_batches", "test_live.py"),
)
"""Folders, files and units of samples whose tests take longest together."""

OF_SAMPLES = (
    *("test_sample_submissions.py", "test_promises.py", "test_named_loops.py", "test_named_elsewhere.py"),
    "test_judge_fuzz.py",
)
"""Files whose tests of one unit run in one process, which keeps what was observed of its samples. The first sets it up."""

ON_A_GPU = Path(__file__).parent / "cuda"


with contextlib.suppress(ModuleNotFoundError):  # a machine with a GPU may have only torch, matplotlib and pytest
    from hypothesis import settings

    # No test asserts a time; hypothesis's default deadline fails on a busy machine.
    settings.register_profile("without a deadline", deadline=None)
    settings.load_profile("without a deadline")

# Until all tests are collected nothing is garbage, and to look for some takes a third of that time.
gc.disable()


def _restore_modules(snapshot: SysModulesSnapshot) -> None:
    """What pytester does after a run in this process, but without a moment in which there are no modules at all.

    In such a moment something that is freed may import ``io`` again. Its exceptions are other classes then, and torch does not
    recognize them for the rest of the process.
    """
    saved, preserve = snapshot._SysModulesSnapshot__saved, snapshot._SysModulesSnapshot__preserve
    for name in sys.modules.keys() - saved.keys():
        if not (preserve and preserve(name)):
            del sys.modules[name]
    sys.modules.update({name: module for name, module in saved.items() if not (preserve and preserve(name))})


SysModulesSnapshot.restore = _restore_modules


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
    """Tests that need a GPU are collected only where there is one, or when they are asked for with ``-m cuda``.

    Then nothing else is collected: a machine with a GPU may have only torch, matplotlib and pytest.
    """
    if config.getoption("markexpr") == "cuda":
        on_the_way = collection_path == ON_A_GPU or ON_A_GPU in collection_path.parents or collection_path in ON_A_GPU.parents
        return None if on_the_way else True
    return True if collection_path == ON_A_GPU and not _has_a_gpu() else None


@cache
def _has_a_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that at the end no worker waits for another that has just begun with it."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}

    def place(item: pytest.Item) -> tuple[int, bool, str, bool]:
        scope = _scope(item.nodeid)
        rank = next((k for k, name in enumerate(LONGEST_FIRST) if name in scope), len(LONGEST_FIRST))
        return rank, item.path not in slow, scope, item.path.name != OF_SAMPLES[0]

    items.sort(key=place)


def _scope(nodeid: str) -> str:
    """What one worker runs: the tests of a file, which share what is expensive to set up, or all tests of one unit's samples.

    All tests of notebooks in a browser go to one worker, which starts one JupyterLab; all of the site, which is built once; and
    all of classes, which share a cluster, apart from those that take longest.
    """
    file = nodeid.partition("::")[0]
    for folder in ("browser", "site", "classroom"):
        if f"/{folder}/" in file and not file.endswith("/test_faults.py"):
            return folder
    unit = re.search(r"\[(\d\d_[a-z_]+)", nodeid) if file.endswith(OF_SAMPLES) else None
    return f"samples of {unit[1]}" if unit else file


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Give each worker whole scopes, see :func:`_scope`."""
    from xdist.scheduler import LoadScopeScheduling

    class ByScope(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _scope(nodeid)

    config.option.loadscopereorder = False  # it would begin with the files that have most tests
    return ByScope(config, log)


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers(config: pytest.Config):
    """With slow tests one worker more than cores: these wait for browsers, time limits and kills, while others compute."""
    cores = yield
    return cores + ("not slow" not in config.getoption("markexpr"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tables that tests recorded with ``record_property("table", text)``, also when they ran in another process.

    Tables of a parametrised test are printed as one, with the header of the first.
    """
    tables: dict[str, list[str]] = {}
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, text in report.user_properties if report.when == "call" else ():
            if name == "table":
                rows = tables.setdefault(report.nodeid.rpartition("::")[2].partition("[")[0], [])
                rows += [line for line in text.splitlines() if line not in rows]
    for test, rows in tables.items():
        terminalreporter.section(test)
        terminalreporter.line("\n".join(rows))


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
            self.skips.append(f"{report.nodeid}: {report.longrepr[2].removeprefix('Skipped: ')}")
