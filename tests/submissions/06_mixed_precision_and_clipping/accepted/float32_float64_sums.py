"""Sums in float64 and returns float32."""

EXERCISE = "accumulate_in_float32"


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals, samples = {}, 0
    for x, y in micro_batches:
        model.zero_grad(set_to_none=True)
        (loss_fn(model(x), y) * len(x)).backward()
        samples += len(x)
        for name, p in model.named_parameters():
            totals[name] = totals.get(name, 0) + p.grad.double()
    return {name: (total / samples).float() for name, total in totals.items()}
