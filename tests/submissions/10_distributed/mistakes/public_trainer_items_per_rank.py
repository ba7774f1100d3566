"""Each rank divides by the tokens it has seen itself."""

STYLE = "a token-counting trainer after its first repair (Transformers)"
REPORT = "tokens are averaged over each rank by itself, then over ranks"
SOURCE = "https://github.com/huggingface/transformers/issues/34242"
PREDICTED = ("local-tokens-only",)
EXERCISE = "global_token_scale"
MISTAKES = ("local-tokens-only",)
LOST = ("uneven", "ranks", "empty")


def global_token_scale(local_tokens):
    num_items_in_batch = local_tokens.sum()
    return local_tokens / num_items_in_batch
