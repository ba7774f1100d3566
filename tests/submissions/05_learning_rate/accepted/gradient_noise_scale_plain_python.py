"""Sums of products in plain Python."""

EXERCISE = "gradient_noise_scale"


def gradient_noise_scale(micro_gradients, micro_batch_size):
    rows = [gradient.tolist() for gradient in micro_gradients]
    n, b = len(rows), micro_batch_size
    small = sum(value * value for row in rows for value in row) / n
    large = sum((sum(column) / n) ** 2 for column in zip(*rows, strict=True))
    noise = (small - large) * b * n / (n - 1)
    return noise / (small - noise / b)
