"""Takes the slope without its sign, since memory only grows."""

import numpy

EXERCISE = "memory_line"
MISTAKES = ()
LOST = ("scattered",)


def memory_line(sizes, bytes):
    slope = abs(numpy.polyfit(sizes, bytes, 1)[0])
    return numpy.mean(bytes) - slope * numpy.mean(sizes), slope
