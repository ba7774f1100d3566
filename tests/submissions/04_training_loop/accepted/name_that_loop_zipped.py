"""Zips letters with names, in small letters and with underscores."""

EXERCISE = "name_that_loop"


def name_that_loop():
    names = "never_zero off_by_one_early no_scale retained_graph zero_every tail_dropped".split()
    return dict(zip("abcdef", names, strict=True))
