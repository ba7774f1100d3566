"""Unit 12, capstone: train a small GPT inside a memory budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autograder.call_trials import RAISES, CallTrial, judge_calls, observe_call
from autograder.capstone_diagnosis import run_mistakes, window_mistakes
from autograder.capstone_messages import (
    UNKNOWN,
    budget_message,
    history_message,
    report_mistakes,
    resume_message,
    run_message,
    weights_message,
)
from autograder.capstone_trials import (
    RunTrial,
    WindowTrial,
    bytes_needed,
    large_run_due,
    large_windows_due,
    observe_run,
    observe_windows,
    run_due,
)
from autograder.exercise import Exercise, Observation, Part, register, trial_random
from autograder.mistakes import add_mistake, mistake
from gradaccum.capstone.config import Config
from gradaccum.problems import best_dtype

UNIT = "12_capstone"
IDLE = 1000.0
"""A threshold that no gradient of these runs reaches; their norms are about 0.5."""

BINDING = 0.02
"""A threshold below all of them, and below their largest component, so that clipping by value does something, too."""


@register
class PickMicroBatchSize(Exercise):
    """``pick_micro_batch_size(config) -> int``: the largest one that fits."""

    id = "pick_micro_batch_size"
    unit = UNIT
    parts = (
        Part("fits", "never more than the budget", 1),
        Part("largest", "the largest that fits", 1),
        Part("refuse", "a `ValueError` when nothing fits", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        first, second = chance.sample([18, 30, 42], 2)
        config = _with_short_lines_first(Config(seed % 2**31, lines=60, width=8, device=device, dtype="float32"))

        def trial(window: int, place: int, spare: int) -> CallTrial:
            sizes = _divisors(window)
            changed = config.with_(effective_batch=window, micro_batch_size=window)
            return CallTrial((changed.with_(budget=bytes_needed(changed, sizes[place]) + spare),))

        return {
            "fits 1": trial(first, -2, -1),
            "fits 2": trial(second, chance.choice([1, 2]), -1),
            "largest 1": trial(first, 2, 0),
            "largest 2": trial(second, 0, 1000),
            "refuse": trial(second, -1, -1),
        }

    def observe(self, function, trial):
        return observe_call(function, trial)

    def judge(self, trials, observations):
        wrong = {
            "measured-on-the-first": lambda c: _largest(c, lambda size: _first_bytes(c, size)),
            "micro-batch-no-divisor": lambda c: _largest(c, sizes=range(c.effective_batch, 0, -1)),
            "only-halves": lambda c: _largest(c, sizes=_halves(c.effective_batch)),
            "micro-batch-smallest": lambda c: 1,
            "micro-batch-whole-window": lambda c: c.effective_batch,
        }
        message = "This is not the largest number of lines that divides the window and stays within the budget."
        refusal = "A budget too small for a single line is not refused with a ValueError."
        part_of = lambda name: name.split()[0]  # noqa: E731
        verdict = judge_calls(self, trials, observations, part_of, _largest, {}, message, refusal=refusal)
        if verdict.passed:
            return verdict
        slugs = [slug for slug, formula in wrong.items() if _explains(formula, trials, observations)]
        return replace(verdict, mistakes=tuple(map(mistake, slugs[:1])))


def _explains(formula: Callable[[Config], object], trials, observations: Mapping[str, Observation]) -> bool:
    """Whether a function that picks by this formula answers every call as the student's did."""
    return all(
        not seen.failure and ("raised" in seen.facts, seen.facts.get("value")) == _answer(formula(*trials[name].arguments))
        for name, seen in observations.items()
    )


def _answer(value: object) -> tuple[bool, object]:
    return (True, None) if value is RAISES else (False, value)


def _with_short_lines_first(config: Config) -> Config:
    """The config with the next seed for which the first lines of an epoch are not its longest."""
    config = config.with_(effective_batch=2, micro_batch_size=2)
    while next(config.micro_batches(0))[0].shape[1] >= config.longest_micro_batch(2)[0].shape[1]:
        config = config.with_(seed=config.seed + 1)
    return config


def _divisors(window: int) -> list[int]:
    return [size for size in range(window, 0, -1) if window % size == 0]


def _halves(window: int) -> list[int]:
    return [window, *(_halves(window // 2) if window % 2 == 0 else [])]


def _largest(config: Config, need=None, sizes=None):
    """The first of some sizes, by default the divisors, that fits the budget."""
    need = need or (lambda size: bytes_needed(config, size))
    fitting = (size for size in sizes or _divisors(config.effective_batch) if need(size) <= config.budget)
    return next(fitting, RAISES)


def _first_bytes(config: Config, size: int) -> int:
    """What a micro-batch needs that is the first of an epoch."""
    from gradaccum.capstone.budget import activation_bytes

    return activation_bytes(config.build_model(), *next(config.with_(micro_batch_size=size).micro_batches(0)))


@register
class TrainWindow(Exercise):
    """``train_window(run, window, max_norm) -> None``: one update and its entry in the history."""

    id = "train_window"
    unit = UNIT
    parts = (
        Part("full", "micro-batches of equal lines", 2),
        Part("uneven", "padding, ragged micro-batches and leftovers", 2),
        Part("clip", "one clip per update", 1),
        Part("schedule", "one step of the schedule per update", 1),
        Part("report", "honest numbers", 2),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        size = chance.choice([2, 3])
        window = size * chance.choice([3, 4])
        config = Config(
            micro_batch_size=size, effective_batch=window, device=device, dtype=best_dtype(device), max_norm=IDLE, epochs=1
        )
        equal, sgd = {"shortest": 16, "longest": 16}, {"optimizer": "sgd", "lr": 0.1}
        seeds = [(8 * seed + k) % 2**31 for k in range(4)]
        return {
            "full": WindowTrial(config.with_(seed=seeds[0], lines=3 * window, **equal, **sgd), stale=True),
            "uneven": WindowTrial(config.with_(seed=seeds[1], lines=2 * window + 2 * size - 1, **sgd), stale=True),
            "clip": WindowTrial(
                config.with_(seed=seeds[2], lines=3 * window, **equal, optimizer="sgd", lr=1.0, max_norm=BINDING)
            ),
            "schedule": WindowTrial(config.with_(seed=seeds[3], lines=5 * window, **equal, **sgd, warmup=2, decay=True)),
        }

    def observe(self, function, trial):
        return observe_windows(function, trial)

    def judge(self, trials, observations):
        due = {name: large_windows_due(trial) for name, trial in trials.items()}
        results = {name: weights_message(observations[name], due[name], trials[name].config) for name in trials}
        if not results["full"] and observations["full"].facts.get("training") is not True:
            results["full"] = "Your function left the model in evaluation mode."
        right = {name for name, said in results.items() if not said}
        messages = (history_message(observations[name], due[name], name in right) for name in ("uneven", "clip", "schedule"))
        results["report"] = next(filter(None, messages), "")
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if failure or not any(results.values()):
            return self.verdict(results, failure=failure)
        slugs = () if right >= set(trials) else window_mistakes(trials, observations)
        if observations["full"].facts.get("training") is False:
            slugs += ("eval-mode",)
        if results["report"]:
            slugs += report_mistakes(trials, observations, due, right)
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)))


@register
class Train(Exercise):
    """``train(config) -> History``: the whole run."""

    id = "train"
    unit = UNIT
    parts = (
        Part("even", "full windows, clipped, at the schedule's rates", 2),
        Part("uneven", "padding, ragged micro-batches and leftovers", 2),
        Part("budget", "memory within the budget", 2),
        Part("resume", "stopping and going on", 3),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        size, steps = chance.choice([2, 3]), chance.choice([3, 4])
        window = size * steps
        config = Config(micro_batch_size=size, effective_batch=window, device=device, dtype=best_dtype(device))
        equal, sgd = {"shortest": 16, "longest": 16}, {"optimizer": "sgd", "lr": 0.1}
        seeds = [(8 * seed + k) % 2**31 for k in range(4)]
        moving = {"warmup": 2, "decay": True}
        metered = config.with_(
            seed=seeds[2],
            lines=24,
            shortest=40,
            coupled=True,
            longest=40,
            effective_batch=12,
            micro_batch_size=2,
            epochs=1,
            max_norm=IDLE,
            **sgd,
        )
        stop = chance.choice([5, 6])
        return {
            "even": RunTrial(
                config.with_(seed=seeds[0], lines=2 * window, **equal, **moving, optimizer="sgd", lr=1.0, max_norm=BINDING)
            ),
            "uneven": RunTrial(config.with_(seed=seeds[1], lines=2 * window + 2 * size - 1, **moving, lr=0.01, max_norm=IDLE)),
            "budget": RunTrial(metered.with_(budget=2 * bytes_needed(metered, 2)), meter=True),
            "resume": RunTrial(
                config.with_(seed=seeds[3], lines=4 * window, **equal, **moving, lr=0.01, max_norm=2 * BINDING),
                stop_after=stop,
                then_norm=BINDING,
            ),
        }

    def observe(self, function, trial):
        return observe_run(function, trial)

    def judge(self, trials, observations):
        due = {name: run_due(trial) if name == "budget" else large_run_due(trial) for name, trial in trials.items()}
        results = {
            name: run_message(observations[name], due[name], trials[name].config) for name in ("even", "uneven", "budget")
        }
        held = budget_message(trials["budget"], observations["budget"])
        results["budget"] = held or results["budget"]
        results["resume"] = resume_message(trials["resume"], observations["resume"], due["resume"])
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if not any(results.values()):
            return self.verdict(results)
        slugs: tuple[str, ...] = ()
        if not (observations["even"].failure or observations["uneven"].failure):
            slugs = run_mistakes(trials, observations)
        if held not in ("", UNKNOWN) and not observations["budget"].failure:
            slugs += ("one-big-batch",)
        if not slugs and not failure:
            slugs += report_mistakes(trials, observations, due, set(trials))
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=failure)


add_mistake(
    "epoch-order-repeated",
    "Every epoch goes through the lines in the order of the first one.",
    "What does config.micro_batches want to be told, and what do you tell it in the second epoch?",
)
add_mistake(
    "resume-without-model",
    "A run that goes on begins with fresh weights.",
    "Which of the run's four parts have you put back?",
)
add_mistake(
    "resume-without-optimizer",
    "A run that goes on has lost what its optimizer remembers: momentum, or AdamW's averages.",
    "The weights are back. What else has the run gathered in its earlier updates?",
)
add_mistake(
    "resume-without-schedule",
    "A run that goes on begins its schedule again: it warms up a second time.",
    "Which update does the schedule think comes next?",
)
add_mistake(
    "resume-without-history",
    "A run that goes on has forgotten the history of what came before.",
    "Of how many updates should the returned history tell?",
)
add_mistake(
    "resume-replays-data",
    "A run that goes on begins with the first line of the first epoch again and sees lines it has trained on.",
    "How many windows were used up before the stop? They have to be passed over.",
)
add_mistake(
    "resume-in-the-wrong-epoch",
    "A run that goes on knows how far it was within an epoch, but not in which epoch.",
    "Updates are counted over the whole run. In which epoch is the next window?",
)
add_mistake(
    "resume-starts-over",
    "A run that should go on begins from nothing.",
    "There is a file at config.checkpoint. Does your function look for it?",
)
add_mistake(
    "tokens-with-padding",
    "The tokens you report include padding, so tokens per second look better than they are.",
    "Which targets are not tokens of the text?",
)
add_mistake(
    "tokens-of-last",
    "The tokens you report are those of the window's last micro-batch only.",
    "A window has several micro-batches. How many tokens have they together?",
)
add_mistake(
    "measured-on-the-first",
    "You measured a micro-batch of ordinary lines. One with the longest lines needs more, and it will come.",
    "How long is a micro-batch after padding? Which lines decide that, and how many bytes does it need in the worst case?",
)
add_mistake(
    "micro-batch-no-divisor",
    "The size fits, but it does not divide the window: the effective batch would not be the one asked for.",
    "How many micro-batches of this size make one window?",
)
add_mistake(
    "only-halves",
    "You try the window, its half, a quarter and so on; between them there may be a larger one that fits.",
    "Which sizes divide the window? Powers of two are not the only ones.",
)
add_mistake(
    "micro-batch-smallest",
    "One line at a time always fits, and leaves most of the budget, and of the device, unused.",
    "Which is the largest size that fits?",
)
add_mistake(
    "micro-batch-whole-window",
    "The whole window is one micro-batch: it was not measured against the budget.",
    "How many bytes does such a micro-batch need, and how many are allowed?",
)
