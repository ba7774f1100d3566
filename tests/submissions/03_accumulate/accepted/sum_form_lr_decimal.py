"""Decimal arithmetic, and a Decimal returned."""

from decimal import Decimal

EXERCISE = "sum_form_lr"


def sum_form_lr(lr, accumulation_steps):
    return Decimal(lr) / accumulation_steps
