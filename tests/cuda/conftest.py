"""What is here needs a GPU, and of Python's libraries torch, matplotlib and pytest only. docs/gpu.md says how to run it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

HERE = Path(__file__).parent
NEEDED = "needs a CUDA device"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.cuda)
            if not torch.cuda.is_available():
                item.add_marker(pytest.mark.skip(reason=NEEDED))


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """As in marking; small problems gain nothing from more."""
    torch.set_num_threads(1)
