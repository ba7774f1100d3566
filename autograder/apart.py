"""Observe a submission in a fresh process that sees no GPU, ``python -m autograder.apart FILE SEED ANSWER``.

Exercises on several ranks fork, which a process that has used a GPU cannot do. Where everything else is marked in one process
on a GPU, as ``pytest --grade --device cuda`` does, they are observed here. It isolates, but it is no sandbox.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from autograder.exercise import Failure, Observation, exercises_of

Observed = dict[str, dict[str, Observation]]
"""By exercise id and trial."""


def observe_apart(path: Path, seed: int) -> Observed:
    """Observe every exercise of a submission's unit, on the CPU.

    Raises:
        RuntimeError: the process ended without an answer.
    """
    import torch

    root = str(Path(__file__).resolve().parent.parent)
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory(prefix="gradaccum-") as folder:
        answer = Path(folder, "answer.pt")
        done = subprocess.run(
            [sys.executable, "-P", "-m", "autograder.apart", str(path.absolute()), str(seed), str(answer)],
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.pathsep.join(paths)},
        )
        if done.returncode or not answer.exists():
            raise RuntimeError(f"the process that observes {path} ended with status {done.returncode}: {done.stderr[-400:]}")
        brought = torch.load(answer, weights_only=True)
    return {name: {trial: _observation(*parts) for trial, parts in trials.items()} for name, trials in brought.items()}


def _observation(tensors: dict, facts: dict, failure: list[str] | None) -> Observation:
    return Observation(tensors, facts, Failure(*failure) if failure else None)


def main() -> None:
    """Observe, and write what was brought back into a file: tensors and what JSON knows."""
    import torch

    import autograder.exercises  # noqa: F401 - registers them
    from autograder.observing import observe_exercise
    from autograder.running import Limits, run
    from autograder.submissions import read_submission

    path, seed, answer = sys.argv[1:]
    submission, limits = read_submission(path), Limits()
    loaded, brought = run(submission.cells, limits), {}
    for exercise in exercises_of(submission.unit):
        seen = observe_exercise(exercise, loaded, int(seed), "cpu", limits)
        brought[exercise.id] = {trial: _parts(observation) for trial, observation in seen.items()}
    torch.save(brought, answer)


def _parts(observation: Observation) -> tuple[dict, dict, list[str] | None]:
    failure = observation.failure and [observation.failure.kind, observation.failure.message]
    return dict(observation.tensors), observation.facts, failure


if __name__ == "__main__":
    main()
