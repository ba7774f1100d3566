"""The mistakes that only exercises of unit 13 show, and what students are told about them."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "one-name-for-all",
    "Your function gives every fingerprint the same name.",
    "Begin with one thing that tells two of them apart: the number of updates, or what a row adds up to.",
)
add_mistake(
    "tokens-not-read",
    "Your names would be right if all micro-batches held equally many tokens. They do not.",
    "Which share is due to a micro-batch with twice the tokens of the others?",
)
add_mistake(
    "leftover-not-read",
    "You call trainers right that lose a leftover window, or divide it by N, as if you read full windows only.",
    "Which micro-batches are in no update? What does the last row add up to?",
)
add_mistake(
    "test-passes-all",
    "Every trainer here passes your test.",
    "A test that cannot fail says nothing. Try it on a trainer that never divides.",
)
add_mistake(
    "test-passes-none",
    "No trainer here passes your test.",
    "Try it on a trainer that you have repaired.",
)
add_mistake(
    "test-without-steps",
    "Your test accepts an update after every micro-batch.",
    "How should watch know how many micro-batches an update was meant to hold?",
)
add_mistake(
    "test-passes-untold",
    "Your test passes trainers for which watching cannot tell what their updates hold.",
    "There are three outcomes. Which one of them is a pass?",
)
add_mistake(
    "test-without-leftover",
    "Your test passes trainers that lose a leftover window, or divide it by N.",
    "Does your test watch all of the run, to its end?",
)
