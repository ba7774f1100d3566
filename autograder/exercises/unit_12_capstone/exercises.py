"""Unit 12, capstone: train a small GPT inside a memory budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_12_capstone.judging.batch_sizes import (
    divisors,
    in_integers,
    largest,
    side_in_words,
    size_in_words,
    size_message,
    size_mistakes,
)
from autograder.exercises.unit_12_capstone.judging.diagnosis import run_mistakes, window_in_words, window_mistakes
from autograder.exercises.unit_12_capstone.judging.messages import (
    LAST_STOP,
    LEFT_A_FILE,
    ONE_BY_ONE,
    TRAINED_AGAIN,
    UNKNOWN,
    budget_message,
    budget_mistake,
    digits_lost,
    digits_message,
    entered_otherwise,
    history_message,
    left_message,
    leftover_message,
    movement_in_words,
    nearly_message,
    other_size,
    repeated_mistake,
    resume_message,
    run_message,
    stepped_otherwise,
    weights_message,
)
from autograder.exercises.unit_12_capstone.judging.references import (
    bytes_needed,
    large_run_due,
    large_windows_due,
    run_due,
    updates_after_every,
)
from autograder.exercises.unit_12_capstone.judging.reports import report_mistakes
from autograder.exercises.unit_12_capstone.observing import CHECKPOINTS, RunTrial, WindowTrial
from autograder.judging.calls import judge_calls, remembered
from autograder.judging.token_words import in_tokens
from autograder.observing.calls import CallTrial
from gradaccum.capstone.config import Config
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import best_dtype

UNIT = "12_capstone"

CLIPPED_LEFTOVER = (
    "A run whose leftover window is clipped does not end with the weights due. One whose leftovers are not clipped does."
)

NAN_STAYS = (
    "Where .grad holds NaN before the first window, your weights are not those due: NaN stays NaN in every product, "
    "sum and difference."
)

IDLE = 1000.0
"""A clipping threshold that no gradient of these runs reaches; their norms are about 0.5."""

BINDING = 0.02
"""A clipping threshold below all norms, and below the largest component, so that clipping by value changes gradients too."""


class PickMicroBatchSize(Exercise):
    """``pick_micro_batch_size(config) -> int``: the largest one that fits."""

    id = "pick_micro_batch_size"
    section = "The budget"
    unit = UNIT
    parts = (
        Part("fits", "never more than the budget", 1),
        Part("largest", "the largest that fits", 1),
        Part("refuse", "a ValueError when nothing fits", 1),
    )

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)
        config = _with_long_lines_last(Config(seed % 2**31, lines=59, width=8, device=device, dtype="float32"))

        def trial(window: int, place: int, spare: int, **changes: int) -> CallTrial:
            return of_size(window, divisors(window)[place], spare, **changes)

        def of_size(window: int, size: int, spare: int, **changes: int) -> CallTrial:
            own = {18: 3, 30: 5, 36: 4, 42: 14}[
                window
            ]  # 3 comes before the first number that does not divide 30; 14 does not fit
            changed = config.with_(effective_batch=window, micro_batch_size=own, **changes)
            return CallTrial((changed.with_(budget=bytes_needed(changed, size) + spare),))

        return {
            "fits 1": trial(18, -2, -1),
            "fits 2": trial(30, 1, -1),
            "fits 3": trial(42, 2, -1, width=32),  # its bytes do not lie on a line
            "fits 4": of_size(42, 11, 0),  # far below 14, to which 42 // 11 micro-batches would lead
            "largest 1": trial(18, 2, 0, width=32),  # what was measured of another model does not help here
            "largest 2": trial(30, 0, chance.randint(0, 1000)),
            "largest 3": trial(42, 1, 0),
            "largest 4": trial(18, -1, 0, longest=20),  # nor what was measured of another text
            "largest 5": of_size(36, 6, 0),  # the root of a square is a divisor without a partner
            "refuse": trial(30, -1, -1, width=32),  # one line needs more than the line through several says
        }

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        refusal = "The longest line alone needs one byte more than the budget, and your function raises no ValueError."
        part_of = lambda name: name.split()[0]  # noqa: E731
        seen = {name: in_integers(one) for name, one in observations.items()}
        verdict = judge_calls(self, trials, seen, part_of, largest, {}, size_message, refusal=refusal)
        if all(result.passed for result in verdict.results if result.part.name != "refuse"):
            return verdict
        results = {result.part.name: result.message for result in verdict.results}
        if all("raised" in one.facts for one in seen.values()):
            results["refuse"] = "Every budget ends in an error. This can be judged once a size is returned where one fits."
        named = tuple(map(mistake, size_mistakes(trials, seen)))
        window_of = lambda trial: trial.arguments[0].effective_batch  # noqa: E731
        remark = ""
        if not named:
            remark = size_in_words(trials, seen) or remembered(trials, seen, largest, window_of)
            remark = remark or side_in_words(trials, seen)
        return self.verdict(results, mistakes=named, failure=verdict.failure, remark=remark)


def _with_long_lines_last(config: Config) -> Config:
    """The config with the next seed for which all full micro-batches of 15 lines are narrower than the ragged one."""
    config = config.with_(effective_batch=15, micro_batch_size=15)
    widest = lambda epoch: max(range(4), key=[x.shape[1] for x, _ in config.micro_batches(epoch)].__getitem__)  # noqa: E731
    while any(widest(epoch) < 3 for epoch in range(config.epochs)):
        config = config.with_(seed=config.seed + 1)
    return config


ALONE = "With a single micro-batch in a window"
SHORT = "Where every other window has a single micro-batch"

PADDED = ("uneven", "single")
"""Trials whose lines are not equally long."""


class TrainWindow(Exercise):
    """``train_window(run, window, max_norm) -> None``: one update and its entry in the history."""

    id = "train_window"
    section = "Explore: where a run parts from the large batch"
    unit = UNIT
    parts = (
        Part("full", "micro-batches of equal lines", 2),
        Part("uneven", "padding, ragged micro-batches and leftovers", 2),
        Part("clip", "one clip per update", 1),
        Part("schedule", "one step of the schedule per update", 1),
        Part("report", "honest numbers", 2),
    )

    def trials(self, seed: int, device: str) -> dict[str, WindowTrial]:
        chance = trial_random(self.id, seed)
        size = chance.choice([2, 3])
        window = size * chance.choice([3, 4])
        config = Config(
            micro_batch_size=size, effective_batch=window, device=device, dtype=best_dtype(device), max_norm=IDLE, epochs=1
        )
        equal: dict[str, Any] = {"shortest": 16, "longest": 16}
        sgd: dict[str, Any] = {"optimizer": "sgd", "lr": 0.1}
        seeds = [(8 * seed + k) % 2**31 for k in range(4)]
        return {
            "full": WindowTrial(config.with_(seed=seeds[0], lines=3 * window, **equal, **sgd), stale=1.0),
            "uneven": WindowTrial(config.with_(seed=seeds[1], lines=2 * window + size + 1, **sgd), stale=1.0),
            "clip": WindowTrial(
                config.with_(seed=seeds[2], lines=3 * window, **equal, optimizer="sgd", lr=1.0, max_norm=BINDING)
            ),
            "schedule": WindowTrial(config.with_(seed=seeds[3], lines=6 * window, **equal, **sgd, warmup=2, decay=True)),
            "single": WindowTrial(config.with_(seed=seeds[1], lines=2 * size, effective_batch=size, **sgd)),
            "leftover schedule": WindowTrial(
                config.with_(
                    seed=seeds[3],
                    lines=3 * size,
                    effective_batch=2 * size,
                    epochs=2,
                    **equal,
                    **sgd,
                    warmup=2,
                    decay=True,
                    max_norm=BINDING,
                )
            ),
            "nan": WindowTrial(config.with_(seed=seeds[0], lines=window, **equal, **sgd), stale=math.nan),
        }

    def judge(self, trials: Mapping[str, WindowTrial], observations: Mapping[str, Observation]) -> Verdict:
        due = {name: large_windows_due(trial) for name, trial in trials.items()}
        results = {name: weights_message(observations[name], due[name], trials[name].config) for name in trials}
        single, moving, nan = (results.pop(name) for name in ("single", "leftover schedule", "nan"))
        results["uneven"] = results["uneven"] or (single and f"{ALONE}: {single}")
        if not (results["uneven"] or results["schedule"] or results["clip"]):  # which is asked for here, too
            results["schedule"] = moving and f"{SHORT}: {moving}"
        results["full"] = (
            results["full"]
            or (nan and (nan if observations["nan"].failure else NAN_STAYS))
            or left_message(observations[name] for name in trials if name not in PADDED)
        )
        if not results["full"]:
            results["uneven"] = results["uneven"] or left_message(observations[name] for name in PADDED)
        results["full"] = results["full"] or digits_lost(trials, observations, due)
        right = {name for name, said in results.items() if not said}
        messages = (history_message(observations[name], due[name], name in right) for name in ("uneven", "clip", "schedule"))
        results["report"] = next(filter(None, messages), "")
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if failure or not any(results.values()):
            return self.verdict(results, failure=failure)
        slugs = () if right >= set(results) - {"report"} else window_mistakes(trials, observations)
        if not slugs and results["full"] and updates_after_every(trials["full"], observations["full"]):
            slugs = ("step-every",)
        remark = "" if slugs or right >= set(results) - {"report"} else window_in_words(trials, observations)
        remark = remark or ("" if slugs else stepped_otherwise(trials["full"], observations["full"]))
        remark = remark or ("" if slugs else nearly_message(trials, observations, due, "full"))
        if not (slugs or remark):
            lost = next((name for name in ("full", "uneven", "clip", "schedule") if results[name]), "")
            remark = lost and movement_in_words(observations[lost], due[lost], trials[lost].config)
        if results["report"]:
            slugs += report_mistakes(trials, observations, due, right, slugs)
        return self.verdict(results, mistakes=tuple(map(in_tokens, slugs)), remark=remark)


class Train(Exercise):
    """``train(config) -> History``: the whole run."""

    id = "train"
    section = "Stop and resume"
    unit = UNIT
    parts = (
        Part("even", "full windows, clipped, at the schedule's rates", 1),
        Part("uneven", "padding, ragged micro-batches and leftovers", 2),
        Part("budget", "memory within the budget", 2),
        Part("resume", "stopping and resuming", 3),
        Part("report", "an honest history", 1),
    )

    def trials(self, seed: int, device: str) -> dict[str, RunTrial]:
        chance = trial_random(self.id, seed)
        size, steps = chance.choice([2, 3]), chance.choice([3, 4])
        window = size * steps
        config = Config(micro_batch_size=size, effective_batch=window, device=device, dtype=best_dtype(device))
        equal: dict[str, Any] = {"shortest": 16, "longest": 16}
        sgd: dict[str, Any] = {"optimizer": "sgd", "lr": 0.1}
        seeds = [(8 * seed + k) % 2**31 for k in range(5)]
        moving: dict[str, Any] = {"warmup": 2, "decay": True}
        metered = config.with_(
            seed=seeds[2],
            lines=120,  # ten updates: what is kept of each, even one more copy of the weights, is too much in the end
            shortest=16,
            coupled=True,
            longest=16,
            effective_batch=12,
            micro_batch_size=2,
            epochs=1,
            max_norm=IDLE,
            **sgd,
        )
        return {
            "even": RunTrial(
                config.with_(seed=seeds[0], lines=2 * window, **equal, **moving, optimizer="sgd", lr=1.0, max_norm=BINDING)
            ),
            "uneven": RunTrial(
                config.with_(
                    seed=seeds[1], lines=2 * window + size + 1, **moving, lr=0.01, max_norm=IDLE, checkpoint=CHECKPOINTS[0]
                )
            ),
            # A leftover that is clipped: it is no shorter than others.
            "clipped leftover": RunTrial(
                config.with_(seed=seeds[0], lines=window + size, **equal, epochs=1, optimizer="sgd", lr=1.0, max_norm=BINDING)
            ),
            "budget": RunTrial(metered.with_(budget=2 * bytes_needed(metered, 2)), meter=True),
            "resume": RunTrial(
                config.with_(seed=seeds[3], lines=5 * window, epochs=3, **equal, **moving, lr=0.01, max_norm=2 * BINDING),
                stop_after=7,  # more than one window into the second epoch
                then_norm=BINDING,
                then_stop=9,  # the first update still has the rate that AdamW remembers; the rest goes on into another epoch
                last_norm=4 * BINDING,
            ),
            "leftover": RunTrial(
                config.with_(
                    seed=seeds[4], lines=14, epochs=3, **equal, effective_batch=4, micro_batch_size=2, max_norm=IDLE, **sgd
                ),
                stop_after=8,  # the leftover of the second epoch: together, both leftovers lack a whole window
                then_norm=IDLE,
                then_stop=12,  # the leftover of the third epoch, and the last update
                last_norm=IDLE,
            ),
        }

    def judge(self, trials: Mapping[str, RunTrial], observations: Mapping[str, Observation]) -> Verdict:
        due = {name: run_due(trial) if name == "budget" else large_run_due(trial) for name, trial in trials.items()}
        results = {name: run_message(observations[name], due[name], trials[name].config) for name in ("even", "uneven")}
        name = "clipped leftover"
        if not (any(results.values()) or observations[name].failure) and run_message(
            observations[name], due[name], trials[name].config
        ):
            results["uneven"] = CLIPPED_LEFTOVER
        results["budget"] = run_message(observations["budget"], due["budget"], trials["budget"].config, ONE_BY_ONE)
        results["resume"] = resume_message(trials["resume"], observations["resume"], due["resume"])
        if not results["uneven"]:  # a loop that gets leftovers wrong has lost points for them already
            results["resume"] = results["resume"] or leftover_message(trials["leftover"], observations["leftover"])
            results["resume"] = results["resume"] or ("" if observations["uneven"].facts["left"] else LEFT_A_FILE)
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        right = {name for name, said in results.items() if not said}
        results["even"] = results["even"] or digits_message(observations.values())
        results["even"] = results["even"] or digits_lost(trials, observations, due, ("budget",))
        if not results["even"]:  # whoever computes with fewer digits everywhere has lost points for it already
            results["resume"] = results["resume"] or digits_lost(trials, observations, due, ("leftover",), ("final", "last"))
        held = budget_message(trials["budget"], observations["budget"])
        if results["budget"] and not observations["budget"].failure:
            results["budget"] = other_size(trials["budget"], observations["budget"]) or results["budget"]
        results["budget"] = held or results["budget"]
        none_right = failure.message if failure else "No run ended with the weights due, so there is no history to compare."
        messages = (history_message(observations[name], due[name], True) for name in sorted(right))
        results["report"] = next(filter(None, messages), "") if right else none_right
        if not any(results.values()):
            return self.verdict(results)
        slugs: tuple[str, ...] = ()
        if not (observations["even"].failure or observations["uneven"].failure):
            slugs = run_mistakes(trials, observations)
        remark = "" if slugs else entered_otherwise(observations["even"]) or nearly_message(trials, observations, due, "even")
        if not (slugs or remark):
            lost = next((name for name in ("even", "uneven") if results[name]), "")
            remark = lost and movement_in_words(observations[lost], due[lost], trials[lost].config)
        if TRAINED_AGAIN in results["resume"]:
            name = "resume" if results["resume"] == TRAINED_AGAIN else "leftover"
            again = repeated_mistake(trials[name], observations[name])
            if name == "leftover" and again == "resume-second-stop-not-saved":  # the other run saves it
                again, remark = "", remark or LAST_STOP
            slugs += (again,) if again else ()
        if held not in ("", UNKNOWN) and not observations["budget"].failure:
            slugs += budget_mistake(trials["budget"], observations["budget"])
        if results["report"]:
            slugs += report_mistakes({name: trials[name] for name in right}, observations, due, right, slugs)
        return self.verdict(results, mistakes=tuple(map(in_tokens, slugs)), failure=failure, remark=remark)
