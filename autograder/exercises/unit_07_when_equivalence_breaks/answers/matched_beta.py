"""What is left after N updates is β to the power N.

Runs PyTorch's own momentum for N updates and reads off what is left of a gradient.
"""

import torch


def matched_beta(beta, accumulation_steps):
    p = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = torch.optim.SGD([p], lr=1.0, momentum=beta)
    p.grad = torch.ones_like(p)
    optimizer.step()
    for _ in range(accumulation_steps):
        p.grad = torch.zeros_like(p)
        optimizer.step()
    return optimizer.state[p]["momentum_buffer"].item()
