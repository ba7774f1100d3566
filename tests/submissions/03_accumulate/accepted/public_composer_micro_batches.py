"""Cuts a batch up and weighs each piece by its share of the samples."""

STYLE = "a trainer that cuts up batches (Composer)"
REPORT = "the loss of a micro-batch has to count by its share of the whole batch"
SOURCE = "https://github.com/mosaicml/composer/pull/3273"
EXERCISE = "accumulate_gradient"


def accumulate_gradient(model, loss_fn, micro_batches):
    micro_batches = list(micro_batches)
    batch_size = sum(len(inputs) for inputs, _ in micro_batches)
    model.zero_grad(set_to_none=True)
    for inputs, target in micro_batches:
        share = inputs.shape[0] / batch_size
        micro_loss = loss_fn(model(inputs), target)
        micro_loss.mul(share).backward()
