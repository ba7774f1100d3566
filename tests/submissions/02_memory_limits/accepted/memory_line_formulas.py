"""The textbook's formulas."""

EXERCISE = "memory_line"


def memory_line(sizes, bytes):
    n = len(sizes)
    s, b = sum(sizes) / n, sum(bytes) / n
    covariance = sum((size - s) * (held - b) for size, held in zip(sizes, bytes, strict=True))
    per_sample = covariance / sum((size - s) ** 2 for size in sizes)
    return b - per_sample * s, per_sample
