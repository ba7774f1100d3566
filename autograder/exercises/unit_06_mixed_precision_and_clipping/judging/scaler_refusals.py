"""The mistake of a loop that its gradient scaler refuses to go on with."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.contract.observation import Observation


def mistakes_before_refusal(observations: Sequence[Observation], accumulation_steps: int) -> tuple[str, ...]:
    """The mistake of a loop that the scaler stops, from the calls that the loop had made before; empty if it is unknown."""
    stopped = [seen for seen in observations if seen.failure and seen.failure.kind == "raised"]
    if not stopped or not stopped[0].facts:  # nothing was counted of a function that ended the program
        return ()
    facts, several = stopped[0].facts, stopped[0].facts["backwards"] > accumulation_steps
    if facts["converted"]:
        return ("model-converted",)
    if facts["last_calls"] == ["scaler_updates", "scaler_steps", "unscales"]:
        return ("scaler-update-early",)
    if facts["last_calls"][-2:] in (["scaler_steps", "unscales"], ["scaler_steps"] * 2) and facts["scaler_updates"]:
        return ("scaler-update-missing",)
    if len(stopped) < len(observations):
        return ()
    unscales, steps, updates = (facts[name] for name in ("unscales", "scaler_steps", "scaler_updates"))
    every = facts["backwards"] == 2  # stopped at the second micro-batch of a window, which holds more
    if updates == 1 and not unscales and facts["backwards"]:
        return ("scaler-update-every",) if facts["backwards"] == 1 else ("unscale-missing",)
    if unscales >= 2 and not steps and not updates:
        return ("scaler-update-missing",) if several else ("unscale-each",) * every
    if steps and not updates:
        return ("scaler-update-missing",) if several else ("scaler-step-every",) * every
    return ()
