# SPDX-License-Identifier: Apache-2.0
"""Makes a tokenizer from the words in WORDS.C, without downloading one. Each word is one token, as in simserve's tokenizer.

make_tokenizer.py FOLDER WORDS.C
"""

import re
import sys

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

CHAT = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def main(folder, source):
    with open(source) as file:
        words = re.findall(r'"([a-z]+)"', file.read())
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(["<s>", "</s>", "other", *words]))}
    # Unknown words become the ordinary word "other", because decoding would drop a special token.
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="other"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", model_max_length=100000
    )
    fast.chat_template = CHAT
    fast.save_pretrained(folder)


main(*sys.argv[1:])
