"""transformers' Trainer: a Llama that learns the answers only; the two tokens of each prompt have no label."""

from common import WORDS, scratch, sequences, watched
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

model = LlamaForCausalLM(
    LlamaConfig(vocab_size=WORDS, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
)
data = [{"input_ids": tokens, "labels": [-100, -100, *tokens[2:]]} for tokens in sequences()]


def train():
    arguments = TrainingArguments(
        scratch(), per_device_train_batch_size=1, gradient_accumulation_steps=4, num_train_epochs=2,
        max_grad_norm=0, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    Trainer(model, arguments, train_dataset=data).train()


watched(model, train, accumulation_steps=4)
