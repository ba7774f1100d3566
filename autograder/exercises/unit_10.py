"""Unit 10, distributed: how do ranks and windows multiply?"""

from __future__ import annotations

from autograder.exercise import Exercise, Failure, Observation, Part, register, trial_random
from autograder.loop_trials import LoopTrial, probe_length, uneven_sizes
from autograder.mistakes import add_mistake, mistake
from autograder.rank_judging import (
    SEVERAL_GRAPHS,
    WHOLE_WINDOW,
    drift_message,
    graphs_message,
    movement_message,
    name_rank_mistakes,
    needless_rounds,
    rounds_message,
)
from autograder.rank_trials import DEVICE, RankSeen, RanksTrial, observe_ranks, ranks_seen, run_ranks
from autograder.token_scale_judging import WRONG, TokenTrial, factor, factor_message, scale_slugs
from gradaccum.collectives import Collectives
from gradaccum.problems import Problem

UNIT = "10_distributed"


@register
class DdpTrainEpoch(Exercise):
    """``ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps)``, on two ranks."""

    id = "ddp_train_epoch"
    unit = UNIT
    cpu_only = True
    parts = (
        Part("full", "full windows, one micro-batch's graph at a time", 2),
        Part("leftover", "leftover windows, ragged micro-batches and a stale .grad", 2),
        Part("ranks", "ranks that stay identical", 1),
        Part("rounds", "one all-reduce round per window", 2),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        n = chance.choice([3, 4])
        size, left = chance.choice([2, 5]), chance.randint(2, n - 1)
        uneven = [uneven_sizes(chance, [1, 2, 3, 5, 6], n) for _ in range(2)]
        basics = {"accumulation_steps": n, "device": DEVICE, "dtype": "float64", "width": 12}

        def trial(offset, *epochs, frozen=False, **options):
            problem = Problem(seed + offset, epochs=tuple(map(tuple, epochs)), **basics, **options)
            return RanksTrial(LoopTrial(problem, frozen=frozen))

        deep = Problem(seed + 4, 24, ((16,) * 24,), width=2, depth=12, coupled=True, device=DEVICE, dtype="float64")
        every_kind = ([*uneven[0], *uneven[1][:left]], [size] * probe_length(1, n, left), [size] * (n - 1))
        return {
            "full": trial(1, [size] * (2 * n), [size] * n, gated=True),
            "leftover": trial(2, [*uneven[1], *uneven[0][:left]], [size] * (n - 1), stale=True),
            "memory": RanksTrial(LoopTrial(deep, meter=True)),
            "probe": trial(3, *every_kind, frozen=True, stale=True, gated=True),
        }

    def observe(self, function, trial):
        return observe_ranks(function, trial)

    def judge(self, trials, observations):
        checked = {name: _checked(trials[name], observations[name]) for name in trials}
        failures = {name: ranks for name, ranks in checked.items() if isinstance(ranks, Failure)}
        looks = {
            "full": ((movement_message, "full"), (_mode_message, "full"), (graphs_message, "memory")),
            "leftover": ((movement_message, "leftover"),),
            "ranks": ((drift_message, "full"), (drift_message, "leftover")),
            # Counts are what the ranks say; that they did share is seen from their numbers.
            "rounds": ((drift_message, "full"), (rounds_message, "full"), (rounds_message, "leftover")),
        }
        results = {}
        for part, several in looks.items():
            said = (failures[n].message if n in failures else look(trials[n], checked[n]) for look, n in several)
            results[part] = next(filter(None, said), "")
        failure = next(iter(failures.values()), None)
        if not any(results.values()):
            return self.verdict(results)
        slugs, shown, remark = (), {}, ""
        if "memory" not in failures and graphs_message(trials["memory"], checked["memory"]) in (SEVERAL_GRAPHS, WHOLE_WINDOW):
            slugs = ("one-big-batch",)
        if "probe" in failures:
            slugs += _cut_off(observations["probe"])
        else:
            named, remark, due, found = name_rank_mistakes(trials["probe"], checked["probe"])
            rounds = needless_rounds(trials["probe"], checked["probe"])
            if {"sync-wrong-one", "windows-not-synced"} & set(
                named
            ):  # what must change is where gradients travel, not how often
                rounds = ()
            slugs = (*named, *rounds, *slugs)
            shown = {"expected": due, "found": found} if not found.same_as(due) else {}
        if "retained-graph" in slugs:
            slugs = tuple(slug for slug in slugs if slug != "one-big-batch")  # what is retained is in memory, of course
        remark = "" if slugs else remark
        return self.verdict(results, mistakes=tuple(map(mistake, slugs)), failure=failure, remark=remark, **shown)


def _checked(trial: RanksTrial, seen: Observation) -> list[RankSeen] | Failure:
    if seen.failure:
        return seen.failure
    try:
        return ranks_seen(trial, seen)
    except ValueError:
        return Failure("died", "What the ranks brought back cannot be read.")


def _mode_message(trial: RanksTrial, ranks: list[RankSeen]) -> str:
    in_training = all(rank.facts["training_after"] for rank in ranks)
    return "" if in_training else "Your function left the model in evaluation mode."


def _cut_off(seen: Observation) -> tuple[str, ...]:
    """Why the first loss of a loop has no graph, if that is what stopped it."""
    if seen.facts.get("without_graph") is not True or seen.facts.get("backwards") != 0:
        return ()
    return ("detached",) if seen.facts.get("last_forward_with_grad") is True else ("grad-disabled",)


@register
class GlobalTokenScale(Exercise):
    """``global_token_scale(local_tokens) -> Tensor``: what to multiply a rank's mean loss by."""

    id = "global_token_scale"
    unit = UNIT
    cpu_only = True
    parts = (
        Part("uneven", "two ranks with different numbers of tokens", 1),
        Part("ranks", "another number of ranks", 1),
        Part("empty", "ranks without tokens", 1),
    )

    def trials(self, seed, device):
        chance = trial_random(self.id, seed)
        two, three = ([chance.sample(range(3, 90), world) for _ in range(2)] for world in (2, 3))
        some = chance.randint(3, 90)
        calls = {"uneven": two, "ranks": three, "empty": [(0, some), (some, 0), (0, 0)]}
        return {name: TokenTrial(seed, tuple(map(tuple, several))) for name, several in calls.items()}

    def observe(self, function, trial):
        def work(rank: int) -> Observation:
            factors, shared = [], []
            for call in trial.calls:
                with Collectives() as seen:
                    factors.append(factor(function, call[rank]))
                shared.append(len(seen.calls))
            return Observation(facts={"factors": factors, "shared": shared})

        seen = run_ranks(trial.world_size, work, trial.seed)
        if seen[0].failure:
            return seen[0]
        return Observation(
            facts={"ranks": [one.facts["factors"] for one in seen], "shared": [one.facts["shared"] for one in seen]}
        )

    def judge(self, trials, observations):
        results, named = {}, []
        for name, trial in trials.items():
            seen = observations[name]
            results[name] = seen.failure.message if seen.failure else factor_message(trial, seen)
            if results[name] and not seen.failure:
                named.append(scale_slugs(trial, seen))
        everywhere = [slug for slug in WRONG if named and all(slug in several for several in named)]
        slugs = everywhere[:1] or [slug for several in named for slug in several[:1]]
        failure = next((seen.failure for seen in observations.values() if seen.failure), None)
        return self.verdict(results, mistakes=tuple(map(mistake, dict.fromkeys(slugs))), failure=failure)


for _slug, _message, _hint in (
    (
        "sync-every",
        "Your gradients travel after every micro-batch: N all-reduces per window where one would do. No update is another one "
        "for that, it only costs time.",
        "Which of a window's backwards is the only one that has to talk to the other ranks?",
    ),
    (
        "sync-again",
        "Your gradients travel more than once per window, where once would do.",
        "Who shares gradients in your code: DistributedDataParallel, you, or both?",
    ),
    (
        "sync-around-backward-only",
        "Your no_sync comes too late: it is on during the backward and off during the forward, so every micro-batch still "
        "costs an all-reduce.",
        "DistributedDataParallel prepares its all-reduce in the forward. What has to stand inside the with block?",
    ),
    (
        "never-sync",
        "No gradient ever reaches another rank: each rank trains a model of its own.",
        "Which call tells the others? In which micro-batch of a window must it not be switched off?",
    ),
    (
        "sync-wrong-one",
        "Only part of a window is shared: micro-batches after the all-reduce stay with their rank, and the ranks drift apart.",
        "An all-reduce shares what is in .grad at that moment. Which micro-batch of the window has to trigger it?",
    ),
    (
        "windows-not-synced",
        "Some windows are shared and others are not at all: their updates use each rank's own gradient, and the ranks drift "
        "apart.",
        "Which micro-batches trigger an all-reduce in your code? Is there one of them in every window?",
    ),
    (
        "shared-out-again",
        "Part of each rank's own micro-batches is never read. They are shared out among the ranks before you are called, and "
        "you share them out once more.",
        "Whose micro-batches are in the list that a rank is given?",
    ),
    (
        "one-rank-for-all",
        "All ranks follow the gradients of one of them, and what the others have computed is lost.",
        "Which operation takes something from every rank?",
    ),
    (
        "tail-not-synced",
        "The leftover window is never shared: its update uses each rank's own gradient, and the ranks drift apart.",
        "Which micro-batch is the last one of a window that has fewer than N?",
    ),
    (
        "ranks-update-apart",
        "The ranks do not make the same number of updates: some train, others stand by.",
        "Every rank has a model of its own. Who moves the parameters of the others?",
    ),
    (
        "rank-sum",
        "Gradients are added up over the ranks where their mean was due: each update is as many times too long as there are "
        "ranks.",
        "Which operation does your all-reduce do, and what does DistributedDataParallel do by itself?",
    ),
    (
        "rank-divided-twice",
        "The number of ranks divides twice: each update is as many times too short as there are ranks.",
        "DistributedDataParallel already averages over the ranks. Who else divides?",
    ),
    (
        "ranks-call-apart",
        "The ranks do not make the same calls: one returns without the all-reduce that another makes, which is then "
        "answered by the next that comes along.",
        "What does a rank without tokens still have to do, so that the others learn their sum?",
    ),
    (
        "local-tokens-only",
        "Your factor knows nothing of the other ranks' tokens.",
        "How does a rank learn how many tokens there are on all ranks together?",
    ),
    (
        "world-size-missing",
        "Your factor is the rank's share of all tokens. DistributedDataParallel then averages: the result is as many times too "
        "small as there are ranks.",
        "Add up your factors over the ranks and divide by their number, as the average does. It should come out as 1.",
    ),
    (
        "count-overwritten",
        "Every rank gets the number of ranks: all_reduce works in place, so the count of this rank is gone when you divide.",
        "What is in the tensor after all_reduce? What do you still need from before?",
    ),
    (
        "scale-upside-down",
        "Your fraction is upside down: ranks with few tokens count most.",
        "Should a rank with more tokens than the others weigh more or less?",
    ),
    (
        "scale-for-sums",
        "Your factor is right for losses that are summed over tokens; here each rank has the mean over its own.",
        "How do you get from a rank's mean loss to its sum?",
    ),
    (
        "world-size-fixed",
        "Your factor is right for two ranks only.",
        "Ask torch.distributed how many ranks there are.",
    ),
    (
        "world-size-twice",
        "The number of ranks is in your factor twice.",
        "Is the total you divide by a sum over ranks or a mean?",
    ),
    (
        "same-factor-for-all",
        "Your factor is a number of tokens, the same on every rank, not a rank's share.",
        "Which rank should weigh more than the others, and by how much?",
    ),
    (
        "empty-not-a-number",
        "Where no rank has tokens your factor is 0/0, which is not a number.",
        "What do you divide by when there is nothing to average?",
    ),
):
    add_mistake(_slug, _message, _hint)
