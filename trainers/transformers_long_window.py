"""transformers' Trainer: a Llama in windows of 400 micro-batches; 100 are left over."""

from common import LENGTHS, WORDS, scratch, sequences, watched
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

model = LlamaForCausalLM(
    LlamaConfig(vocab_size=WORDS, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
)
data = [{"input_ids": tokens, "labels": [-100, *tokens[1:]]} for tokens in sequences(LENGTHS * 50)]


def train():
    arguments = TrainingArguments(
        scratch(), per_device_train_batch_size=1, gradient_accumulation_steps=400, num_train_epochs=1,
        max_grad_norm=0, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    Trainer(model, arguments, train_dataset=data).train()


watched(model, train, accumulation_steps=400)
