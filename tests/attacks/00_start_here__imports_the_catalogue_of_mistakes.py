# Imports the catalogue of mistakes.
import importlib


def average_gradients(gradients):
    importlib.import_module("gradaccum.diagnosis.catalogue")
    print("a reference was computed")
    return sum(gradients) / len(gradients)
