"""The ways to treat a window when gradients are clipped or scaled, right and wrong, and the mistakes they make.

Mistakes in clipping and scaling are not a matter of weights alone, so a fingerprint does not show them. They are found by
example: loops with these mistakes are run on the same trials, until one does what the student's loop did.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gradaccum.diagnosis.search import Candidate, each_alone, fewest_first, pairs


class ClippingVariant(NamedTuple):
    """One way to write a loop that clips or scales. The defaults are right.

    Attributes:
        width: an update for every ``"N"`` micro-batches or after ``"every"`` one.
        weight: of a micro-batch: its ``"share"`` of the window's samples; ``"mean"``: one over those present; ``"steps"``: one
            over N; ``"tail"``: its size over N mean sizes; ``"one"``; ``"sum"``: its samples; ``"twice"``: divided again.
        tail: the leftover window is ``"applied"``, ``"dropped"`` or ``"kept"`` for the next epoch.
        clear: at the ``"start"`` of a window, at its ``"end"`` only, at ``"every"`` micro-batch, ``"never"``, or
            at the start after ``"short"`` gradients only.
        clip: ``"once"``, unscaled; ``"scaled"``; ``"never"``; ``"full"`` windows only; with a threshold too ``"high"`` by the
            window's micro-batches, or too ``"low"`` by these or its ``"low samples"``; ``"always"``, also what is shorter;
            ``"each"`` parameter on its own; after each ``"micro-batch"``, or there to the threshold times the scale
            (``"micro-batch scaled"``); each ``"group"`` of the optimizer on its own; before each backward (``"early"``) or the
            last one (``"one early"``); each component by ``"value"``; by the ``"largest"`` component, or the sum of their
            sizes (``"one norm"``), or by the ``"sum"`` of the parameters' norms; only ``"matrices"``; each micro-batch
            ``"alone"``, weighted before or after (``"alone in full"``); or what is longer makes no update (``"skipped"``). Not
            the gradient but the ``"rate"`` is lowered, or the ``"movement"`` is shortened.
        unscale: ``"once"``, ``"never"``, after ``"each"`` micro-batch, or then by hand, so that earlier ones are divided
            ``"again"``.
        step: through the ``"scaler"``, the optimizer's own (``"plain"``), or ``"both"``.
        update: the scale moves ``"once"`` per window, is doubled after ``"each"`` micro-batch or after every update
            (``"doubled"``), or ``"never"`` moves.
        scale: losses are multiplied by the ``"scaler"``, by its ``"first"`` scale of the epoch, or by nothing (``"none"``).
        autocast: around each ``"forward"``, or around the whole ``"epoch"``.
        infinite: windows with infinities go ``"through"`` the scaler, are ``"skipped"`` before it sees them, go through it and
            are not cleared afterwards (``"kept"``), or lose the micro-batches whose loss is infinite (``"left out"``). Or their
            infinite numbers become 0 (``"zeroed"``), the epoch ends with them (``"stopped"``), or the scale is set by hand
            (``"halved"``).
    """

    width: str = "N"
    weight: str = "share"
    tail: str = "applied"
    clear: str = "start"
    clip: str = "once"
    unscale: str = "once"
    step: str = "scaler"
    update: str = "once"
    scale: str = "scaler"
    autocast: str = "forward"
    infinite: str = "through"


NO_MISTAKE = Candidate(ClippingVariant(), ())

LOOP_MISTAKES: tuple[Candidate[ClippingVariant], ...] = (
    NO_MISTAKE,
    Candidate(ClippingVariant(weight="mean"), ("mean-of-means",)),
    Candidate(ClippingVariant(weight="one"), ("no-scale",)),
    Candidate(ClippingVariant(weight="tail"), ("tail-scale",)),
    Candidate(ClippingVariant(tail="dropped"), ("tail-dropped",)),
    Candidate(ClippingVariant(tail="kept", clear="end"), ("tail-stale",)),
    Candidate(ClippingVariant(clear="every"), ("zero-every",)),
    Candidate(ClippingVariant(clear="never"), ("never-zero",)),
    Candidate(ClippingVariant(clear="end"), ("stale-start",)),
    Candidate(ClippingVariant(weight="sum"), ("sum-reduction",)),
    Candidate(ClippingVariant(weight="twice"), ("double-scale",)),
    Candidate(ClippingVariant(weight="steps"), ("mean-of-means", "tail-scale")),
    Candidate(ClippingVariant(weight="mean", tail="dropped"), ("mean-of-means", "tail-dropped")),
    Candidate(ClippingVariant(weight="one", tail="dropped"), ("no-scale", "tail-dropped")),
    Candidate(ClippingVariant(weight="mean", tail="kept", clear="end"), ("mean-of-means", "tail-stale")),
    Candidate(ClippingVariant(weight="steps", tail="kept", clear="end"), ("mean-of-means", "tail-stale")),
    Candidate(ClippingVariant(weight="one", tail="kept", clear="end"), ("no-scale", "tail-stale")),
)
"""Loops with mistakes that any loop can have."""

CLIP_MISTAKES: dict[str, tuple[ClippingVariant, ...]] = {
    "not-clipped": (ClippingVariant(clip="never"),),
    "leftover-unclipped": (ClippingVariant(clip="full"),),
    "clip-per-micro-batch": (ClippingVariant(clip="micro-batch"),),
    "clip-too-early": (ClippingVariant(clip="early"), ClippingVariant(clip="one early")),
    "clip-by-value": (ClippingVariant(clip="value"),),
    "clip-per-parameter": (ClippingVariant(clip="each"),),
    "clip-always": (ClippingVariant(clip="always"),),
    "threshold-too-high": (ClippingVariant(clip="high"),),
    "threshold-too-low": (ClippingVariant(clip="low"), ClippingVariant(clip="low samples")),
}
"""For each mistake in clipping the loops that make it."""

CLIPPING_IN_WORDS: dict[str, tuple[ClippingVariant, ...]] = {
    "A window whose norm is above the threshold moves nothing, where it has to be clipped.": (ClippingVariant(clip="skipped"),),
    "You clip by the size of the largest number in the gradient, not by its length.": (ClippingVariant(clip="largest"),),
    "You clip by the sum of the sizes of all numbers in the gradient, not by its length.": (ClippingVariant(clip="one norm"),),
    "You clip the gradient of each parameter group of the optimizer on its own, not the whole.": (
        ClippingVariant(clip="group"),
    ),
    "Where the optimizer has two groups, you clip, and measure, only the first, the weights. The biases are left out.": (
        ClippingVariant(clip="matrices"),
    ),
    "You clip by the sum of the parameters' norms, where the norm of all of them as one vector is due.": (
        ClippingVariant(clip="sum"),
    ),
    "You clip the gradient of each micro-batch on its own, before it is added to the others.": (
        ClippingVariant(clip="alone"),
        ClippingVariant(clip="alone in full"),
    ),
    "You shorten the update and not the gradient, so what momentum keeps of the gradient is not clipped.": (
        ClippingVariant(clip="rate"),
        ClippingVariant(clip="movement"),
    ),
    "After a window whose norm is above the threshold, .grad is not cleared, so the next window's update holds it, too.": (
        ClippingVariant(clear="short"),
    ),
}
"""The same for rarer loops, by what they do."""

REPLACED = "You replace infinite numbers, or leave them out, so their window makes an update, where none is due."

SCALING_IN_WORDS: dict[str, tuple[ClippingVariant, ...]] = {
    "You clip, and measure, only parameters of several dimensions: biases are left out.": (ClippingVariant(clip="matrices"),),
    "After a window with infinite gradients, later windows of the epoch make no update, as if it had ended.": (
        ClippingVariant(infinite="stopped"),
    ),
    REPLACED: (ClippingVariant(infinite="zeroed"),),
    "After a window with infinite gradients you set the scale yourself, so the scaler goes on counting good updates.": (
        ClippingVariant(infinite="halved"),
    ),
    "Later windows use the epoch's first parameters, as in one autocast around several updates, which keeps its copies.": (
        ClippingVariant(autocast="epoch"),
    ),
    "Your scale doubles after every good update, although the scaler you are given would wait for more of them.": (
        ClippingVariant(update="doubled"),
    ),
    "You go on multiplying by the scale of the epoch's beginning after the scaler has changed its own.": (
        ClippingVariant(scale="first"),
    ),
    "After each backward you divide .grad by the scale, so early micro-batches are divided again and again.": (
        ClippingVariant(unscale="again"),
    ),
}
"""The same for rarer loops in mixed precision."""

SCALER_MISTAKES: dict[str, tuple[ClippingVariant, ...]] = {
    "clip-before-unscale": (ClippingVariant(clip="scaled"),),
    "clip-per-micro-batch": (ClippingVariant(clip="micro-batch scaled"),),
    "unscale-missing": (ClippingVariant(unscale="never", step="plain", update="never"),),
    "unscale-each": (ClippingVariant(unscale="each"),),
    "scaler-step-every": tuple(ClippingVariant(width="every", weight=weight) for weight in ("steps", "one", "share")),
    "scaler-update-every": (ClippingVariant(update="each"),),
    "inf-not-reported": (ClippingVariant(infinite="skipped"),),
    "inf-not-cleared": (ClippingVariant(infinite="kept"),),
    "inf-left-out": (ClippingVariant(infinite="left out"),),
    "steps-twice": (ClippingVariant(step="both"),),
    "inf-applied": (
        ClippingVariant(step="plain"),
        ClippingVariant(step="plain", update="never", unscale="never", scale="none"),
    ),
}
"""For each mistake with a scaler the loops that make it."""

COMMON = (("mean-of-means",), ("no-scale",), ("tail-dropped",))
"""The most common mistakes of any loop."""

RARE = ("clip-per-parameter", "clip-always", "threshold-too-high", "threshold-too-low", "inf-left-out", "steps-twice")
"""In mixed precision these are tried alone and with :data:`COMMON` mistakes only, for each trial takes its time."""


@cache
def clipping_candidates(loop_slugs: tuple[str, ...]) -> tuple[Candidate[ClippingVariant], ...]:
    """Loops with one mistake in clipping, and before them one with none.

    Args:
        loop_slugs: the mistakes of :data:`LOOP_MISTAKES` that the loop is known to make. All candidates make them as well, and
            do not name them; there are no candidates if these mistakes are not among them.
    """
    base = next((variant for variant, slugs in LOOP_MISTAKES if set(slugs) == set(loop_slugs)), None)
    if base is None:
        return ()
    return tuple(pairs([Candidate(base, ())], (NO_MISTAKE, *each_alone(CLIP_MISTAKES)), can_be_told))


@cache
def amp_candidates() -> tuple[Candidate[ClippingVariant], ...]:
    """Loops in mixed precision with one mistake of a kind, and with one of each kind; fewest mistakes first."""
    precise = (NO_MISTAKE, *each_alone(SCALER_MISTAKES), *each_alone(CLIP_MISTAKES))
    return fewest_first(pairs(LOOP_MISTAKES, precise, _can_meet))


def _can_meet(loop: Candidate[ClippingVariant], precise: Candidate[ClippingVariant]) -> bool:
    """Whether a mistake with scaler or clipping is looked for in a loop with these mistakes."""
    if loop.mistakes not in ((), *COMMON) and any(slug in RARE for slug in precise.mistakes):
        return False
    return can_be_told(loop, precise) and (precise.variant.width != "every" or loop == NO_MISTAKE)


def can_be_told(loop: Candidate[ClippingVariant], clipping: Candidate[ClippingVariant]) -> bool:
    """A threshold is too high or too low for a mean; if a loop forgets to divide, that cannot be told."""
    return loop.variant.weight not in ("one", "sum") or clipping.variant.clip not in ("high", "low", "low samples")
