from __future__ import annotations

import pytest
import torch

from gradaccum.threads import one_thread


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_one_thread_is_used_inside_the_block_and_the_former_number_afterwards():
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_the_number_of_threads_is_restored_after_an_error():
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert torch.get_num_threads() == 2
