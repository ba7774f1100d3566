"""The mistakes that only exercises of unit 08 show, and what students are told about them."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "weights-left-out",
    "You count targets, although each target counts with the weight of its class.",
    "With reduction='sum', by what is the loss of a single target multiplied?",
)
add_mistake(
    "counts-ignored",
    "Your denominator includes targets that are ignored.",
    "What do ignored targets add to the sum of the losses?",
)
add_mistake(
    "weights-of-classes",
    "You add up the weights of the classes, however often each class occurs among the targets.",
    "If a class occurs ten times, how often is its weight in the sum of the losses?",
)
add_mistake(
    "counts-micro-batches",
    "Your denominator is the number of micro-batches, so you take the mean of their sums.",
    "How many targets share the sum you divide?",
)
add_mistake(
    "mean-of-denominators",
    "You divide the denominator by the number of micro-batches: it is that of an average micro-batch, not of the window.",
    "The sum runs over the whole window. What should its denominator run over?",
)
add_mistake(
    "first-class-left-out",
    "You leave out targets of class 0, which is a class like any other.",
    "Which targets are ignored: those that are 0, or those that are ignore_index?",
)
add_mistake(
    "counts-rows",
    "You count rows, but targets may have several dimensions: a row then holds several targets.",
    "What does len say of a tensor with two dimensions, and how many elements does it have?",
)
add_mistake(
    "micro-batches-left-out",
    "At least one micro-batch of the window is missing from your denominator.",
    "The sum runs over the whole window. What should its denominator run over?",
)
