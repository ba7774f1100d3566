"""Unit 11, running it: stop, resume, watch, plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.trials import trial_random
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_11_running_it.judging.meter_reports import report_messages
from autograder.exercises.unit_11_running_it.judging.plan_answers import NO_PLAN, in_integers, plan_message, plan_of
from autograder.exercises.unit_11_running_it.judging.plans import PLANS_IN_WORDS, WRONG_PLANS, plan
from autograder.exercises.unit_11_running_it.judging.resuming import (
    LOST_WHILE_SAVING,
    NESTED,
    UNWRITTEN,
    forgotten,
    leaves_alone,
    resumed_message,
    saving_message,
    start_message,
)
from autograder.exercises.unit_11_running_it.observing.meter import MeterTrial
from autograder.exercises.unit_11_running_it.observing.resuming import ResumeTrial
from autograder.judging.calls import judge_calls, remembered
from autograder.observing.calls import CallTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.resuming import RunProblem

UNIT = "11_running_it"

KILLS_PER_SAVE = 2
"""Kills during each writing that is interrupted, at one moment of it after another; a right way of writing has two moments."""

MAX_NAMED = 3
"""Mistakes that are named at once: a student who saves nothing but the weights need not read seven sentences."""


KILLED_AGAIN = "A run that was killed, resumed and killed again does not go on from the last checkpoint of its second process."
KILLED_AT_ONCE = (
    "A run that was resumed, and killed before its next update, does not go on from the checkpoint it was resumed from."
)
IN_FIRST_WINDOW = "After a kill in the middle of the first window, before any checkpoint is due"
KILLED_IN_A_WINDOW = "A run with everything that is killed in the middle of a window does not go on as it would have."


class LoadCheckpoint(Exercise):
    """``save_checkpoint(path, run)`` and ``load_checkpoint(path, run)``: a resumed run is bit-identical."""

    id = "load_checkpoint"
    section = "What the future of a run depends on"
    unit = UNIT
    cpu_only = True
    parts = (
        Part("epochs", "a simple run, killed after each epoch", 1),
        Part("updates", "a run with everything, killed after every update", 2),
        Part("window", "kills in the middle of a window", 1),
        Part("start", "a run that has no checkpoint yet", 0.5),
        Part("saving", "a kill while the checkpoint is being written", 0.5),
    )

    def trials(self, seed: int, device: str) -> dict[str, ResumeTrial]:
        chance = trial_random(self.id, seed)
        n = chance.choice([2, 3, 4])
        # A leftover in every epoch, and windows that are open after an update whose number has two digits.
        m = (2 + (n == 2)) * n + chance.randint(1, n - 1)
        full = RunProblem(seed % 2**31, n, chance.choice([2, 3]), m, 2, device=device)
        simple = replace(full, seed=full.seed + 1, shuffled=False, dropout=False, overflowing=False)
        updates = full.boundaries()[1:]
        stretch = chance.uniform(0.1, 0.2)
        # Its windows end at even numbers only, so that a file for each other number is not a file for each other checkpoint.
        even = replace(simple, accumulation_steps=4, micro_batches=10)
        inside = [k for k in range(updates[0], simple.total) if simple.is_open(k)]
        return {
            "epochs": ResumeTrial(simple, (m, 2 * m), stretch=stretch),
            "again": ResumeTrial(full, (m + n,), resumed_at=m, stretch=stretch),
            "at once": ResumeTrial(full, (m + 1,), resumed_at=m, stretch=stretch),
            "updates": ResumeTrial(full, tuple(updates), stretch=stretch),
            "window": ResumeTrial(simple, tuple(inside), stretch=stretch),
            # Without a stretch: what is resumed there begins anew.
            "first window": ResumeTrial(simple, tuple(range(1, n))),
            "start": ResumeTrial(full, (0,)),
            "saving": ResumeTrial(
                even,
                tuple(k for k in even.boundaries()[2:-1] for _ in range(KILLS_PER_SAVE)),
                while_saving=True,
                stretch=stretch,
            ),
        }

    def judge(self, trials: Mapping[str, ResumeTrial], observations: Mapping[str, Observation]) -> Verdict:
        results = {name: resumed_message(trials[name], observations[name]) for name in trials}
        results["start"] = start_message(trials["start"], observations["start"], results["start"])
        again, at_once, first = (results.pop(name) for name in ("again", "at once", "first window"))
        looked_at = [name for name in ("epochs", "updates", "window") if results[name]]
        if again and not results["updates"]:
            looked_at.append("again")
            results["updates"] = again if observations["again"].failure else KILLED_AGAIN
        if at_once and not (results["updates"] or results["window"]):
            seen = observations["at once"]
            said = KILLED_IN_A_WINDOW if seen.facts.get("fresh") else KILLED_AT_ONCE
            results["updates"] = at_once if seen.failure else said
        if first and not (results["window"] or results["start"]):
            looked_at.append("first window")
            results["window"] = first if observations["first window"].failure else f"{IN_FIRST_WINDOW}: {first}"
        written = [name for name in looked_at if observations[name].facts.get("fresh") != []]
        # Where others wrote something, a run for which nothing was written does not tell what a checkpoint brings back.
        brought_back = any(not results[name] for name in ("epochs", "updates", "window"))
        told_by = written or looked_at
        nothing = not brought_back and all(leaves_alone(trials[name], observations[name]) for name in told_by)
        slugs = [slug for name in told_by for slug in forgotten(trials[name], observations[name], nothing)]
        if "checkpoint-in-memory" in slugs:
            slugs = ["checkpoint-in-memory"]
        if not (results["start"] or brought_back) and {"checkpoint-in-memory", "nothing-restored"} & set(slugs):
            results["start"] = "This can be judged once a run that has a checkpoint is brought back from it."
        failures = {name: seen.failure for name, seen in observations.items() if seen.failure}
        if results["saving"]:
            failures.pop("saving", None)  # an error while loading half a file is not what went wrong
            if not all(o.failure for o in observations.values()):
                results["saving"] = "This can be judged once the simple run survives kills between and within windows."
        if not (results["epochs"] or results["window"]):
            results["saving"] = saving_message(observations["saving"], results["saving"])
            slugs += ["checkpoint-overwritten"] if results["saving"] == LOST_WHILE_SAVING else []
        nested = any(results[name] and observations[name].facts.get("nested") for name in ("epochs", "updates", "window"))
        named = () if nested else tuple(map(mistake, list(dict.fromkeys(slugs))[:MAX_NAMED]))
        failure = next(iter(failures.values()), None)
        unwritten = looked_at and not written
        return self.verdict(
            results,
            mistakes=named,
            failure=failure,
            remark=NESTED if nested else UNWRITTEN if unwritten and not failure else "",
        )


ONE_REPORT = (
    "Your meter returns the same dictionary after each update, so each window writes over what the one before reported."
)

REPORT_AGAIN = "Your meter returns a dictionary again that it has returned before, where a new one is due."


class RunMeter(Exercise):
    """``RunMeter(clock)`` with ``micro_batch(loss, samples)`` and ``update(lr) -> dict``: honest numbers for each update."""

    id = "RunMeter"
    section = "What to write down"
    unit = UNIT
    cpu_only = True
    parts = (
        Part("loss", "the mean loss over the samples of each window", 1),
        Part("throughput", "samples per second over the whole window", 1),
        Part("update", "effective batch size and rate of each update", 0.5),
        Part("memory", "no graph kept alive", 0.5),
    )

    def trials(self, seed: int, device: str) -> dict[str, MeterTrial]:
        chance = trial_random(self.id, seed)

        def micro_batch(size: int) -> tuple[int, float, float]:
            return (size, round(chance.uniform(0.5, 4.0), 3), round(chance.uniform(0.01, 0.2), 3))

        def trial(*windows: Sequence[int]) -> MeterTrial:
            return MeterTrial(
                tuple(tuple(micro_batch(size) for size in window) for window in windows),
                tuple(round(chance.uniform(0.05, 0.3), 3) for _ in windows),
                (*(round(chance.uniform(0.001, 0.1), 5) for _ in windows[1:]), 0.0),  # a schedule may end at zero
                round(chance.uniform(10, 1000), 2),
                device,
            )

        n, size = chance.choice([3, 4]), chance.randint(4, 8)
        trials = {
            "even": trial([size] * n, [size] * n, [size] * n),
            "uneven": trial([size] * n, chance.sample(range(1, 9), n), [size, size - 3], [size - 1], [1]),
            "long": replace(trial([size] * 40, [size] * 2), start=0.0),  # a clock may begin at zero
        }
        first, _, last = trials["even"].rates
        trials["even"] = replace(trials["even"], rates=(first, chance.uniform(2e-6, 4e-6), last))  # rounded it would be zero
        return trials

    def judge(self, trials: Mapping[str, MeterTrial], observations: Mapping[str, Observation]) -> Verdict:
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        if failure:
            return self.failed(failure)
        messages, slugs, remark = report_messages(trials, observations)
        reports = [report for seen in observations.values() for report in seen.facts["reports"]]
        if all(isinstance(report, dict) for report in reports) and not all(seen.facts["new"] for seen in observations.values()):
            one = all(seen.facts["written_over"] for seen in observations.values())
            slugs, remark = ([], ONE_REPORT) if one else (slugs, REPORT_AGAIN)
        intact = all(seen.facts.get("intact") for seen in observations.values())
        results = {
            "loss": messages["loss"] or ("" if intact else "Your meter changes the losses that it is given."),
            "throughput": messages["samples_per_second"],
            "update": messages["effective_batch"] or messages["lr"],
            "memory": "",
        }
        if all(results[name] for name in ("loss", "throughput", "update")):
            results["memory"] = "Memory is looked at once one of the other parts is right."
        elif any(seen.facts.get("kept") != 0 for seen in observations.values()):
            results["memory"] = "Graphs of micro-batches are still alive when their window is over."
            slugs.append("graph-kept")
        return self.verdict(results, mistakes=tuple(map(mistake, dict.fromkeys(slugs))), remark=remark)


MISFITS, UNEVEN = {"refusal 0", "refusal 3", "refusal 4"}, {"refusal 1", "refusal 2", "refusal 5"}
"""The calls that have to be refused, by the reason."""


HUGE = "plan 13"
"""The call with more bytes than a float can count."""

REFUSES_ALL = "No call of yours ends in a plan. This can be judged once there is one where one is possible."


class PlanRun(Exercise):
    """``plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size) -> dict``."""

    id = "plan_run"
    section = "A plan"
    unit = UNIT
    cpu_only = True
    parts = (
        Part("plan", "the largest micro-batch first, then the steps", 1),
        Part("ranks", "several ranks", 0.5),
        Part("refusal", "refusing what cannot be planned", 0.5),
    )

    def trials(self, seed: int, device: str) -> dict[str, CallTrial]:
        chance = trial_random(self.id, seed)

        def call(share: int, room: int, ranks: int, spare: int) -> CallTrial:
            per_sample = chance.randint(30, 90) * 100
            fixed = per_sample * (max(share // 2 - room, 3) + chance.randint(0, 3))  # forgetting it about doubles B
            return CallTrial((share * ranks, fixed + per_sample * room + spare, fixed, per_sample, ranks))

        # Shares and room for which the largest micro-batch that divides is no power of two times smaller than the share.
        cuts = chance.sample([(60, 21), (96, 33), (90, 19), (84, 29), (72, 25), (36, 13)], 3)
        calls = {f"plan {k}": call(*cut, 1, chance.randint(1, 99)) for k, cut in enumerate(cuts)}
        calls |= {"plan 3": call(48, 16, 1, 0), "plan 4": call(40, 70, 1, 7)}
        # The largest size is odd, though the batch is even; it is one sample, in many steps; there is one sample only.
        calls |= {
            "plan 5": call(30, 16, 1, 3),
            "plan 6": call(chance.choice([127, 131, 137]), 12, 1, 5),
            "plan 7": call(1, 3, 1, 9),
        }
        # The same bytes for another batch: an answer that was looked up by them is then a wrong one.
        calls["plan 8"] = CallTrial((25, *calls["plan 0"].arguments[1:]))
        # The other way round: the same batch with less memory.
        batch, budget, fixed, per_sample, _ = calls["plan 3"].arguments
        calls["plan 9"] = CallTrial((batch, budget - 7 * per_sample, fixed, per_sample, 1))
        # A size beyond the 512 of the unit's example; one sample uses the budget up; a larger size lacks a single byte, and the
        # largest that fits is no multiple of 8.
        calls["plan 10"] = call(chance.choice([570, 630, 750]), 900, 1, 11)
        calls["plan 11"] = call(chance.choice([6, 10, 15]), 1, 1, 0)
        calls["plan 12"] = call(*chance.choice([(120, 40), (168, 42), (360, 60)]), 1, -1)
        # Whole numbers that 64 bits hold, products included: a division of floats loses the last byte of these.
        calls["plan 14"] = call(2048, 100, 1, 1)  # more samples than Python recurses
        calls[HUGE] = CallTrial((132, 10**9 + 12 * 10**16 - 1, 10**9, 10**16, 1))
        ranked = chance.sample([(60, 21, 4), (96, 33, 8), (90, 19, 2), (84, 29, 4), (72, 25, 3)], 2)
        calls |= {f"ranks {k}": call(*cut, chance.randint(1, 99)) for k, cut in enumerate(ranked)}
        # The largest divisor of the recipe that fits does not divide a share; there is room for more than a share; half the
        # budget still holds something; a rank reads one sample; one sample of several is all that fits and divides.
        odd = chance.choice([(45, 20, 2), (15, 12, 4), (21, 14, 2), (35, 20, 4), (63, 20, 2)])
        special = (odd, (24, 70, 4), (48, 30, 2), (1, 5, 8), (7, 5, 2))
        calls |= {f"ranks {k + 2}": call(*cut, 5) for k, cut in enumerate(special)}
        uneven = call(24, 9, 4, 5)
        batch, *rest = uneven.arguments
        few = CallTrial((3, *call(1, 9, 8, 5).arguments[1:]))
        return calls | {
            "refusal 0": call(24, 0, 2, 50),
            "refusal 1": CallTrial((batch + 2, *rest)),
            "refusal 2": few,
            "refusal 3": call(24, 0, 1, 0),
            "refusal 4": call(24, -2, 1, 50),
            "refusal 5": CallTrial((10, 10**6, 2000, 100, 4)),  # all of a share fits, if shares are made whole
            # A small prime; more steps than any fixed number somebody may try, with more than one sample; as many samples.
            "plan 15": call(5, 3, 1, 1),
            "plan 16": call(4006, 3, 1, 5),
            "plan 17": call(chance.choice([2310, 2520, 2730]), 3000, 1, 11),
        }

    def judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        # With these a division of floats gives another plan, so mistakes are named by the other calls.
        verdict = self._judge({name: trial for name, trial in trials.items() if name != HUGE}, observations)
        return replace(self._judge(trials, observations), mistakes=(), remark="") if verdict.passed else verdict

    def _judge(self, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation]) -> Verdict:
        observations = {name: observations[name] for name in trials}
        seen = {name: plan_of(observation) for name, observation in observations.items()}
        verdict = judge_calls(
            *(self, trials, seen, lambda name: name.split()[0], plan, WRONG_PLANS, plan_message),
            refusal="For {call} there is no plan, and your function raises no ValueError.",
            described=PLANS_IN_WORDS,
        )
        if all("type" in seen[name].facts for name in trials if name.startswith("plan")):
            return replace(verdict, remark=NO_PLAN)
        instead = {"refusal": "" if any("value" in one.facts for one in seen.values()) else REFUSES_ALL}
        for part in ("plan", "ranks"):
            fine = all(in_integers(seen[name]) for name in trials if name.startswith(part))
            instead[part] = "" if fine else "The numbers of a plan are integers: 4, not 4.0."
        results = {result.part.name: result.message or instead[result.part.name] for result in verdict.results}
        silent = {name for name in MISFITS | UNEVEN if {"value", "type"} & observations[name].facts.keys()}
        slugs = ["misfit-not-refused"] * (silent >= MISFITS) + ["uneven-ranks-not-refused"] * bool(silent & UNEVEN)
        explained = verdict.mistakes or verdict.remark
        looked_up = "" if explained else remembered(trials, seen, plan, lambda trial: trial.arguments[0])
        named = (*verdict.mistakes, *map(mistake, () if looked_up else slugs))
        return self.verdict(results, mistakes=named, failure=verdict.failure, remark=verdict.remark or looked_up)
