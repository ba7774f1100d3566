"""Small experiments on one thread, and one at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_experiments = threading.RLock()


def _forget_other_threads() -> None:
    """In a fork, whoever held the lock in another thread is not there to release it."""
    global _experiments
    _experiments = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread inside the block, and let other threads wait for their turn.

    On tensors this small a second thread gains nothing, and on a busy machine threads that wait for each other make the same
    work ten times slower. And a notebook has several threads of Python: a kernel that hears from JupyterLab that a control was
    moved, or a button pressed, sees to it in a thread of its own, next to that of the cells. Neither the number of torch's
    threads nor a picture that is being drawn can be shared between them.
    """
    experiments = _experiments
    with experiments:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
