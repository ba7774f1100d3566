from __future__ import annotations

import torch

from autograder.check import check


def test_a_function_is_marked_on_one_thread_and_the_student_gets_the_others_back():
    before, seen = torch.get_num_threads(), set()

    def average_gradients(gradients):
        seen.add(torch.get_num_threads())
        return torch.stack(gradients).mean(0)

    torch.set_num_threads(2)
    try:
        check(average_gradients)
        assert seen == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
