"""A right function that leaves a setting of torch changed, or seeds it, loses one part in every exercise, and reads why."""

from __future__ import annotations

import pytest
import torch
from samples import SAMPLES, load

from autograder.exercises import all_exercises
from autograder.marking.in_process import mark_function
from autograder.observing.settings import LEFT_CHANGED, SETTINGS, settings_put_back

CHANGES = {
    "torch's grad mode": lambda: torch.set_grad_enabled(False),
    "the default dtype": lambda: torch.set_default_dtype(torch.float16),
    "the default device": lambda: torch.set_default_device("meta"),
    "torch's hooks on saved tensors": lambda: torch.autograd.graph.saved_tensors_hooks(list, list).__enter__(),
    "torch's anomaly detection": lambda: torch.autograd.set_detect_anomaly(True),
    "torch's deterministic mode": lambda: torch.use_deterministic_algorithms(True, warn_only=True),
    "autocast on the CPU": lambda: torch.set_autocast_enabled("cpu", True),
    "autocast on the GPU": lambda: torch.set_autocast_enabled("cuda", True),
    "autocast's dtype on the CPU": lambda: torch.set_autocast_dtype("cpu", torch.float16),
    "autocast's dtype on the GPU": lambda: torch.set_autocast_dtype("cuda", torch.bfloat16),
    "the number of torch's threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "the precision of torch's matrix products": lambda: torch.set_float32_matmul_precision("medium"),
    "cuDNN's benchmarking": lambda: setattr(torch.backends.cudnn, "benchmark", True),
    "cuDNN's deterministic mode": lambda: setattr(torch.backends.cudnn, "deterministic", True),
    "torch's hooks on all modules": lambda: torch.nn.modules.module.register_module_forward_hook(print),
}

LEAVING = """
import torch
right = {0}


def {0}(*arguments, **keywords):
    returned = right(*arguments, **keywords)
    {1}
    return returned
"""
"""Takes the place of a function, in its module."""

LEAVING_CLASS = """
import torch
right = {0}


class {0}(right):
    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        {1}
"""
"""Takes the place of a class."""

GRADED = [exercise for exercise in all_exercises().values() if exercise.graded]


LEFT = {
    "torch.autograd.set_detect_anomaly(True)": LEFT_CHANGED.format("torch's anomaly detection"),
    "torch.manual_seed(7)": "seeds",
}
"""What functions may leave, as code, and words of what is said of it."""

CASES = [
    pytest.param(exercise, code, id=f"{exercise.id}: {code}")
    for exercise in GRADED
    for code in LEFT
    if (exercise.id, LEFT[code]) != ("load_checkpoint", "seeds")  # which restores torch's random numbers
]


@pytest.mark.parametrize(("exercise", "code"), CASES)
@pytest.mark.slow
def test_right_function_that_leaves_something_loses_one_part_and_reads_why(exercise, code):
    (answer,) = (sample for sample in SAMPLES if sample.exercise == exercise.id and sample.is_answer)
    names = dict(vars(load(answer).module))
    exec((LEAVING_CLASS if isinstance(names[exercise.id], type) else LEAVING).format(exercise.id, code), names)
    verdict = mark_function(exercise, names[exercise.id], 0)
    assert not torch.is_anomaly_enabled()
    (lost,) = (result for result in verdict.results if not result.passed)
    assert lost.part.name == (exercise.tidy or exercise.parts[0].name)
    assert LEFT[code] in lost.message


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_that_is_changed_is_noticed_and_put_back(setting):
    get, _ = SETTINGS[setting]
    before = get()
    with settings_put_back() as changed:
        CHANGES[setting]()
    assert (changed, get()) == ([setting], before)


def test_settings_are_put_back_after_an_error():
    def fails():
        torch.set_grad_enabled(False)
        raise ValueError("of the student")

    with pytest.raises(ValueError, match="of the student"), settings_put_back() as changed:
        fails()
    assert changed == ["torch's grad mode"]
    assert torch.is_grad_enabled()
