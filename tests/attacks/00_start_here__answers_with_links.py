# Returns the path of a link instead of numbers.
import os


def average_gradients(gradients):
    os.symlink("/dev/zero", "/tmp/zero")
    return open("/tmp/zero", "rb")
