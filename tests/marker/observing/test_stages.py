"""A stage of a trial has the files that the one before it left, and nothing else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from autograder.contract.observation import Failure, Observation
from autograder.observing.folders import read_folder, write_folder
from autograder.observing.stages import Stage, StagedTrial, in_stages

IN_MEMORY: list[str] = []


@dataclass(frozen=True)
class Count(StagedTrial):
    """A trial of so many stages, with a secret that is told to the first one."""

    number: int
    secret: str = "first only"

    @property
    def stages(self):
        return self.number

    def later(self):
        return Count(self.number, "")


@in_stages
def observe_count(function, stage, folder):
    before = stage.folders[0] if stage.folders else {}
    write_folder(folder, before)
    said = function(folder)
    IN_MEMORY.append(said)
    Path("in the working folder").touch() if not stage.is_last else None
    facts = {f"said {stage.number}": said, f"secret {stage.number}": stage.trial.secret, "last": stage.number}
    return Observation(facts=facts | {f"memory {stage.number}": len(IN_MEMORY)}, left=(read_folder(folder, before),))


def append(folder):
    """Add a letter to a file, and say what is in it and where it is."""
    with open(folder / "file", "a") as file:
        file.write("x")
    return f"{(folder / 'file').read_text()} {folder}"


def test_each_stage_has_the_files_of_the_one_before_at_the_same_place_and_not_its_memory():
    facts = observe_count(append, Count(3)).facts
    texts, places = zip(*(facts[f"said {k}"].split() for k in range(3)), strict=True)
    assert texts == ("x", "xx", "xxx")
    assert len(set(places)) == 1
    assert not os.path.exists(places[0])
    assert [facts[f"memory {k}"] for k in range(3)] == [1, 1, 1]
    assert facts["last"] == 2
    IN_MEMORY.clear()


def test_only_the_first_stage_is_told_what_is_for_it_alone():
    facts = observe_count(append, Count(3)).facts
    assert [facts[f"secret {k}"] for k in range(3)] == ["first only", "", ""]
    IN_MEMORY.clear()


def test_first_stage_alone_and_the_others_after_it_observe_what_they_observe_together():
    first = Stage(Count(3))
    seen = observe_count(append, first)
    assert seen.left == ({"file": b"x"},)
    later = observe_count(append, first.after(seen))
    assert later.facts["said 2"].split()[0] == "xxx"
    IN_MEMORY.clear()


def test_there_is_no_stage_after_the_last_one_or_after_a_failure():
    assert Stage(Count(1)).after(Observation()) is None
    assert Stage(Count(2)).after(Observation(failure=Failure("raised", "no"))) is None


def test_files_that_are_not_carried_are_the_reason_given_for_a_failure():
    def fill(folder):
        for k in range(300):
            (folder / str(k)).touch()
        return ""

    seen = observe_count(fill, Count(2))
    assert seen.failure == Failure("raised", "Your code left more than 256 files in the folder of its checkpoint.")
    IN_MEMORY.clear()


def test_first_stages_that_a_marker_observes_one_after_the_other_share_no_memory():
    seen = [observe_count(append, Stage(Count(2))) for _ in range(2)]
    assert [observation.facts["memory 0"] for observation in seen] == [1, 1]
