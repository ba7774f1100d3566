"""A verdict has the same content as text and as HTML; it gives the next step and shows what the loop does."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from autograder.contract.observation import Failure
from autograder.contract.verdict import Verdict
from autograder.diagnosing.loop_diagnosis import diagnose
from autograder.exercises import all_exercises
from autograder.marking.in_process import mark_function
from autograder.observing.loops import LoopTrial, observe_loop
from autograder.showing import verdict_html
from autograder.showing.verdict_html import ELSEWHERE, as_html, as_text, mimebundle
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem

TRAIN = all_exercises()["train_epoch"]
UNWRITTEN = TRAIN.failed(Failure("unwritten", "Not written yet."))
MISSING = TRAIN.failed(Failure("missing", "There is no function called train_epoch."))
RIGHT = TRAIN.verdict({part.name: "" for part in TRAIN.parts})
ALL = ("wrong", "right but losses", "unwritten", "missing", "right")


@pytest.fixture(scope="module")
def wrong() -> Verdict:
    """The verdict on a loop with a named mistake."""
    return mark_function(TRAIN, GALLERY["no-scale"])


@pytest.fixture(scope="module")
def all_verdicts(wrong) -> dict[str, Verdict]:
    right_but_losses = mark_function(TRAIN, GALLERY["right"])
    return dict(zip(ALL, (wrong, right_but_losses, UNWRITTEN, MISSING, RIGHT), strict=True))


class WellFormed(HTMLParser):
    """Collects the text; fails if tags are not closed or are closed in the wrong order."""

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "style", "link", "img")
        assert not [name for name, _ in attributes if name.startswith("on")]
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def text_of(html: str) -> str:
    parser = WellFormed()
    parser.feed(html)
    assert not parser.open
    return " ".join(parser.text.split())


@pytest.mark.parametrize("kind", ALL)
def test_html_is_well_formed_and_self_contained(all_verdicts, kind):
    html = as_html(all_verdicts[kind])
    assert text_of(html)
    assert "http" not in html
    assert "url(" not in html


def test_the_headline_says_points_and_whether_it_is_right(wrong, all_verdicts):
    assert as_text(wrong).startswith("train_epoch: 1 of 6 points, not there yet")
    assert as_text(RIGHT).startswith("train_epoch: 6 of 6 points, right")
    assert as_text(UNWRITTEN).startswith("train_epoch: 0 of 6 points, not written yet")
    assert all(as_text(verdict).splitlines()[0] in text_of(as_html(verdict)) for verdict in all_verdicts.values())


def test_every_part_is_listed_with_its_points_and_what_is_missing(wrong):
    for result in wrong.results:
        assert result.part.title in as_text(wrong)
        assert result.part.title in text_of(as_html(wrong))
        assert result.message in as_text(wrong)
    assert "✓ 1/1  clean gradients" in as_text(wrong)
    assert "✗ 0/1  leftover windows" in as_text(wrong)


def test_mistakes_are_named_with_what_they_compute_and_a_hint(wrong):
    for said in (as_text(wrong), text_of(as_html(wrong))):
        assert mistake("no-scale").slug in said
        assert mistake("no-scale").message in said
        assert mistake("no-scale").hint in said


def test_html_gives_one_hint_at_a_time():
    two = Verdict("train_epoch", TRAIN.unit, RIGHT.results, mistakes=(mistake("no-scale"), mistake("tail-dropped")))
    said = text_of(as_html(two))
    assert mistake("no-scale").hint in said
    assert mistake("tail-dropped").message in said
    assert mistake("tail-dropped").hint not in said


def test_both_fingerprints_are_shown_in_text(wrong):
    text = as_text(wrong)
    expected, found = text.split("Fingerprint expected:\n")[1].split("\nFingerprint found:\n")
    assert expected == wrong.expected.as_text()
    assert found == wrong.found.as_text()
    assert expected != found


def test_a_failure_of_all_parts_is_told_once():
    assert as_text(MISSING).count("There is no function called train_epoch.") == 1
    assert text_of(as_html(MISSING)).count("There is no function called train_epoch.") == 1


def test_what_a_student_wrote_is_escaped():
    verdict = TRAIN.failed(Failure("raised", "Your code raised <script>alert(1)</script> & more."))
    assert "<script>" not in as_html(verdict)
    assert "<script>alert(1)</script> & more." in text_of(as_html(verdict))


def test_the_html_can_be_understood_without_colour(wrong):
    plain = re.sub(r"(color|background)[^;\"]*", "", as_html(wrong))
    assert "✗" in plain
    assert "✓" in plain


def test_a_kernel_gets_html_and_the_bare_score_for_nbgrader(monkeypatch, wrong):
    monkeypatch.setattr(verdict_html, "_in_kernel", lambda: True)
    assert mimebundle(wrong) == {"text/html": as_html(wrong), "text/plain": "1.0"}


def test_outside_a_kernel_the_verdict_is_shown_as_text(monkeypatch, wrong):
    monkeypatch.setattr(verdict_html, "_in_kernel", lambda: False)
    assert mimebundle(wrong)["text/plain"] == as_text(wrong) == str(wrong) == repr(wrong)
    assert wrong._repr_mimebundle_() == mimebundle(wrong)


def test_a_loop_without_updates_gets_a_verdict_that_shows_none():
    trial = LoopTrial(Problem(width=8), frozen=True)
    found = diagnose(trial, observe_loop(lambda *arguments: None, trial))
    verdict = Verdict("train_epoch", TRAIN.unit, RIGHT.results, expected=found.expected, found=found.found)
    assert "(no update)" in as_text(verdict)
    assert text_of(as_html(verdict))


def test_a_function_that_is_not_written_may_stand_in_another_cell():
    assert ELSEWHERE in as_html(UNWRITTEN)
    assert ELSEWHERE not in as_html(TRAIN.failed(Failure("raised", "It raised ValueError.")))


def test_a_verdict_on_a_file_that_was_handed_in_is_the_last_word_and_gives_no_advice_on_cells(all_verdicts):
    absent = TRAIN.failed(Failure("absent", "There is no cell for train_epoch in your file."))
    for verdict in (*all_verdicts.values(), UNWRITTEN, absent):
        said = text_of(as_html(verdict, handed_in=True))
        assert "yet" not in said
        assert ELSEWHERE not in said
    assert "0 of 6 points, not written" in text_of(as_html(UNWRITTEN, handed_in=True))
    assert "0 of 6 points, not in the fileThere is no cell" in text_of(as_html(absent, handed_in=True))
    assert "1 of 6 points, partly right" in text_of(as_html(all_verdicts["wrong"], handed_in=True))
    assert "0 of 6 points, not right" in text_of(as_html(MISSING, handed_in=True))
