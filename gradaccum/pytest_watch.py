"""A pytest fixture for a library's own tests: the updates of a trainer hold what is due, or the test fails.

def test_trainer_accumulates_right(due_updates):
    model = TinyModel()
    with due_updates(model, accumulation_steps=4):
        Trainer(model, accumulation_steps=4).train()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gradaccum.watching.seen import Seen


@pytest.fixture
def due_updates() -> Callable[..., AbstractContextManager[Seen]]:
    """Return a context manager with the arguments of ``gradaccum.watch``; leaving its block calls ``seen.check()``."""

    @contextmanager
    def watched(model: Any, **options: Any) -> Iterator[Seen]:
        from gradaccum.watching import watch

        with watch(model, **options) as seen:
            yield seen
        seen.check()

    return watched
