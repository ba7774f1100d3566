"""Subtracts the mean from the gradients it was given, in place."""

EXERCISE = "gradient_noise_scale"
MISTAKES = ()
LOST = ("value",)


def gradient_noise_scale(micro_gradients, micro_batch_size):
    n = len(micro_gradients)
    mean = sum(micro_gradients) / n
    scatter = 0
    for gradient in micro_gradients:
        gradient -= mean
        scatter += gradient.dot(gradient)
    noise = scatter / (n - 1)
    return float(micro_batch_size * noise / (mean.dot(mean) - noise / n))
