# Leaves variables, signal handlers, limits, an alternative folder and a startup file to whatever is run after it.
import os
import resource
import signal
import sys


def plan_micro_batches(*arguments, **options):
    os.environ.update(PYTHONSTARTUP="/tmp/start.py", PYTHONPATH="/tmp", LD_PRELOAD="/tmp/evil.so", BAIT="left_by_an_attack")
    os.environ["TMPDIR"] = os.environ["HOME"] = "/dev/shm"
    with open("/tmp/sitecustomize.py", "w") as file:
        file.write("print('left_by_an_attack')")
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))
    sys.path.insert(0, "/tmp")
    os.chdir("/dev/shm")
    return None
