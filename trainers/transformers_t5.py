"""transformers' Trainer: an encoder-decoder, T5, with answers of different lengths."""

from common import WORDS, scratch, sequences, watched
from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments

model = T5ForConditionalGeneration(
    T5Config(vocab_size=WORDS, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0)
)
data = [{"input_ids": tokens[::-1], "labels": tokens} for tokens in sequences()]


def train():
    arguments = TrainingArguments(
        scratch(), per_device_train_batch_size=1, gradient_accumulation_steps=4, num_train_epochs=2,
        max_grad_norm=0, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    Trainer(model, arguments, train_dataset=data).train()


watched(model, train, accumulation_steps=4)
