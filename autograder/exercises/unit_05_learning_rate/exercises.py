"""Unit 05, learning rate: what changes when the effective batch changes?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import probe_length, trial_random, uneven_sizes
from autograder.contract.verdict import Part, Verdict
from autograder.diagnosing.loop_diagnosis import diagnose
from autograder.exercises.unit_05_learning_rate.judging.noise import noise_in_words, window_message, wrong_formula
from autograder.exercises.unit_05_learning_rate.judging.rules import (
    RATES_IN_WORDS,
    SIZES_IN_WORDS,
    WRONG_RATES,
    WRONG_SIZES,
    effective_batch_size,
    given_and_due,
    refuse_float,
    scaled_rate,
)
from autograder.exercises.unit_05_learning_rate.judging.schedules import (
    MADE_UP_FOR,
    SCALED_RATES,
    at_due_rates,
    cut_message,
    movement_message,
    rates_in_words,
    rates_message,
    report_mistakes,
    scale_varies,
    schedule_mistakes,
)
from autograder.exercises.unit_05_learning_rate.observing import NoiseTrial, ScheduleTrial
from autograder.judging.calls import judge_calls
from autograder.judging.failures import first_failure
from autograder.judging.large_batches import JOINED, for_one, training_in_words
from autograder.judging.left_behind import MODEL, kept_message
from autograder.observing.calls import CallTrial
from autograder.observing.loops import LoopTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import Problem, best_dtype

UNIT = "05_learning_rate"

PUBLISHED = (
    ((128, 1, 8), 1024),
    ((128, 2, 8), 2048),
    ((128, 4, 8), 4096),
    ((64, 8, 8), 4096),
    ((256, 1, 4), 1024),
    ((256, 4, 4), 4096),
)
"""Micro-batch size per device, accumulation steps and devices, and the effective batch size a contrastive trainer's
documentation prints for them."""


class EffectiveBatchSize(Exercise[CallTrial]):
    """``effective_batch_size(micro_batch_size, accumulation_steps, world_size=1) -> int``."""

    id = "effective_batch_size"
    section = "The effective batch"
    unit = UNIT
    parts = (Part("sizes", "the sizes, the published table among them", 1), Part("nonsense", "refusing nonsense", 1))

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        b, n, w = (chance.randint(2, 40) for _ in range(3))
        large = chance.randint(20_000, 40_000)  # samples, so that one size is far above the published ones
        (*both, devices), _ = PUBLISHED[-1]
        good = [*(CallTrial(arguments) for arguments, _ in PUBLISHED[:-1]), CallTrial((*both,), {"world_size": devices})]
        # Without a world size twice: of 1 and 1, a sum makes 2 just as a second device does.
        good += [CallTrial((b, n, w)), CallTrial((1, 1)), CallTrial((large, b))]
        sizes = {f"size {k}": trial for k, trial in enumerate(good)}
        bad = {"zero": 0, "negative": -2, "fraction": 2.5, "text": "2", "none": None}
        refused = {
            f"{name} {k}": CallTrial(tuple(value if j == k else 4 for j in range(3)))
            for name, value in bad.items()
            for k in range(3)
        }
        refused |= {f"{name} 3": CallTrial((4, 4), {"world_size": value}) for name, value in bad.items()}
        return sizes | refused | {"negative 4": CallTrial((-2, -4))}

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        def part_of(name: str) -> str:
            return "sizes" if name.startswith("size") else "nonsense"

        whole = {name: refuse_float(seen) for name, seen in observations.items()}
        message = given_and_due(self.id, effective_batch_size)
        return judge_calls(
            *(self, trials, whole, part_of, effective_batch_size, WRONG_SIZES, message),
            described=SIZES_IN_WORDS,
            kind="an integer",
        )


class ScaleLearningRate(Exercise[CallTrial]):
    """``scale_learning_rate(lr, reference_batch, batch, rule) -> float``."""

    id = "scale_learning_rate"
    section = "Three rules"
    unit = UNIT
    parts = (Part("rules", "the three rules", 1.5), Part("unknown", "refusing an unknown rule", 0.5))

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        trials = {}
        for k, rule in enumerate(("none", "linear", "sqrt") * 4):
            reference = chance.choice([64, 128, 256])
            larger, smaller = (chance.choice([5, 7, 11]), 2), (3, chance.choice([4, 8]))
            times, over = (larger, (chance.choice([500, 900, 1000]), 1), smaller, (1, chance.choice([32, 64])))[k // 3]
            # Rates as of SGD and, far smaller, as of Adam.
            rate = round(chance.uniform(1e-4, 0.5), 5) if k % 2 else round(chance.uniform(1e-5, 9e-5), 9)
            trials[f"rule {k}"] = CallTrial((rate, reference, reference * times // over, rule))
        # The same rate for other batches: an answer that was looked up by it is then a wrong one.
        trials["rule 12"] = CallTrial((trials["rule 1"].arguments[0], *trials["rule 4"].arguments[1:]))
        others = ("cubic", "lin", "", "Linear", "SQRT", " none", "linear\n")
        unknown = {f"unknown {k}": CallTrial((0.1, 32, 64, rule)) for k, rule in enumerate(others)}
        # An unknown rule is one even where the batches leave it nothing to do, or would lower the rate.
        unknown |= {f"unknown {7 + k}": CallTrial((0.1, 32, batch, "cubic")) for k, batch in enumerate((32, 16))}
        unknown |= {
            f"unknown {9 + k}": CallTrial((0.1, 32, 64, rule))
            for k, rule in enumerate(("rsqrt", "root", "sqrt2", "none at all", "linear?", "sgd", "adam"))
        }
        return trials | unknown

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:

        def part_of(name: str) -> str:
            return name.split()[0].replace("rule", "rules")

        message = given_and_due(self.id, scaled_rate)
        # A root taken of a float32 tensor is right as well.
        return judge_calls(
            self,
            trials,
            observations,
            part_of,
            scaled_rate,
            WRONG_RATES,
            message,
            tolerance=1e-6,
            described=RATES_IN_WORDS,
        )


class TrainWithSchedule(Exercise[ScheduleTrial]):
    """``train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps) -> list[float]``."""

    id = "train_with_schedule"
    section = "Schedules count updates"
    unit = UNIT
    parts = (
        Part("updates", "updates at the schedule's rates", 1.5),
        Part("leftover", "leftover windows and ragged micro-batches", 1),
        Part("rates", "the returned rates", 1.5),
    )

    def trials(self, seed: int, device: str) -> dict[str, ScheduleTrial]:
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4])
        left, uneven = chance.randint(2, n - 1), uneven_sizes(chance, [1, 2, 3, 4], n)
        basics = Problem(accumulation_steps=n, device=device, dtype=best_dtype(device), width=8)
        factors = tuple(chance.uniform(0.2, 1.0) for _ in range(40))  # in all digits, of which a result may lose none
        # Warmup may begin at 0; the third update and the fourth, of one epoch, have the same rate.
        level = (0.0, *factors[1:3], factors[2], *factors[4:])

        def trial(
            offset: int,
            *epochs: Iterable[int],
            frozen: bool = False,
            factors: tuple[float, ...] = factors,
            chained: bool = False,
            **options: Any,
        ) -> ScheduleTrial:
            options = {"skewed": True, "gated": True, "momentum": 0.0 if frozen else 0.5} | options
            problem = basics.with_(seed=seed + offset, epochs=tuple(map(tuple, epochs)), **options)
            return ScheduleTrial(LoopTrial(problem, frozen=frozen), factors, chained)

        full = [2] * (3 * n), [2] * n, [2] * (2 * n)
        every_kind = ([*uneven, *uneven[:left]], [2] * probe_length(2, n, left), [2] * (n - 1))
        return {
            "updates": trial(1, *full),
            # In float32, which a function may not turn into float64; without momentum, so that movements show the rates.
            "no accumulation": trial(5, [2] * 3, accumulation_steps=1, dtype="float32", momentum=0.0, outputs=1),
            "cut": trial(6, [3] * n, coupled=True, momentum=0.0),
            # Where the schedule stands after a short epoch shows in the next one.
            "leftover": trial(2, *every_kind, [2] * n, factors=level),
            "rates": trial(3, *full, frozen=True),
            "chained": trial(7, [2] * (2 * n), frozen=True, chained=True),
            "probe": trial(4, *every_kind, frozen=True),
        }

    def judge(self, trials: Mapping[str, ScheduleTrial], observations: Mapping[str, Observation]) -> Verdict:
        def message(name: str) -> str:
            return movement_message(trials[name], observations[name])

        single = trials["no accumulation"].loop.problem
        alone = for_one(message("no accumulation"), single)
        live = message("updates")
        moves = live or alone
        kept = kept_message(observations["updates"]) or kept_message(observations["no accumulation"], MODEL)
        results = {
            "updates": moves or kept or cut_message(trials["cut"], observations["cut"]),
            "leftover": message("leftover"),
        }
        results["rates"] = rates_message(trials["rates"], observations["rates"], not live)
        if not any(results.values()):
            for name in ("leftover", "chained"):
                results["rates"] = results["rates"] or rates_message(trials[name], observations[name], True)
        failure = first_failure(observations)
        if not (moves or results["leftover"]):
            slugs = report_mistakes(trials, observations) if results["rates"] else ()
            slugs += ("one-big-batch",) * (results["updates"] == JOINED)
            return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=failure)
        probe, seen = trials["probe"], observations["probe"]
        if seen.failure:
            found = diagnose(probe.loop, seen)
            return self.verdict(results, mistakes=tuple(map(mistake, found.slugs)), failure=failure)
        watched = {name: (trials[name], observations[name]) for name in ("probe", "rates")}
        right_on = None if live else trials["rates"]  # as long as "updates", without momentum
        schedule = schedule_mistakes(watched, right_on)
        # The rates of a schedule are not the optimizer's first one, so what was in .grad counts here and not the movement.
        gradients = seen.tensors["gradients"]
        found = diagnose(probe.loop, replace(seen, tensors=seen.tensors | {"movements": gradients * probe.loop.problem.lr}))
        if not schedule and any(slug.startswith("tail-") for slug in found.slugs):  # full windows alone show its rates
            schedule = schedule_mistakes({"rates": watched["rates"]}, right_on)
        made_up = False  # a rate may make up for a gradient
        if (found.slugs or found.remark) and (applied := at_due_rates(probe, seen)):
            whole = diagnose(probe.loop, applied)
            if made_up := not (whole.slugs or whole.remark):
                schedule = tuple(slug for slug in schedule if slug not in SCALED_RATES)
                lost = {"rates": live, "probe": results["leftover"]}  # by the trial with the same windows, frozen
                carried = all(scale_varies(*watched[name]) for name, said in lost.items() if said)
                found = replace(found, slugs=(), remark=MADE_UP_FOR) if carried and any(lost.values()) else whole
            elif found.slugs and not (schedule or moves):
                found, made_up = whole, True
        named = tuple(map(mistake, (*schedule, *found.slugs)))
        if named and not found.slugs and not found.remark:
            return self.verdict(results, mistakes=named, failure=failure)  # two equal fingerprints would say nothing
        in_words = (rates_in_words(trials[name], observations[name]) for name in ("rates", "probe"))
        of_rates = "" if schedule or made_up else next(filter(None, in_words), "")
        remark = " ".join(filter(None, (found.remark, of_rates)))
        if not (named or remark or made_up) and moves == alone:
            remark = for_one(rates_in_words(trials["no accumulation"], observations["no accumulation"]), single)
        if not (named or remark):
            moving = trials["updates"]
            remark = training_in_words(moving.loop, observations["updates"], moving.factors)
        return self.verdict(results, mistakes=named, failure=failure, expected=found.expected, found=found.found, remark=remark)


class GradientNoiseScale(Exercise[NoiseTrial]):
    """``gradient_noise_scale(micro_gradients, micro_batch_size) -> float``."""

    id = "gradient_noise_scale"
    section = "The noise scale, for free"
    unit = UNIT
    parts = (Part("value", "the simple noise scale, from the two unbiased estimates", 2),)

    def trials(self, seed: int, device: str) -> dict[str, NoiseTrial]:
        chance = trial_random(self.id, seed)
        several = chance.randint(6, 10)
        size = chance.choice([size for size in range(3, 9) if size != several])  # or one would pass for the other
        windows = {
            "two": (2, 4, 1.0, 1.0),
            "several": (several, size, 2.0, 1.0),
            "single samples": (16, 1, 0.5, 1.0),
            "negative": (5, 3, 2.0, 0.2),
            "short": (chance.randint(3, 5), 2, 1e-30, 1e-30),
        }
        return {name: NoiseTrial(seed + k, *window, device) for k, (name, window) in enumerate(windows.items())}

    def judge(self, trials: Mapping[str, NoiseTrial], observations: Mapping[str, Observation]) -> Verdict:
        messages = (window_message(trial, observations[name]) for name, trial in trials.items())
        message = next(filter(None, messages), "")
        failure = first_failure(observations)
        wrong = bool(message) and not failure
        slugs = wrong_formula(trials, observations) if wrong else ()
        remark = noise_in_words(trials, observations) if wrong and not slugs else ""
        return self.verdict({"value": message}, mistakes=tuple(map(mistake, slugs)), failure=failure, remark=remark)
