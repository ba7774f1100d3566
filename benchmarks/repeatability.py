"""Mark the same ten submissions a thousand times in the sandbox: are the marks, and every word of the verdicts, the same?

    python benchmarks/repeatability.py [TIMES]

Exits with status 1 if they are not.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import defaultdict
from pathlib import Path

from tqdm import tqdm

from autograder.marking.marker import Marker
from autograder.reading.submissions import parse_submission

SAMPLES = Path(__file__).resolve().parents[1] / "tests" / "submissions"
TEN = (
    *("01_batches_and_gradients/mistakes", "02_memory_limits/accepted", "03_accumulate/mistakes", "03_accumulate/accepted"),
    *("04_training_loop/mistakes", "04_training_loop/pairs", "04_training_loop/accepted", "05_learning_rate/mistakes"),
    *("06_mixed_precision_and_clipping/mistakes", "07_when_equivalence_breaks/accepted"),
)
"""Folders of samples; one file is taken from the middle of each."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("times", nargs="?", type=int, default=1000, help="how many markings (default: 1000)")
    times = parser.parse_args().times
    submissions = {}
    for folder in TEN:
        samples = sorted((SAMPLES / folder).glob("*.py"))
        path = samples[len(samples) // 2]
        submissions[path] = parse_submission(path, path.read_bytes(), unit=path.parents[1].name)
    seen: dict[Path, set[str]] = defaultdict(set)
    with Marker("bwrap") as marker:
        for k in tqdm(range(times)):
            path, submission = list(submissions.items())[k % len(submissions)]
            marks = marker.mark(submission, seed=20)
            said = repr(marks.as_json()) + "".join(map(str, marks.verdicts))
            seen[path].add(hashlib.sha256(said.encode()).hexdigest())
    for path, digests in seen.items():
        print(f"{path.parent.parent.name}/{path.stem}: {len(digests)} different result{'s' if len(digests) > 1 else ''}")
    print(f"{times} markings, {len(seen)} submissions, {sum(map(len, seen.values()))} different results")
    return 0 if all(len(digests) == 1 for digests in seen.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
