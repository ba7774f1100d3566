"""Divides by the number of micro-batches and fetches the next one before it goes backward."""

STYLE = "a GPT trainer (nanoGPT)"
REPORT = "no report: N is the right divisor as long as all micro-batches have one size"
SOURCE = "https://github.com/karpathy/nanoGPT/blob/master/train.py"
EXERCISE = "accumulate_gradient"
MISTAKES = ("mean-of-means",)
LOST = ("ragged",)


def accumulate_gradient(model, loss_fn, micro_batches):
    micro_batches = list(micro_batches)
    steps, stream = len(micro_batches), iter(micro_batches)
    model.zero_grad(set_to_none=True)
    x, y = next(stream)
    for micro_step in range(steps):
        loss = loss_fn(model(x), y)
        loss = loss / steps
        if micro_step < steps - 1:
            x, y = next(stream)
        loss.backward()
