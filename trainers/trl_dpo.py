"""TRL's DPOTrainer: pairs of answers of different lengths, two pairs to a micro-batch."""

from copy import deepcopy

from common import WORDS, scratch, sequences, watched
from datasets import Dataset
from transformers import LlamaConfig, LlamaForCausalLM
from transformers_tiny import tiny_tokenizer
from trl import DPOConfig, DPOTrainer

model = LlamaForCausalLM(
    LlamaConfig(vocab_size=WORDS + 2, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
)
reference = deepcopy(model)
words = [[str(token) for token in tokens] for tokens in sequences((6, 5, 8, 4, 7, 9, 3, 5) * 2)]
data = [
    {"prompt": " ".join(one[:2]), "chosen": " ".join(["", *one[2:]]), "rejected": " ".join(["", *one[:1:-1]])} for one in words
]


def train():
    arguments = DPOConfig(
        scratch(), per_device_train_batch_size=2, gradient_accumulation_steps=4, num_train_epochs=2,
        max_grad_norm=0, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    pairs = Dataset.from_list(data)
    DPOTrainer(model, reference, args=arguments, train_dataset=pairs, processing_class=tiny_tokenizer()).train()


watched(model, train, accumulation_steps=4)
