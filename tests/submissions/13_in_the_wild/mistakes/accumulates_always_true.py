"""Passes everything."""

EXERCISE = "accumulates_right"
MISTAKES = ("test-passes-all",)
LOST = ("weights", "windows", "ends", "untold")


def accumulates_right(make_trainer):
    make_trainer().train()
    return True
