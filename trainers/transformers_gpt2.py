"""transformers' Trainer: a GPT-2 on sequences of different lengths, one to a micro-batch."""

from common import WORDS, scratch, sequences, watched
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

model = GPT2LMHeadModel(GPT2Config(vocab_size=WORDS, n_positions=16, n_embd=16, n_layer=1, n_head=2))
data = [{"input_ids": tokens, "labels": tokens} for tokens in sequences()]


def train():
    arguments = TrainingArguments(
        scratch(), per_device_train_batch_size=1, gradient_accumulation_steps=4, num_train_epochs=2,
        max_grad_norm=0, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    Trainer(model, arguments, train_dataset=data).train()


watched(model, train, accumulation_steps=4)
