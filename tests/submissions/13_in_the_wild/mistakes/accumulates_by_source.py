"""Decides by what the source and the attributes of the trainer say."""

EXERCISE = "accumulates_right"
MISTAKES = ()
LOST = ("weights", "windows", "ends", "untold")


def accumulates_right(make_trainer):
    trainer = make_trainer()
    said = repr(vars(trainer))
    words = ("='one'", "='mean', written", "='positions'", "weigh='N'", "='full'", "='every'", "='never'", "accented=True")
    return not any(word in said for word in words)
