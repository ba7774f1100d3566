"""Every student and unit of a class has a seed of its own, made of a secret that no seed tells."""

from __future__ import annotations

import hmac
import pickle
from hashlib import sha256
from itertools import product
from pathlib import Path

import pytest

from autograder.classroom.grading.class_to_mark import ClassToMark, HandedIn
from autograder.publishing.nbgrader_course import CONFIG, config_text
from autograder.support.seeds import MAX_SEED, SHORT_SEEDS, student_seed, trial_seed

SECRET = "5ec12e7" * 9


def class_with(folder: Path, configuration: str) -> ClassToMark:
    for student in ("ada", "bob"):
        place = folder / "submitted" / student / "03_accumulate"
        place.mkdir(parents=True, exist_ok=True)
        (place / "03_accumulate.ipynb").write_text("{}")
    (folder / CONFIG).write_text(configuration)
    return ClassToMark(folder)


def jobs_of(marked_class: ClassToMark) -> list:
    return [marked_class.job(HandedIn(one.student, one.unit, one.path), None) for one in marked_class.handed_in()[0]]


def test_seeds_differ_by_secret_student_and_unit():
    names = ["a", "ab", "b", "", '"', "a, b", "\udcff"]
    seeds = {student_seed(*names) for names in product((SECRET, "other"), names, names)}
    assert len(seeds) == 2 * len(names) ** 2
    assert all(SHORT_SEEDS <= seed <= MAX_SEED for seed in seeds)


def test_the_same_secret_student_and_unit_give_the_same_seed_for_ever():
    """Marks are kept under it, and made again with it."""
    digest = hmac.new(b"secret", b'["ada", "04_training_loop"]', "sha256").digest()
    assert student_seed("secret", "ada", "04_training_loop") == int.from_bytes(digest, "big") >> 192 | 1 << 63


def test_trials_of_long_seeds_have_long_seeds_and_those_of_short_ones_stay_as_they_were():
    for seed in (0, 7, SHORT_SEEDS - 1):
        digest = sha256(f"train_epoch/{seed}".encode()).digest()
        assert trial_seed("train_epoch", seed) == int.from_bytes(digest[:4], "big") >> 1
    long = [trial_seed("train_epoch", SHORT_SEEDS + k) for k in range(100)]
    assert len(set(long)) == 100
    assert 2**59 < max(long) < 2**60


def test_each_student_of_a_class_gets_other_problems_and_no_job_holds_the_secret(tmp_path):
    jobs = jobs_of(class_with(tmp_path, config_text(SECRET)))
    assert [job.seed for job in jobs] == [student_seed(SECRET, job.student, job.unit) for job in jobs]
    assert len({job.seed for job in jobs}) == len({job.key for job in jobs}) == 2
    assert not [job for job in jobs if SECRET.encode() in pickle.dumps(job)]


@pytest.mark.parametrize("line", ["c.MarkSubmission.seed = 5", ""])
def test_a_class_that_has_a_seed_but_no_secret_keeps_its_problems(tmp_path, line):
    configuration = config_text("").replace('c.MarkSubmission.secret = ""', line)
    assert "secret = " not in configuration
    jobs = jobs_of(class_with(tmp_path, configuration))
    assert {job.seed for job in jobs} == {5 if line else 0}
