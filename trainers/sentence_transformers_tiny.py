"""What both scripts of sentence-transformers share: a tiny model, pairs of sentences, and the trainer."""

from common import WORDS, scratch, sequences
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.models import Pooling, Transformer
from transformers import BertConfig, BertModel
from transformers_tiny import tiny_tokenizer


def tiny_model() -> SentenceTransformer:
    folder = scratch()
    config = BertConfig(
        vocab_size=WORDS + 2, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    words = Transformer(folder)
    return SentenceTransformer(modules=[words, Pooling(16)], device="cpu")


def fit(model, loss, accumulation_steps=4):
    texts = [" ".join(map(str, tokens)) for tokens in sequences((6, 5, 8, 4, 7) * 7)]
    data = Dataset.from_dict({"anchor": texts, "positive": [text[::-1] for text in texts]})
    arguments = SentenceTransformerTrainingArguments(
        scratch(), per_device_train_batch_size=4, gradient_accumulation_steps=accumulation_steps, num_train_epochs=2,
        max_grad_norm=0, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    SentenceTransformerTrainer(model, arguments, train_dataset=data, loss=loss).train()
