"""Unit 10, distributed: how do ranks and windows multiply?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Failure, Observation
from autograder.contract.trials import probe_length, trial_random, uneven_sizes
from autograder.contract.verdict import Part, Verdict
from autograder.exercises.unit_10_distributed.judging.diagnosis import (
    OFF_BY_ONE,
    first_loss_slugs,
    name_rank_mistakes,
    needless_rounds,
    ranks_in_updates,
    width_in_words,
)
from autograder.exercises.unit_10_distributed.judging.messages import (
    SEVERAL_GRAPHS,
    WHOLE_WINDOW,
    data_or_movement_message,
    drift_message,
    graphs_message,
    mode_message,
    movement_message,
    rounds_message,
    shares_too_little,
    waiting,
)
from autograder.exercises.unit_10_distributed.judging.references import RankSeen, all_ranks, ranks_seen
from autograder.exercises.unit_10_distributed.judging.token_scale import WRONG, factor_message, factors_in_words, scale_slugs
from autograder.exercises.unit_10_distributed.observing import DEVICE, RanksTrial, TokenTrial
from autograder.judging.large_batches import AFTER_INFINITY, METERED, METERED_WINDOW, training_in_words
from autograder.observing.loops import LoopTrial
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.problems import Problem

UNIT = "10_distributed"


MOMENTUM = 0.5
"""With it, an update that was not made by the optimizer shows, or one that was made by another one."""

DRIFTING = ("never-sync", "sync-wrong-one", "windows-not-synced", "tail-not-synced")
"""Mistakes of which it is said that the ranks drift apart."""

NO_GRADIENTS = "This can be judged once the parameters are moved by unrounded gradients of loss_fn on the ranks' samples alone."
APART_BETWEEN = (
    "The ranks have the same parameters at the end of an epoch, but their gradients differ, and less travels between them than "
    "would keep their parameters the same after every window."
)
NOT_ALL_RANKS = "This can be judged once the gradients of all ranks move the parameters."


class DdpTrainEpoch(Exercise):
    """``ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps)``, on two ranks."""

    id = "ddp_train_epoch"
    section = "Explore: ranks over time"
    unit = UNIT
    cpu_only = True
    parts = (
        Part("full", "full windows, one micro-batch's graph at a time", 2),
        Part("leftover", "leftover windows, ragged micro-batches and a stale .grad", 2),
        Part("ranks", "ranks that stay identical", 1),
        Part("rounds", "one all-reduce round per window", 2),
    )

    def failed(self, failure: Failure) -> Verdict:
        return super().failed(waiting(failure))

    def trials(self, seed: int, device: str) -> dict[str, RanksTrial]:
        chance = trial_random(self.id, seed)
        n = chance.choice([4, 5])
        size, left = chance.choice([2, 5]), chance.randint(2, n - 1)
        uneven = [uneven_sizes(chance, [1, 2, 3, 5, 6], n) for _ in range(2)]
        common: dict[str, Any] = {"device": DEVICE, "dtype": "float64"}
        basics = {"accumulation_steps": n, "width": 12, **common}

        def trial(offset: int, *epochs: Sequence[int], frozen: bool = False, **options: Any) -> RanksTrial:
            problem = Problem(seed + offset, epochs=tuple(map(tuple, epochs)), **basics, **options)
            return RanksTrial(LoopTrial(problem, frozen=frozen))

        deep = Problem(seed + 4, 24, (METERED_WINDOW,), coupled=True, **METERED, **common)
        moving: dict[str, Any] = {"momentum": MOMENTUM, "skewed": True}
        every_kind = ([*uneven[0], *uneven[1][:left]], [size] * probe_length(2, n, left), [size] * (n - 1))
        return {
            "full": trial(1, [size] * (3 * n), [size] * n, gated=True, **moving),
            "leftover": trial(2, [*uneven[1], *uneven[0][:left]], [size] * (n - 1), [*[size] * n, 1], stale=True, **moving),
            "single": RanksTrial(LoopTrial(Problem(seed + 5, 1, ((size,) * 4, (1, 1)), width=12, **common))),
            "overflowed": trial(6, [size] * n, overflowed=True),
            "memory": RanksTrial(LoopTrial(deep, meter=True)),
            "probe": trial(3, *every_kind, frozen=True, stale=True, gated=True),
        }

    def judge(self, trials: Mapping[str, RanksTrial], observations: Mapping[str, Observation]) -> Verdict:
        ranks: dict[str, list[RankSeen]] = {}
        failures: dict[str, Failure] = {}
        for name, trial in trials.items():
            seen = observations[name]
            if seen.failure:
                failures[name] = waiting(seen.failure)
            else:
                ranks[name] = ranks_seen(trial, seen)
        messages = {
            "full": (
                (mode_message, "full"),
                (movement_message, "full"),
                (graphs_message, "memory"),
            ),
            "leftover": ((data_or_movement_message, "leftover"),),
            "ranks": ((drift_message, "full"), (drift_message, "leftover")),
            # Counts are what the ranks say; that they did share their gradients is read off their parameters.
            "rounds": ((drift_message, "full"), (rounds_message, "full"), (rounds_message, "leftover")),
        }
        results: dict[str, str] = {}
        for part, several in messages.items():
            said = (failures[n].message if n in failures else message(trials[n], ranks[n]) for message, n in several)
            results[part] = next(filter(None, said), "")
        if not (results["full"] or results["leftover"]):  # a loop that skips windows of one has lost points for it already
            single = failures["single"].message if "single" in failures else movement_message(trials["single"], ranks["single"])
            results["full"] = single and f"With N = 1: {single}"
            if "overflowed" in failures:
                results["leftover"] = failures["overflowed"].message
            elif movement_message(trials["overflowed"], ranks["overflowed"]):
                results["leftover"] = AFTER_INFINITY
        if not any(results.values()):
            return self.verdict(results)
        of_all, used = True, set[int]()
        never_right = all(name in failures or movement_message(trials[name], ranks[name]) for name in ("full", "leftover"))
        if never_right:
            used = ranks_in_updates(trials, ranks)
            of_all = len(used) == trials["full"].world_size
            open_question = NOT_ALL_RANKS if used else NO_GRADIENTS
            results["ranks"] = results["ranks"] or ("" if used else open_question)
            results["rounds"] = results["rounds"] or ("" if of_all else open_question)
        slugs: tuple[str, ...] = ()
        named: tuple[str, ...] = ()
        remark, fixed, shown = "", "", {}
        if "memory" in ranks and graphs_message(trials["memory"], ranks["memory"]) in (SEVERAL_GRAPHS, WHOLE_WINDOW):
            slugs = ("one-big-batch",)
        if "probe" in failures:
            named = first_loss_slugs(observations["probe"])
            slugs += named
        else:
            named, remark, due, found = name_rank_mistakes(trials["probe"], ranks["probe"])
            live = [(trials[name], ranks[name]) for name in ("full", "leftover") if name in ranks]
            if never_right and "never-sync" in named and not results["ranks"] and any(shares_too_little(*one) for one in live):
                results["ranks"] = APART_BETWEEN
            elif not any(drift_message(*one) for one in live):
                named = tuple(slug for slug in named if slug not in DRIFTING)  # parameters are shared, if not gradients
                named = named or (("one-rank-for-all",) if len(used) == 1 and not of_all else ())
            if "tail-not-synced" in named and set(OFF_BY_ONE).isdisjoint(named) and "full" in ranks:  # it has no leftover
                drifts = drift_message(trials["full"], ranks["full"])
                named = tuple("windows-not-synced" if drifts and slug == "tail-not-synced" else slug for slug in named)
            if fixed := width_in_words(trials, ranks, named):
                named, remark = tuple(slug for slug in named if slug not in OFF_BY_ONE), fixed
            rounds = needless_rounds(trials["probe"], ranks["probe"])
            if not of_all or {"sync-wrong-one", "windows-not-synced"} & set(named):
                rounds = ()  # what must change is whose gradients travel and where, not how often
            slugs = (*named, *rounds, *slugs)
            shown = {"expected": due, "found": found} if found and not found.same_as(due) else {}
        if "retained-graph" in slugs:
            slugs = tuple(slug for slug in slugs if slug != "one-big-batch")  # what is retained is in memory anyway
        failure = next(iter(failures.values()), None)
        # Names of rounds and memory say nothing of wrong gradients.
        told = bool(named or (slugs and not results["leftover"] and results["full"] in ("", SEVERAL_GRAPHS, WHOLE_WINDOW)))
        if not (told or remark) and "full" in ranks:
            whole = LoopTrial(all_ranks(trials["full"], merged=True))
            rank = ranks["full"][0]
            changed = [what for what in rank.facts["changed"] if what != "parameters"]  # they may be averaged after an update
            remark = training_in_words(whole, Observation({"parameters": rank.parameters}, {"changed": changed}))
        remark = "" if told and not fixed else remark
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=failure, remark=remark, **shown)


class GlobalTokenScale(Exercise):
    """``global_token_scale(local_tokens) -> Tensor``: what to multiply a rank's mean loss by."""

    id = "global_token_scale"
    section = "Tokens on ranks"
    unit = UNIT
    cpu_only = True
    parts = (
        Part("uneven", "two ranks with different numbers of tokens", 1),
        Part("ranks", "another number of ranks", 1),
        Part("empty", "ranks without tokens", 1),
    )

    def failed(self, failure: Failure) -> Verdict:
        return super().failed(waiting(failure))

    def trials(self, seed: int, device: str) -> dict[str, TokenTrial]:
        chance = trial_random(self.id, seed)
        two, three = ([chance.sample(range(3, 90), world) for _ in range(2)] for world in (2, 3))
        some = chance.randint(3, 90)
        # Totals that no byte counts, and numbers of which 16 bits keep three digits only.
        two.append([chance.randrange(20_001, 50_000, 2), chance.randrange(2_049, 6_000, 2)])
        calls: dict[str, Sequence[Sequence[int]]] = {
            "uneven": two,
            "ranks": three,
            "empty": [(0, some), (some, 0), (0, 0), (1, 0), (0, 1)],
        }
        return {name: TokenTrial(seed, tuple(map(tuple, several))) for name, several in calls.items()}

    def judge(self, trials: Mapping[str, TokenTrial], observations: Mapping[str, Observation]) -> Verdict:
        results: dict[str, str] = {}
        named: dict[str, list[str]] = {}
        for name, trial in trials.items():
            seen = observations[name]
            results[name] = waiting(seen.failure).message if seen.failure else factor_message(trial, seen)
            if results[name] and not seen.failure:
                named[name] = scale_slugs(trial, seen)
        if not (results["uneven"] or all(observations["uneven"].facts["kept"])):
            results["uneven"] = "Your function changes the number that it is given."
        telling = [slugs for name, slugs in named.items() if name != "empty"] or [*named.values()]  # 0 fits many formulas
        everywhere = [slug for slug in WRONG if named and all(slug in several for several in telling)]
        remark = factors_in_words(trials, observations) if named and not everywhere else ""
        apart = [slug for several in named.values() for slug in several if slug == "ranks-call-apart"]
        slugs = [] if remark else everywhere[:1] or apart
        failure = next((waiting(seen.failure) for seen in observations.values() if seen.failure), None)
        return self.verdict(results, mistakes=tuple(map(mistake, dict.fromkeys(slugs))), failure=failure, remark=remark)
