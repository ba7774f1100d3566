"""Starts at the room there is and goes down by recursion."""

import math

EXERCISE = "plan_micro_batches"


class NoRoomError(ValueError):
    """Nothing fits."""


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    def from_room(size):
        if size < 1:
            raise NoRoomError("nothing fits")
        if math.gcd(size, effective_batch) == size:
            return size, effective_batch // size
        return from_room(size - 1)

    return from_room(min(effective_batch, (budget - fixed) // per_sample))
