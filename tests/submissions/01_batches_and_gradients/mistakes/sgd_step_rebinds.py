"""Makes new tensors and forgets them."""

EXERCISE = "sgd_step"
MISTAKES = ("parameters-unmoved",)
LOST = ("update", "frozen", "clean")


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    for p in model.parameters():
        if p.grad is not None:
            p = p - lr * p.grad
    model.zero_grad()
    return loss.item()
