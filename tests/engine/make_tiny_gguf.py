# SPDX-License-Identifier: Apache-2.0
"""Writes a tiny llama model with random weights as GGUF, so that a real engine can serve it without downloads.

python make_tiny_gguf.py OUT.gguf [--context 8192] [--layers 2] [--width 64]

The model's output means nothing, but the engine tokenizes, applies the chat template, limits the context and streams
with the code that it uses for any model.
"""

import argparse

import gguf
import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CHARACTERS = LETTERS + "0123456789.,:;!?'\"()-_/\n"
BLOCK = "\N{LOWER ONE EIGHTH BLOCK}"  # how SentencePiece writes a space
TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def vocabulary():
    """Returns (token, score, type) for special tokens, bytes, characters, letters after a space, and all pairs of letters."""
    rows = [("<unk>", 0.0, gguf.TokenType.UNKNOWN), ("<s>", 0.0, gguf.TokenType.CONTROL),
            ("</s>", 0.0, gguf.TokenType.CONTROL)]
    rows += [(f"<0x{byte:02X}>", 0.0, gguf.TokenType.BYTE) for byte in range(256)]
    rows += [(BLOCK, -1000.0, gguf.TokenType.NORMAL)]
    rows += [(character, -1000.0, gguf.TokenType.NORMAL) for character in CHARACTERS]
    rows += [(BLOCK + letter, -1.0, gguf.TokenType.NORMAL) for letter in LETTERS]
    rows += [(a + b, -2.0, gguf.TokenType.NORMAL) for a in LETTERS for b in LETTERS]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    options = parser.parse_args()

    rows = vocabulary()
    width, heads, inner = options.width, 4, options.width * 2
    random = np.random.default_rng(7)
    writer = gguf.GGUFWriter(options.out, "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(options.context)
    writer.add_embedding_length(width)
    writer.add_block_count(options.layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(len(rows))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([row[0].encode() for row in rows])
    writer.add_token_scores([row[1] for row in rows])
    writer.add_token_types([int(row[2]) for row in rows])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)

    def weights(*shape):
        return (random.standard_normal(shape) * 0.05).astype(np.float32)

    output = weights(len(rows), width)
    output[:259] = 0  # so that greedy decoding writes only printable text and does not stop
    writer.add_tensor("token_embd.weight", weights(len(rows), width))
    writer.add_tensor("output_norm.weight", np.ones(width, dtype=np.float32))
    writer.add_tensor("output.weight", output)
    for layer in range(options.layers):
        name = f"blk.{layer}."
        writer.add_tensor(name + "attn_norm.weight", np.ones(width, dtype=np.float32))
        writer.add_tensor(name + "ffn_norm.weight", np.ones(width, dtype=np.float32))
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{name}{part}.weight", weights(width, width))
        writer.add_tensor(name + "ffn_gate.weight", weights(inner, width))
        writer.add_tensor(name + "ffn_up.weight", weights(inner, width))
        writer.add_tensor(name + "ffn_down.weight", weights(width, inner))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
