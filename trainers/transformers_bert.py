"""transformers' Trainer: a BERT that classifies; the last micro-batch of an epoch is smaller."""

from common import WORDS, scratch, sequences, watched
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

model = BertForSequenceClassification(
    BertConfig(vocab_size=WORDS, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, num_labels=3)
)
data = [{"input_ids": tokens, "labels": sum(tokens) % 3} for tokens in sequences((6,) * 19)]


def train():
    arguments = TrainingArguments(
        scratch(), per_device_train_batch_size=2, gradient_accumulation_steps=4, num_train_epochs=2,
        max_grad_norm=0, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    Trainer(model, arguments, train_dataset=data).train()


watched(model, train, accumulation_steps=4)
