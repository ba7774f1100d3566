"""Observe a submission in a fresh process that sees no GPU: ``python -m autograder.isolation.fresh_process REQUEST ANSWER``.

Exercises on several ranks fork, which a process that has used a GPU cannot do. Where everything else is marked in one process
on a GPU, as ``pytest --grade --device cuda`` does, they are observed here. This isolates, but it is not a sandbox.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.contract.observation import Failure, Observation
from autograder.isolation.worker import Request

if TYPE_CHECKING:
    from torch import Tensor

Observed = dict[str, dict[str, Observation]]
"""Observations by exercise id and trial."""


def observe_in_fresh_process(request: Request) -> Observed:
    """Observe every exercise of a request, on the CPU.

    Raises:
        RuntimeError: the process ended without an answer.
    """
    import torch

    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory(prefix="gradaccum-") as folder:
        asked, answer = Path(folder, "request"), Path(folder, "answer.pt")
        asked.write_bytes(request.encode())
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__, str(asked), str(answer)],
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.pathsep.join(paths)},
        )
        if done.returncode or not answer.exists():
            raise RuntimeError(
                f"the process that observes a submission ended with status {done.returncode}: {done.stderr[-400:]}"
            )
        observed = torch.load(answer, weights_only=True)
    return {name: {trial: _observation(*parts) for trial, parts in trials.items()} for name, trials in observed.items()}


def _observation(tensors: dict[str, Tensor], facts: dict[str, Any], failure: list[str] | None) -> Observation:
    return Observation(tensors, facts, Failure(*failure) if failure else None)


def main() -> None:
    """Observe, and write what was observed into a file: tensors and what JSON can hold."""
    import torch

    from autograder.isolation.statement_runner import run
    from autograder.isolation.worker import observe_exercise

    asked, answer = sys.argv[1:]
    request = Request.decode(Path(asked).read_bytes())
    loaded, observed = run(request.cells, request.limits), {}
    for exercise, trials in request.trials.items():
        seen = observe_exercise(request.unit, exercise, trials, loaded, request.limits)
        observed[exercise] = {trial: _parts(observation) for trial, observation in seen.items()}
    torch.save(observed, answer)


def _parts(observation: Observation) -> tuple[dict[str, Tensor], dict[str, Any], list[str] | None]:
    failure = observation.failure
    return dict(observation.tensors), observation.facts, [failure.kind, failure.message] if failure else None


if __name__ == "__main__":
    main()
