"""Mark every sample submission on the problems of several seeds: does any get other points, or other mistakes named, by luck?

    python benchmarks/sample_seeds.py [UNIT …] [--seeds N]

``tests/submissions`` and the second model answers are marked with the seeds 0 to N - 1. Exits with status 1 if a verdict is not
the one that its file asks for, with any of them.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import torch
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "marker"))

from samples import SAMPLES, Sample, mark, verdicts_differ  # noqa: E402 - lies with the tests


def difference(sample: Sample, seed: int) -> str:
    """How the verdict with this seed differs from what the sample asks for; empty if it does not."""
    torch.set_num_threads(1)
    found = verdicts_differ(sample, mark(sample, seed))
    return f"{sample}, seed {seed}: {found}" if found else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("units", nargs="*", metavar="UNIT", help="beginnings of units, such as 04; all if none is named")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="how many (default: 5)")
    options = parser.parse_args()
    chosen = [sample for sample in SAMPLES if not options.units or sample.unit.startswith(tuple(options.units))]
    with ProcessPoolExecutor() as pool:
        # One seed after the other: the processes keep what they compare with.
        waiting = [pool.submit(difference, sample, seed) for seed in range(options.seeds) for sample in chosen]
        differences = 0
        for one in tqdm(as_completed(waiting), total=len(waiting), file=sys.stderr):
            if found := one.result():
                differences += 1
                tqdm.write(found, file=sys.stdout)  # at once: whoever interrupts this has seen what there was
    print(f"{len(chosen)} samples, {options.seeds} seeds: {differences} verdicts differ")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
