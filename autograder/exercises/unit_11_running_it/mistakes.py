"""The mistakes that only exercises of unit 11 show, and what students are told about them."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

for _slug, _what, _hint in (
    (
        "model",
        "parameters are",
        "The same script builds the run again. Which weights does it start with? If they come back, is it to the last bit?",
    ),
    ("optimizer", "optimizer's state is", "What does AdamW know after ten updates that it does not know before the first?"),
    ("schedule", "schedule's place is", "Which rate should the first update after the pause use, and what knows it?"),
    (
        "scaler",
        "scaler's state (its scale, or how long it has had it) is",
        "What scale does a new scaler begin with, and what scale had the old one reached?",
    ),
    ("position", "place in the data is", "Which micro-batch should the resumed run read first?"),
    ("order", "order of this epoch's samples is", "The epoch is half over. In which order will the other half be read?"),
    ("shuffler", "state of the generator that shuffles is", "What draws the order of the next epoch, and from which state?"),
    ("rng", "state of torch's own random numbers is", "What does a dropout layer draw from, and in which state was that?"),
):
    add_mistake(
        f"state-missing-{_slug}", f"After loading, the {_what} not the same as when the rest of the run was saved.", _hint
    )
add_mistake(
    "nothing-restored",
    "After a kill, the run that load_checkpoint leaves is as it was at the very beginning: it trains everything again.",
    "Print run.position before and after load_checkpoint.",
)
add_mistake(
    "checkpoint-in-memory",
    "The process that saved can bring the run back, and a new one with the same files cannot: the checkpoint, a part of it, or "
    "what your load_checkpoint needs to find it, such as a name, is not in the folder of path when save_checkpoint returns.",
    "Restart Python in your mind between save_checkpoint and load_checkpoint. What is still there?",
)
add_mistake(
    "saving-disturbs",
    "Saving changes the run: with your checkpoints it does not go where it goes without them.",
    "Does your save_checkpoint clear, step, draw or move anything? It should only read.",
)
add_mistake(
    "mid-window-checkpoint",
    "After loading, the run stands in the middle of a window. The gradients accumulated before were in .grad, which no "
    "state_dict holds. Unless you bring them back as well, the next update is made of the rest.",
    "At which moments is nothing waiting in .grad? The run knows.",
)
add_mistake(
    "checkpoint-too-old",
    "After some updates the folder holds nothing new: nothing is written, or it is removed again. So a resumed run repeats "
    "updates that were made before the kill.",
    "After which micro-batches does an update come? At the end of an epoch it may be sooner than after N. If you remove old "
    "files: in which order are …8 and …12?",
)
add_mistake(
    "older-checkpoint-loaded",
    "After the last update before a kill the folder holds something new, and yet the run that load_checkpoint leaves stands at "
    "an earlier place.",
    "Print run.position when you save and when you load. Does load read the file that you wrote last? If there are several: in "
    "which order do you look at …8 and …12?",
)
add_mistake(
    "objects-in-the-file",
    "torch.load refuses what is in your file. It reads tensors, numbers, texts, and dictionaries and lists of these, but "
    "hardly any other objects.",
    "What can you get from each object of the run and save in its place?",
)
add_mistake(
    "file-of-another-kind",
    "torch.load reads what torch.save has written, and what it finds in your file was written by something else.",
    "Which function writes your file, and which one reads what that function writes?",
)
add_mistake(
    "state-in-place-of-object",
    "After loading, an object of the run has been replaced by something else, such as its own state, and a run that needs it "
    "cannot go on.",
    "The fresh run has all its objects. How does a state get into an object that already exists?",
)
add_mistake(
    "checkpoint-overwritten",
    "If the process dies while you save, load brings back no whole checkpoint. By then the old one is overwritten, removed or "
    "half replaced, or load takes the unfinished one, or it refuses or overlooks the whole one that is there.",
    "Go through save_checkpoint line by line. If it ended there, which files would there be, and which would load take?",
)
add_mistake(
    "graph-kept",
    "You keep losses as they come, or what hangs on them, such as a sum or grad_fn, and with it the graph of a micro-batch. "
    "Before backward a graph holds all activations, after backward it is only a skeleton. Either way it stays in memory.",
    "Which part of a loss do you need for a report, and what else is attached to it?",
)
add_mistake(
    "loss-never-restarted",
    "Your loss is a mean over all windows so far: it lags behind and hides what happens now.",
    "What should your sums hold when a new window begins?",
)
add_mistake(
    "loss-sum-never-restarted",
    "Your sum of losses goes on from window to window and is never reset, so the loss seems to rise.",
    "What should your sums hold when a new window begins?",
)
add_mistake(
    "throughput-of-one-micro-batch",
    "You divide the samples of one micro-batch by the time of a whole window. Those of its others are missing.",
    "How many samples went through the model between two updates?",
)
add_mistake(
    "throughput-of-updates",
    "You report updates per second. They change when N does, although nothing has become faster.",
    "Which number can you compare between two runs with different N?",
)
add_mistake(
    "throughput-of-micro-batches",
    "You report micro-batches per second. They change when B does, although nothing has become faster.",
    "Which number can you compare between two runs with different B?",
)
add_mistake(
    "throughput-without-update",
    "Your clock stops at the last micro-batch, so the time of the window's own update is missing.",
    "When does a window begin and end? The time of its update belongs to it.",
)
add_mistake(
    "throughput-without-first",
    "Your clock starts in the first call of micro_batch, when the first forward and backward passes are already over.",
    "When does a window begin? Which call comes last before that?",
)
add_mistake(
    "throughput-turned-round",
    "You report how long it takes, not how many samples there are in a second.",
    "Which of the two numbers do you divide by the other?",
)
add_mistake(
    "throughput-since-start",
    "Your throughput is an average since the start: it hardly moves when the run slows down.",
    "Over which samples and which seconds should this window's number be?",
)
add_mistake(
    "clock-never-restarted",
    "You divide the samples of one window by the time since the start, so throughput seems to fall with every window.",
    "When does the clock of the second window start?",
)
add_mistake(
    "samples-never-restarted",
    "Your count of samples goes on from window to window and is never reset.",
    "What should your sums hold when a new window begins?",
)
add_mistake(
    "meters-share-state",
    "What another meter is told counts in yours as well: the two share their sums.",
    "Where do your sums live: in each meter, in its class, or in the module?",
)
add_mistake(
    "nominal-sizes",
    "You count every micro-batch of a window as if it had the size of one of them, but sizes differ.",
    "You are told the samples of every micro-batch. Who adds them up?",
)
add_mistake(
    "effective-batch-of-one",
    "You report the size of a micro-batch as the effective batch size.",
    "Over how many samples does an update average?",
)
add_mistake(
    "effective-batch-in-micro-batches",
    "You report how many micro-batches an update has seen, not how many samples.",
    "Over how many samples does an update average?",
)
add_mistake(
    "loss-never-divided",
    "The loss you report is a sum over the samples of the window that is never divided: it grows with the window.",
    "What makes a mean of a sum over samples?",
)
add_mistake(
    "loss-means-over-samples",
    "You add up the mean losses of micro-batches and divide by the number of samples, but each was already divided by its own.",
    "How do you get from a mean loss to the sum over its samples?",
)
add_mistake(
    "throughput-mean-of-rates",
    "You average the speeds of the micro-batches, so a quick one counts as much as one that took long.",
    "60 km at 60 km/h and 60 km at 20 km/h: how fast is that on average?",
)
add_mistake(
    "largest-or-nothing",
    "You look at one size only, the largest that fits, and refuse to plan if it does not divide. A smaller one may.",
    "If there is room for 16 and the share is 60, which sizes come next, and which of them divides 60?",
)
add_mistake(
    "size-divides-recipe-only",
    "Your sizes are chosen as if they had to divide the recipe's batch. They have to divide what one rank reads of it.",
    "If 2 ranks share 90 samples, each reads 45. Can one rank cut these into micro-batches of 18?",
)
add_mistake(
    "plan-for-one-rank",
    "In your plan each rank reads the whole recipe's batch for an update: B × N × W is W times too large.",
    "How many of the recipe's samples are left for each rank?",
)
add_mistake(
    "micro-batch-of-all-ranks",
    "You return the micro-batch size of all ranks together.",
    "B is what goes through one model at once. Which one do you multiply by W?",
)
add_mistake(
    "budget-of-all-ranks",
    "Your sizes are as large as if you added up the memory of all ranks. A micro-batch lives on one device and has that "
    "one's budget.",
    "Whose memory does memory_budget describe?",
)
add_mistake(
    "budget-divided-among-ranks",
    "Your sizes are those of a budget divided among the ranks. Each rank has its own device with its own budget.",
    "Whose memory does memory_budget describe?",
)
add_mistake(
    "powers-of-two-only",
    "You only consider powers of two, or keep halving, and miss larger micro-batches that fit: the run is slower and nothing "
    "is gained.",
    "Which numbers divide 48? 3 is one of them.",
)
add_mistake(
    "effective-batch-of-one-rank",
    "Where several ranks share the batch, the effective batch size you report is that of a single rank.",
    "How many samples does one update average over, all ranks together?",
)
add_mistake(
    "uneven-ranks-not-refused",
    "Where the ranks cannot share the recipe's batch evenly, your function does not always raise a ValueError.",
    "What becomes of the samples that are left over when 26 are shared among 4 ranks?",
)
