"""TRL's SFTTrainer: a Llama on sequences of different lengths, one to a micro-batch."""

from common import WORDS, scratch, sequences, watched
from datasets import Dataset
from transformers import LlamaConfig, LlamaForCausalLM
from transformers_tiny import tiny_tokenizer
from trl import SFTConfig, SFTTrainer

model = LlamaForCausalLM(
    LlamaConfig(vocab_size=WORDS + 2, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
)


def train():
    arguments = SFTConfig(
        scratch(), per_device_train_batch_size=1, gradient_accumulation_steps=4, num_train_epochs=2,
        max_grad_norm=0, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no", bf16=False,
    )  # fmt: skip
    data = Dataset.from_dict({"input_ids": sequences()})
    SFTTrainer(model, arguments, train_dataset=data, processing_class=tiny_tokenizer()).train()


watched(model, train, accumulation_steps=4)
