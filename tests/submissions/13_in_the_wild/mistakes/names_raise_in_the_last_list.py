"""Says right of everything in two lists, and raises in the third."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("full", "leftovers", "windows")


def name_those_trainers(fingerprints):
    names = []
    for f in fingerprints:
        n, found = f["accumulation_steps"], f["found"]
        name = "right"
        for u, row in enumerate(found):
            part = row[u * n : u * n + n]
            if part[0] == 0:
                name = "zero-every"
            elif sum(part) > n + 1:
                name = "no-scale"
        names.append(name)
    return names
