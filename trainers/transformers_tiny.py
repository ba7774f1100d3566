"""A tokenizer that takes numbers for words, made on the spot."""

from common import WORDS
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    names = {"[PAD]": 0, "[EOS]": WORDS, "[UNK]": WORDS + 1}
    tokenizer = Tokenizer(WordLevel({str(k): k for k in range(1, WORDS)} | names, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", eos_token="[EOS]", unk_token="[UNK]")
