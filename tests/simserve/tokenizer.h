/* SPDX-License-Identifier: Apache-2.0 */
/* A toy tokenizer with exact, predictable counts.
 *
 * Text is split at ASCII white space; a word of up to 8 bytes is one token. A longer word is split
 * into pieces of at most 8 bytes (never inside a UTF-8 sequence), each of which is one token. The
 * pieces "w00000" to "w1ffff" have the ids below TOKENIZER_CANONICAL. Every other piece has the id
 * TOKENIZER_CANONICAL + its hash; such an id decodes to the piece that was last encoded to it.
 * Decoding joins tokens with single spaces, so decoding ids and encoding the text again gives the
 * same ids, except for ids to which no piece was ever encoded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/text.h"

#define TOKENIZER_CANONICAL 131072
#define TOKENIZER_VOCABULARY (2 * TOKENIZER_CANONICAL)
#define TOKENIZER_PIECE_BYTES 8

struct tokens {
    uint32_t *ids;
    size_t count;
    size_t capacity;
};

#define TOKENS_AUTO __attribute__((cleanup(tokens_finish))) struct tokens

struct tokenizer;

struct tokenizer *tokenizer_create(void);
void tokenizer_destroy(struct tokenizer *tokenizer);
/* Appends the tokens of `text`. */
void tokenizer_encode(struct tokenizer *tokenizer, const char *text, size_t length,
                      struct tokens *out);
/* Appends the text of the tokens; every id must be below TOKENIZER_VOCABULARY. */
void tokenizer_decode(const struct tokenizer *tokenizer, const uint32_t *ids, size_t count,
                      struct text *out);

void tokens_add(struct tokens *tokens, uint32_t id);
void tokens_finish(struct tokens *tokens);
