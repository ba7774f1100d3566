"""The mistakes that only exercises of unit 07 show, and what students are told about them."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

for _slug, _message, _hint in (
    (
        "nothing-replaced",
        "The result still has every BatchNorm of the given model.",
        "What does your function return? And which of its lines puts a new layer into that?",
    ),
    (
        "shallow-replace",
        "You replace the model's own children, but not their children: BatchNorms inside blocks are still there.",
        "A child may have children. How do you get to a layer that is three levels down? If you call your own function on "
        "a child, where does what it returns go?",
    ),
    (
        "path-as-name",
        "You use a path such as '1.0' as the name of a child. That adds a child with this name, "
        "and the BatchNorm stays where it is.",
        "Which module has the BatchNorm as a child, and under what name? get_submodule finds a module by its path.",
    ),
    (
        "froze-affine",
        "A new GroupNorm's weight or bias has requires_grad=False, so it can no longer be trained.",
        "Which of your lines makes the new parameter, and what does it say about requires_grad?",
    ),
    (
        "result-in-other-mode",
        "Your result, or a part of it, is not in the mode (training or evaluation) of the model it was made from.",
        "What decides the mode of the result? Do you need to call train() or eval() at all?",
    ),
    ("misses-batchnorm2d", "You replace BatchNorm1d and leave BatchNorm2d.", "Which classes are you asked to replace?"),
    ("misses-batchnorm1d", "You replace BatchNorm2d and leave BatchNorm1d.", "Which classes are you asked to replace?"),
    ("not-groupnorm", "You put something other than an nn.GroupNorm in BatchNorm's place.", "Which layer were you asked for?"),
    ("wrong-groups", "Not all of your GroupNorms have num_groups groups.", "What is the first argument of nn.GroupNorm?"),
    (
        "changes-other-layers",
        "You also change layers that are neither BatchNorm1d nor BatchNorm2d, or what they hold.",
        "Does every other layer come from the given model, values included?",
    ),
    (
        "loses-affine",
        "A learned weight or bias is lost: your GroupNorms start from ones and zeros or from something else, or have none.",
        "BatchNorm and GroupNorm both have a weight and a bias for each channel. Who copies them?",
    ),
    (
        "adds-affine",
        "A BatchNorm with affine=False became a GroupNorm with a weight or a bias.",
        "nn.GroupNorm takes affine as well. Where can you read what the old layer had?",
    ),
    (
        "wrong-dtype",
        "One of your GroupNorms differs from its BatchNorm in dtype or device.",
        "Which dtype and device does a new layer have, and which the tensor that you copy? Is anything converted later?",
    ),
    (
        "mutates-original",
        "You change the model you were given.",
        "The caller still needs the given model. What could you work on instead?",
    ),
    (
        "shares-parameters",
        "Parameters of the result use the memory of the given model's: if you change one, you change the other.",
        "Which of your steps makes new tensors, and which only gives old ones a new name?",
    ),
    (
        "momentum-unchanged",
        "You leave BatchNorm's momentum as it is, so the running statistics forget N times as fast as with the large batch.",
        "How much of the old running mean is left after one pass? And after N of them?",
    ),
    (
        "momentum-divided",
        "You divide the momentum by N. That is close as long as it is small, but what each pass leaves is multiplied.",
        "What is left of the old running mean after N passes with your momentum? It should be 1 − momentum.",
    ),
    (
        "matched-wrong-way",
        "You make the momentum larger. It has to become smaller, because it now acts N times.",
        "N passes do more than one. How little may each of them do if together they are to do as much as one with `momentum`?",
    ),
    (
        "kept-not-taken",
        "You mix up what is taken from the batch, the momentum, with what is kept of the old value, 1 − momentum.",
        "Which of the two multiplies from pass to pass? Take the root of that one. How much is then taken from the batch?",
    ),
    (
        "beta-unchanged",
        "You leave β as it is. Counted in updates the memory stays the same, but counted in samples it is N times as long.",
        "How much is left of an old gradient after N small updates? One large update should leave as much.",
    ),
    (
        "passes-off-by-one",
        "Your formula is the right one for N − 1 or N + 1 instead of N.",
        "Try N = 2 on paper: how many factors are multiplied?",
    ),
    ("beta-divided", "You divide β by N, but what is left of an old gradient is a product.", "What is left after N updates?"),
    (
        "beta-wrong-way",
        "You bring β closer to 1, which makes the memory longer still.",
        "One update now stands for N. Does it have to forget more than one of the N did, or less?",
    ),
    (
        "beta-is-kept",
        "You mix up what an update keeps of a gradient, which is β itself, with what it forgets, 1 − β.",
        "Is an optimizer's β what is kept or what is taken? And BatchNorm's momentum? Which multiplies from update to update?",
    ),
    (
        "beta-first-order",
        "You multiply what is forgotten, 1 − β, by N. What comes of it is close where N · (1 − β) is small, but not exact.",
        "Two updates with β = 0.5 leave a quarter. What does your formula leave?",
    ),
    (
        "sound-layer-blamed",
        "You blame a layer that treats each sample on its own: its gradient for a batch is the mean of the samples' gradients.",
        "Does the output for one sample depend on which others are in the batch?",
    ),
    (
        "batchnorm-trusted",
        "You trust BatchNorm in training, which normalizes with the mean and variance of the micro-batch it sees.",
        "Does the output for one sample depend on which others are in the batch?",
    ),
    (
        "optimizer-blamed",
        "You blame an optimizer that receives the large batch's gradient once per window: it cannot tell the difference.",
        "What does the optimizer see of a window? And what does it see of a large batch?",
    ),
    (
        "many-updates-trusted",
        "You trust a loop that updates after every micro-batch. Its later gradients are taken at other parameters.",
        "At which parameters is the second micro-batch's gradient taken?",
    ),
    (
        "window-clip-blamed",
        "You blame clipping that happens once, to the gradient the large batch would have given.",
        "What is in .grad at the moment it is clipped?",
    ),
    (
        "micro-clip-trusted",
        "You trust clipping after every micro-batch: it shortens sums that are not complete yet.",
        "Which gradient does the large batch clip? Is it ever in .grad here?",
    ),
    (
        "contrastive-trusted",
        "You trust a loss that compares every sample with all others of its batch: micro-batches have fewer others.",
        "With how many others is a sample compared in a micro-batch, and with how many in the large batch?",
    ),
):
    add_mistake(_slug, _message, _hint)
