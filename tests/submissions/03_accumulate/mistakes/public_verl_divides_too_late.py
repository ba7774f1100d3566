"""A helper goes backward; its caller divides the loss that comes back."""

STYLE = "a fine-tuning trainer (verl)"
REPORT = "the loss is divided after its backward, when it is too late"
SOURCE = "https://github.com/verl-project/verl/pull/436"
PREDICTED = ("no-scale",)
EXERCISE = "accumulate_gradient"
MISTAKES = ("no-scale",)
LOST = ("equal", "ragged", "clean", "memory")


def loss_and_backward(model, loss_fn, batch):
    inputs, target = batch
    loss = loss_fn(model(inputs), target)
    loss.backward()
    return loss.detach()


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    micro_batches = list(micro_batches)
    step_loss = 0.0
    for micro_batch in micro_batches:
        loss = loss_and_backward(model, loss_fn, micro_batch) / len(micro_batches)
        step_loss += loss.item()
