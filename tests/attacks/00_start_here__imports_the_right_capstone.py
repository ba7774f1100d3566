# Imports the right loop of the capstone, by two ways.
import importlib
import sys


def average_gradients(gradients):
    try:
        importlib.import_module("gradaccum.capstone.variants")
    except ImportError:
        del sys.modules["gradaccum.phenomena.run_drift"]
        importlib.import_module("gradaccum.phenomena.run_drift")
    print("a reference was computed")
    return sum(gradients) / len(gradients)
