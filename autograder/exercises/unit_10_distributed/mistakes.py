"""The mistakes that only exercises of unit 10 show, and what students are told about them."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

for _slug, _message, _hint in (
    (
        "sync-every",
        "As much travels between your ranks as if gradients were shared after every micro-batch: N all-reduces per window "
        "where one would do, which costs time.",
        "Which of a window's backward passes is the only one that has to talk to the other ranks?",
    ),
    (
        "sync-again",
        "Your ranks take part in more exchanges, or in larger ones, than one all-reduce of the gradients of each window.",
        "What do your ranks exchange, how often, and who asks for it: DistributedDataParallel, you, or both?",
    ),
    (
        "sync-around-backward-only",
        "Sharing is switched off too late, for a backward pass but not for its forward pass, so that micro-batch still "
        "costs an all-reduce.",
        "DistributedDataParallel prepares its all-reduce in the forward pass. When must sharing be switched off, then?",
    ),
    (
        "never-sync",
        "On at least one rank, no update holds a gradient that another rank has computed for the same window.",
        "Which call tells the others: that of the wrapped model, or of the model inside it? In which micro-batch of a window "
        "must sharing not be switched off?",
    ),
    (
        "sync-wrong-one",
        "Only part of a window is shared: the gradients of some of its micro-batches stay with their rank, and the ranks drift "
        "apart.",
        "An all-reduce shares what is in .grad at that moment. Which micro-batch of the window has to trigger it?",
    ),
    (
        "windows-not-synced",
        "Some updates share their gradient and others do not at all: these use each rank's own gradient, and the ranks drift "
        "apart.",
        "Which micro-batches trigger an all-reduce in your code? Does every window have one of them?",
    ),
    (
        "shared-out-again",
        "Some of each rank's own micro-batches are in no update, as if you divided among the ranks once more what has been "
        "divided already.",
        "Whose micro-batches are in the list that a rank is given?",
    ),
    (
        "one-rank-for-all",
        "All ranks follow the gradients of a single rank, and the samples of the others count for nothing.",
        "Which operation takes something from every rank?",
    ),
    (
        "tail-not-synced",
        "A leftover window is not shared: its update uses each rank's own gradient, and the ranks drift apart.",
        "Which micro-batch is the last one of a window that has fewer than N?",
    ),
    (
        "ranks-update-apart",
        "The ranks do not make the same number of updates: at times one calls step and another does not.",
        "Every rank has its own model. Who moves the parameters of the others?",
    ),
    (
        "rank-sum",
        "Each update comes out W times as long as it otherwise would, where W is the number of ranks, as if gradients were "
        "added up over the ranks instead of averaged.",
        "What does your all-reduce compute, what does DistributedDataParallel already do, and what goes backward how often?",
    ),
    (
        "rank-divided-twice",
        "Each update comes out 1/W times as long as it otherwise would, where W is the number of ranks, as if you divided by "
        "W twice.",
        "DistributedDataParallel already averages over the ranks. Who else divides?",
    ),
    (
        "ranks-call-apart",
        "In some calls of your function a rank leaves out a call of torch.distributed that others make. It then answers theirs "
        "with the next that it makes.",
        "What does a rank without tokens still have to do, so that the others learn their sum?",
    ),
    (
        "local-tokens-only",
        "Your factor knows nothing of the other ranks' tokens.",
        "How does a rank learn how many tokens there are on all ranks together?",
    ),
    (
        "world-size-missing",
        "Your factor is the rank's share of all tokens. DistributedDataParallel then averages, which makes the result W times "
        "too small, where W is the number of ranks.",
        "Add up your factors over the ranks and divide by their number, as the average does. It should come out as 1.",
    ),
    (
        "count-overwritten",
        "Where there are tokens, every rank gets the same factor, however many of them it has. That happens if the "
        "all-reduce overwrites its own count with the sum, for instance.",
        "all_reduce works in place. Which of your tensors holds the sum afterwards, and which your own count? You need both.",
    ),
    (
        "scale-upside-down",
        "Your fraction is upside down: ranks with few tokens count most.",
        "Should a rank with more tokens than the others weigh more or less?",
    ),
    (
        "scale-for-sums",
        "Your factor does not grow with the rank's own number of tokens, as if its loss were a sum; here it is a mean.",
        "How do you get from a rank's mean loss to its sum?",
    ),
    (
        "world-size-fixed",
        "With three ranks your factor has a 2 where the number of ranks is due.",
        "Ask torch.distributed how many ranks there are.",
    ),
    (
        "world-size-twice",
        "The number of ranks is in your factor twice.",
        "Is the total by which you divide a sum over ranks or a mean?",
    ),
    (
        "same-factor-for-all",
        "Your factor is a number of tokens, the same on every rank that has some, not a rank's share.",
        "Which rank should weigh more than the others, and by how much?",
    ),
    (
        "empty-not-a-number",
        "Where no rank has tokens your factor is no finite number, as if it were 0/0.",
        "What do you divide by when there is nothing to average?",
    ),
):
    add_mistake(_slug, _message, _hint)
