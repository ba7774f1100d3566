"""Exact arithmetic, and a pair of Fractions returned."""

from fractions import Fraction

EXERCISE = "memory_line"


def memory_line(sizes, bytes):
    n, total, held = len(sizes), Fraction(sum(sizes)), Fraction(sum(bytes))
    products = sum(size * one for size, one in zip(sizes, bytes, strict=True))
    per_sample = (n * products - total * held) / (n * sum(size**2 for size in sizes) - total**2)
    return (held - per_sample * total) / n, per_sample
