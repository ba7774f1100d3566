"""What a submission finds in the sandbox: only what is its own."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from autograder.isolation import sandbox
from autograder.isolation.limits import Limits
from autograder.isolation.sandbox import SandboxError
from autograder.marking.marker import Marker, Marks
from autograder.reading.submissions import parse_submission

ROOT = Path(__file__).parents[3]
LIMITS = Limits(statement=3.0, load=10.0, trial=2.0, grace=1.0, memory=2 * 2**30, processes=40, disk=16 * 2**20)
AVERAGE = "\ndef average_gradients(gradients):\n    return sum(gradients) / len(gradients)\n"
SAMPLES = [
    "00_start_here/accepted/*.py",
    "04_training_loop/accepted/torch_func_per_sample.py",
    "04_training_loop/accepted/numpy_sums.py",
    "04_training_loop/accepted/recursion.py",
    "04_training_loop/mistakes/clips_every_micro_batch.py",
    "03_accumulate/accepted/checkpointing_reentrant.py",
]


@pytest.fixture(scope="module")
def marker():
    with Marker(sandbox="bwrap") as marker:
        yield marker


@pytest.fixture(scope="module")
def mark(marker) -> Callable[[str], Marks]:
    """Mark a right submission of unit 00 that begins with the given code."""

    def mark(code: str) -> Marks:
        submission = parse_submission(ROOT / "tests" / "00_start_here.py", (code + AVERAGE).encode())
        return marker.mark(submission, limits=LIMITS)

    return mark


@pytest.fixture(scope="module")
def inside(mark):
    """The value of an expression in a submission, after some statements."""

    def inside(expression: str, statements: str = "") -> object:
        (report,) = mark(f"import ctypes, json, os, resource, socket\n{statements}\nprint(json.dumps({expression}))").reports
        assert not report.trouble
        return json.loads(report.printed)

    return inside


def fork_server_process(marker: Marker) -> psutil.Process:
    """The process that submissions are forked from: the innermost of those that bubblewrap starts."""
    return psutil.Process(marker._fork_server._server.started.process.pid).children(recursive=True)[-1]


def test_marking_in_a_sandbox_without_bubblewrap_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"bubblewrap is not installed; install it .* without a sandbox"):
        Marker(sandbox="bwrap")


def test_marking_in_a_sandbox_on_another_system_is_refused(monkeypatch):
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    with pytest.raises(SandboxError, match=r"the sandbox needs Linux; .* without a sandbox"):
        Marker(sandbox="bwrap")


def test_marking_in_a_sandbox_on_a_processor_with_unknown_system_calls_is_refused(monkeypatch):
    monkeypatch.setattr(sandbox.platform, "machine", lambda: "riscv64")
    with pytest.raises(SandboxError, match=r"knows x86_64 and aarch64 only, not riscv64; .* without one"):
        Marker(sandbox="bwrap")


def test_an_unknown_sandbox_is_refused():
    with pytest.raises(ValueError, match="unknown sandbox 'docker'"):
        Marker(sandbox="docker")


@pytest.mark.slow
def test_only_the_two_packages_of_the_clone_are_visible(inside):
    environment = Path(sys.prefix).name if Path(sys.prefix).is_relative_to(ROOT) else "autograder"
    assert set(inside(f"os.listdir({str(ROOT)!r})")) == {"autograder", "gradaccum", environment}


@pytest.mark.slow
def test_only_the_system_python_and_the_packages_are_visible(inside):
    places = {"bin", "sbin", "lib", "lib64", "usr", "etc", "proc", "dev", "tmp"}
    bound = {place.split("/")[1] for place in (str(ROOT), sys.prefix, sys.base_prefix, *sys.path) if place.startswith("/")}
    assert set(inside("os.listdir('/')")) <= places | bound


@pytest.mark.slow
def test_sandbox_exposes_only_libraries_fonts_and_timezone(inside):
    assert set(inside("os.listdir('/etc')")) <= {"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "fonts", "localtime"}


@pytest.mark.slow
def test_other_processes_cannot_be_seen(inside):
    assert inside("os.listdir('/proc')") == []


@pytest.mark.slow
def test_only_the_two_private_folders_are_writable(inside):
    tried = """
def writable(place):
    try:
        open(f'{place}/x', 'w').close()
    except OSError:
        return False
    return True
def folders(top):
    for folder, inner, _ in os.walk(top):
        if folder.count('/') < 6 and not folder.startswith(('/usr/share', '/usr/lib', '/tmp', '/dev/shm')):
            yield folder
        else:
            inner.clear()
places = [folder for top in ('/', '/usr/local', '/etc', '/dev', %r) for folder in folders(top)][:4000]
places += [folder for package in ('autograder', 'gradaccum') for folder in __import__(package).__path__]
"""
    assert inside("[place for place in places if writable(place)]", tried % str(ROOT)) == []
    assert inside("[writable(place) for place in ('/tmp', '/dev/shm')]", tried % str(ROOT)) == [True, True]


@pytest.mark.slow
def test_the_only_network_is_a_private_loopback_interface(inside):
    assert inside("socket.if_nameindex()") == [[1, "lo"]]


@pytest.mark.slow
def test_the_loopback_interface_works_for_processes_of_the_submission(inside):
    both = "here = socket.create_server(('127.0.0.1', 0))\nthere = socket.create_connection(here.getsockname())"
    assert inside("there.getpeername() == here.getsockname()", both)


@pytest.mark.slow
def test_a_submission_has_no_capability_and_cannot_get_any(inside):
    asked = """
libc, sets = ctypes.CDLL(None), (ctypes.c_uint32 * 6)()
libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), sets)
NO_NEW_PRIVILEGES, BOUNDING = 39, 23
bounding = [k for k in range(41) if libc.prctl(BOUNDING, k, 0, 0, 0) == 1]
"""
    assert inside("[list(sets), bounding, libc.prctl(NO_NEW_PRIVILEGES, 0, 0, 0, 0)]", asked) == [[0] * 6, [], 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "libc.memfd_create(b'x', 0)",
        "libc.shmget(0, 4096, 0o1600)",
        "libc.msgget(0, 0o1600)",
        "libc.ptrace(0, 0, 0, 0)",
        "libc.process_vm_readv(1, 0, 0, 0, 0, 0)",
        "libc.unshare(0x10000000)",
        "libc.mount(None, b'/tmp', b'tmpfs', 0, None)",
        "libc.umount2(b'/proc', 2)",
        "libc.syscall(425, 1, None)",
    ],
    ids=lambda call: call.split("(")[0].removeprefix("libc."),
)
def test_a_system_call_that_gets_round_the_limits_is_refused(inside, call):
    assert inside(f"[{call}, ctypes.get_errno()]", "libc = ctypes.CDLL(None, use_errno=True)") == [-1, errno.EPERM]


@pytest.mark.slow
def test_processes_and_threads_can_be_started(inside):
    started = """
import subprocess, threading
seen = []
thread = threading.Thread(target=seen.append, args=('thread',))
thread.start()
thread.join()
seen.append(subprocess.run(['echo', 'process'], capture_output=True, text=True).stdout.strip())
"""
    assert inside("seen", started) == ["thread", "process"]


@pytest.mark.slow
def test_the_kernel_limits_memory_file_size_descriptors_and_dumps(inside):
    limits = "[resource.getrlimit(getattr(resource, f'RLIMIT_{name}')) for name in ('DATA', 'FSIZE', 'NOFILE', 'CORE')]"
    assert inside(limits) == [[LIMITS.memory] * 2, [LIMITS.disk] * 2, [256] * 2, [0, 0]]


@pytest.mark.slow
def test_the_private_file_systems_have_the_size_that_the_limits_allow(inside):
    sizes = "[os.statvfs(place).f_blocks * os.statvfs(place).f_frsize for place in ('/tmp', '/dev/shm')]"
    assert inside(sizes) == [LIMITS.disk] * 2


@pytest.mark.slow
def test_there_are_no_terminals_through_which_submissions_could_talk(inside):
    opened = """
try:
    os.openpty()
    reason = 0
except OSError as error:
    reason = error.errno
"""
    assert inside("[reason, os.listdir('/dev/pts')]", opened) == [errno.ENOENT, []]


@pytest.mark.slow
def test_files_of_one_submission_are_gone_for_the_next_one(inside):
    inside("1", "for place in ('/tmp', '/dev/shm'): open(f'{place}/left', 'w').close()")
    assert inside("['left' in os.listdir(place) for place in ('/tmp', '/dev/shm')]") == [False, False]


@pytest.mark.slow
def test_the_only_open_descriptors_are_the_channel_and_dev_null(inside):
    look = """
import stat
def kind(number):
    try:
        status = os.fstat(number)
    except OSError:
        return None
    nowhere = stat.S_ISCHR(status.st_mode) and status.st_rdev == os.stat('/dev/null').st_rdev
    return 'channel' if stat.S_ISSOCK(status.st_mode) else 'nowhere' if nowhere else number
kinds = [kind(number) for number in range(256)]
"""
    kinds = inside("[kind for kind in kinds if kind]", look)
    assert kinds[:3] == ["nowhere"] * 3
    assert set(kinds) == {"nowhere", "channel"}
    assert kinds.count("channel") == 1


@pytest.mark.slow
def test_the_environment_holds_none_of_the_instructors_variables(inside, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    names = {"HOME", "PATH", "PWD", "LANG", "PYTHONPATH", "PYTHONHASHSEED", "MPLBACKEND", "PYTHONDONTWRITEBYTECODE"}
    names |= {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "LC_CTYPE", "CUDA_VISIBLE_DEVICES"}
    assert set(inside("sorted(os.environ)")) <= names | inherited(inside)
    assert inside('os.environ["CUDA_VISIBLE_DEVICES"]') == ""


def inherited(inside) -> set[str]:
    """Names that imported libraries set."""
    return {name for name in inside("sorted(os.environ)") if name.startswith(("TORCHINDUCTOR", "KMP_", "TRITON"))}


@pytest.mark.slow
def test_every_submission_starts_from_the_same_random_states(inside):
    drawn = "[random.random(), torch.rand(2).tolist(), numpy.random.rand(), hash('a')]"
    first, second = (inside(drawn, "import random, torch, numpy") for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_the_fork_server_has_one_thread(mark, marker):
    mark("")
    assert fork_server_process(marker).num_threads() == 1


@pytest.mark.slow
def test_no_process_is_left_of_a_submission(mark, marker):
    mark(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(60)\n    os._exit(0)"
    )
    deadline = time.monotonic() + 60
    while (left := fork_server_process(marker).children(recursive=True)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


@pytest.mark.slow
def test_a_fork_server_that_died_is_started_again(mark, marker):
    mark("")
    before = fork_server_process(marker).pid
    fork_server_process(marker).kill()
    assert mark("").score == 1
    assert fork_server_process(marker).pid != before


@pytest.mark.slow
def test_a_submission_that_kills_itself_does_not_end_the_fork_server(mark, marker):
    mark("")
    before = fork_server_process(marker).pid
    mark("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert fork_server_process(marker).pid == before


@pytest.mark.slow
def test_a_fork_server_that_dies_during_a_submission_costs_only_that_submission(marker):
    slow, quick = (
        parse_submission(Path("00_start_here.py"), (begin + AVERAGE).encode()) for begin in ("import time\ntime.sleep(60)", "")
    )
    fork_server = marker._fork_server
    real = fork_server._ask

    def ask_and_kill(*args):
        control = real(*args)
        fork_server_process(marker).parent().kill()
        return control

    fork_server._ask = ask_and_kill
    try:
        marks = marker.mark(slow, limits=LIMITS)
    finally:
        del fork_server._ask
    assert (marks.score, marks.verdicts[0].failure.kind) == (0, "died")
    assert marker.mark(quick).score == 1  # under the usual limits, for a new fork server starts first


@pytest.mark.slow
def test_the_sandbox_changes_no_mark(marker):
    paths = sorted(path for pattern in SAMPLES for path in (ROOT / "tests" / "submissions").glob(pattern))
    assert len(paths) > len(SAMPLES)
    with Marker() as trusting:
        for path in paths:
            unit = path.parts[-3]
            submission = parse_submission(Path(os.devnull).parent / f"{unit}.py", path.read_bytes(), unit)
            with_sandbox, without = (m.mark(submission, seed=3) for m in (marker, trusting))
            assert (with_sandbox.as_json(), str(with_sandbox.verdicts)) == (without.as_json(), str(without.verdicts))


TAKE = """
import os, time
def average_gradients(gradients):
    hear, say = os.pipe()
    for _ in range({processes}):
        if os.fork() == 0:
            taken = b"x" * ({megabytes} * 2**20)
            os.write(say, taken[:1])
            time.sleep(60)
    for _ in range({processes}):
        os.read(hear, 1)
    time.sleep({seconds})
    return sum(gradients) / len(gradients)
"""


def mark_taking(marker: Marker, processes: int, megabytes: int, seconds: float) -> Marks:
    source = TAKE.format(processes=processes, megabytes=megabytes, seconds=seconds)
    submission = parse_submission(Path("00_start_here.py"), source.encode())
    return marker.mark(submission, limits=replace(LIMITS, memory=2**30, trial=10.0))


@pytest.mark.slow
def test_all_processes_of_a_submission_share_its_memory_limit(marker):
    message = mark_taking(marker, processes=12, megabytes=120, seconds=60).verdicts[0].failure.message
    assert message == "Your code used more memory than the 1 GB it may."


@pytest.mark.slow
def test_memory_shared_between_processes_is_not_counted_for_each(marker):
    marks = mark_taking(marker, processes=5, megabytes=1, seconds=0.2)  # in each of five calls; 40 may run at a time
    assert marks.score == 1
