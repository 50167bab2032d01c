# SPDX-License-Identifier: Apache-2.0
"""Makes a tiny Llama model with random weights and a tokenizer, as a folder in Hugging Face's format, without downloads.

python make_tiny_hf.py FOLDER [--context 4096]

The model's output means nothing, but the engine batches, limits the context, streams and counts as with any model.
"""

import argparse
import itertools

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SPECIALS = ["<s>", "</s>", "<|user|>", "<|assistant|>", "<|system|>"]
TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def make_tokenizer():
    """Returns a tokenizer with at most 2048 tokens (SPECIALS, bytes, merged pieces), trained on words of three letters."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    words = (" " + "".join(letters) for letters in itertools.product(LETTERS, "aeiou", LETTERS))
    tokenizer.train_from_iterator(
        words, trainers.BpeTrainer(vocab_size=2048, special_tokens=SPECIALS, show_progress=False,
                                   initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>",
                                   chat_template=TEMPLATE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--context", type=int, default=4096)
    options = parser.parse_args()

    tokenizer = make_tokenizer()
    torch.manual_seed(7)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=128, intermediate_size=256, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=options.context,
        bos_token_id=0, eos_token_id=1, tie_word_embeddings=False)).to(torch.bfloat16)
    model.save_pretrained(options.folder)
    tokenizer.save_pretrained(options.folder)


if __name__ == "__main__":
    main()
