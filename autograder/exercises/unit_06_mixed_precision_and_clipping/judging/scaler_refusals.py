"""The mistake of a loop that its gradient scaler refuses to go on with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autograder.contract.observation import Observation
from gradaccum.diagnosis.catalogue import Mistake, mistake

NOT_UNSCALED_BEFORE = (
    "The scaler is not asked to unscale the gradients before you update it. Until then they are still multiplied by its scale "
    "unless you divide them yourself, and it has not looked for infinities in them."
)


def mistakes_before_refusal(observations: Sequence[Observation], accumulation_steps: int) -> tuple[Mistake, ...]:
    """The mistake of a loop that the scaler stops, from the calls that the loop had made before; empty if it is unknown."""
    slugs = _slugs(observations, accumulation_steps)
    named = {"unscale-missing": replace(mistake("unscale-missing"), message=NOT_UNSCALED_BEFORE)}
    return tuple(named.get(slug) or mistake(slug) for slug in slugs)


def _slugs(observations: Sequence[Observation], accumulation_steps: int) -> tuple[str, ...]:
    stopped = [seen for seen in observations if seen.failure and seen.failure.kind == "raised"]
    if not stopped or not stopped[0].facts:  # nothing was counted of a function that ended the program
        return ()
    facts, several = stopped[0].facts, stopped[0].facts["backwards"] > accumulation_steps
    if facts["converted"]:
        return ("model-converted",)
    match facts["last_calls"]:
        case [*_, "scaler_steps", "scaler_updates", "scaler_steps", "forwards", _]:
            return ()  # one step too many, as is the next
        case [*_, "scaler_updates", "unscales", "scaler_steps", "forwards", _]:
            return ()
        case [*_, "scaler_updates", "scaler_steps", "forwards", "unscales"]:
            return ("scaler-update-early",)
        case [*_, "scaler_steps", "forwards", "unscales" | "scaler_steps"] if facts["scaler_updates"]:
            return ("scaler-update-missing",)
    if len(stopped) < len(observations):
        return ()
    unscales, steps, updates = (facts[name] for name in ("unscales", "scaler_steps", "scaler_updates"))
    # Of micro-batches that were joined before they went through the model, none is seen.
    seen, backwards = facts["micro_batches_seen"], facts["backwards"]
    every = seen == backwards == 2  # stopped at the second micro-batch of a window, which holds more
    if updates == 1 and not unscales and backwards:
        return ("scaler-update-every",) if seen == backwards == 1 else ("unscale-missing",)
    if unscales >= 2 and not steps and not updates:
        return ("scaler-update-missing",) if several else ("unscale-each",) * every
    if steps and not updates:
        return ("scaler-update-missing",) if several else ("scaler-step-every",) * every
    return ()
