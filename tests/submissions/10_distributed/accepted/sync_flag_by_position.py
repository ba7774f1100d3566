"""Sets the flag that no_sync sets, as trainers of language models do."""

EXERCISE = "ddp_train_epoch"


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for start in range(0, len(micro_batches), accumulation_steps):
        window = micro_batches[start : start + accumulation_steps]
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad(set_to_none=False)
        for k, (x, y) in enumerate(window):
            model.require_backward_grad_sync = k == len(window) - 1
            loss = loss_fn(model(x), y) * (len(x) / samples)
            loss.backward()
        optimizer.step()
    model.require_backward_grad_sync = True
