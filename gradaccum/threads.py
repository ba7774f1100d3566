"""Small experiments on one thread, and one at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_experiments = threading.RLock()


def _forget_other_threads() -> None:
    """A fork has no other threads: if one of them held the lock, nobody would release it there."""
    global _experiments
    _experiments = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread inside the block, and let other threads wait for their turn.

    On tensors this small a second thread gains nothing, and on a busy machine threads that wait for each other make the same
    work ten times slower. A notebook has several Python threads, too: kernels may handle a moved control or a pressed button in
    another thread than the one that runs cells. These can share neither the number of torch's threads nor a picture that is
    being drawn.
    """
    experiments = _experiments
    with experiments:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
