"""Writes into a leaf that autograd watches. No named mistake: the error says it."""

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update", "frozen", "clean", "loss")


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    for p in model.parameters():
        if p.grad is not None:
            p -= lr * p.grad
    model.zero_grad()
    return loss.item()
