"""The mistakes that only exercises of unit 10 show, and what students are told about them."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

for _slug, _message, _hint in (
    (
        "sync-every",
        "Your gradients travel after every micro-batch: N all-reduces per window where one would do. No update is another one "
        "for that, it only costs time.",
        "Which of a window's backwards is the only one that has to talk to the other ranks?",
    ),
    (
        "sync-again",
        "Your gradients travel more than once per window, where once would do.",
        "Who shares gradients in your code: DistributedDataParallel, you, or both?",
    ),
    (
        "sync-around-backward-only",
        "Your no_sync comes too late: it is on during the backward and off during the forward, so every micro-batch still "
        "costs an all-reduce.",
        "DistributedDataParallel prepares its all-reduce in the forward. What has to stand inside the with block?",
    ),
    (
        "never-sync",
        "No gradient ever reaches another rank: each rank trains a model of its own.",
        "Which call tells the others? In which micro-batch of a window must it not be switched off?",
    ),
    (
        "sync-wrong-one",
        "Only part of a window is shared: micro-batches after the all-reduce stay with their rank, and the ranks drift apart.",
        "An all-reduce shares what is in .grad at that moment. Which micro-batch of the window has to trigger it?",
    ),
    (
        "windows-not-synced",
        "Some windows are shared and others are not at all: their updates use each rank's own gradient, and the ranks drift "
        "apart.",
        "Which micro-batches trigger an all-reduce in your code? Is there one of them in every window?",
    ),
    (
        "shared-out-again",
        "Part of each rank's own micro-batches is never read. They are shared out among the ranks before you are called, and "
        "you share them out once more.",
        "Whose micro-batches are in the list that a rank is given?",
    ),
    (
        "one-rank-for-all",
        "All ranks follow the gradients of one of them, and what the others have computed is lost.",
        "Which operation takes something from every rank?",
    ),
    (
        "tail-not-synced",
        "The leftover window is never shared: its update uses each rank's own gradient, and the ranks drift apart.",
        "Which micro-batch is the last one of a window that has fewer than N?",
    ),
    (
        "ranks-update-apart",
        "The ranks do not make the same number of updates: some train, others stand by.",
        "Every rank has a model of its own. Who moves the parameters of the others?",
    ),
    (
        "rank-sum",
        "Gradients are added up over the ranks where their mean was due: each update is as many times too long as there are "
        "ranks.",
        "Which operation does your all-reduce do, and what does DistributedDataParallel do by itself?",
    ),
    (
        "rank-divided-twice",
        "The number of ranks divides twice: each update is as many times too short as there are ranks.",
        "DistributedDataParallel already averages over the ranks. Who else divides?",
    ),
    (
        "ranks-call-apart",
        "The ranks do not make the same calls: one returns without the all-reduce that another makes, which is then "
        "answered by the next that comes along.",
        "What does a rank without tokens still have to do, so that the others learn their sum?",
    ),
    (
        "local-tokens-only",
        "Your factor knows nothing of the other ranks' tokens.",
        "How does a rank learn how many tokens there are on all ranks together?",
    ),
    (
        "world-size-missing",
        "Your factor is the rank's share of all tokens. DistributedDataParallel then averages: the result is as many times too "
        "small as there are ranks.",
        "Add up your factors over the ranks and divide by their number, as the average does. It should come out as 1.",
    ),
    (
        "count-overwritten",
        "Every rank gets the number of ranks: all_reduce works in place, so the count of this rank is gone when you divide.",
        "What is in the tensor after all_reduce? What do you still need from before?",
    ),
    (
        "scale-upside-down",
        "Your fraction is upside down: ranks with few tokens count most.",
        "Should a rank with more tokens than the others weigh more or less?",
    ),
    (
        "scale-for-sums",
        "Your factor is right for losses that are summed over tokens; here each rank has the mean over its own.",
        "How do you get from a rank's mean loss to its sum?",
    ),
    (
        "world-size-fixed",
        "Your factor is right for two ranks only.",
        "Ask torch.distributed how many ranks there are.",
    ),
    (
        "world-size-twice",
        "The number of ranks is in your factor twice.",
        "Is the total you divide by a sum over ranks or a mean?",
    ),
    (
        "same-factor-for-all",
        "Your factor is a number of tokens, the same on every rank, not a rank's share.",
        "Which rank should weigh more than the others, and by how much?",
    ),
    (
        "empty-not-a-number",
        "Where no rank has tokens your factor is 0/0, which is not a number.",
        "What do you divide by when there is nothing to average?",
    ),
):
    add_mistake(_slug, _message, _hint)
