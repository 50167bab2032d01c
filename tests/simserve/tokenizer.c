/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"

#define CANONICAL_DIGITS 5

struct tokenizer {
    /* For each hash: the piece with this hash that was encoded last, padded with NUL bytes. */
    char pieces[TOKENIZER_CANONICAL][TOKENIZER_PIECE_BYTES];
};

struct tokenizer *tokenizer_create(void)
{
    return memory_zeroed(1, sizeof(struct tokenizer));
}

void tokenizer_destroy(struct tokenizer *tokenizer)
{
    free(tokenizer);
}

void tokens_add(struct tokens *tokens, uint32_t id)
{
    if (tokens->count == tokens->capacity) {
        tokens->capacity = tokens->capacity ? 2 * tokens->capacity : 256;
        tokens->ids = memory_resize(tokens->ids, tokens->capacity, sizeof *tokens->ids);
    }
    tokens->ids[tokens->count++] = id;
}

void tokens_finish(struct tokens *tokens)
{
    free(tokens->ids);
    *tokens = (struct tokens){ 0 };
}

static const bool is_space[256] = {
    [' '] = true, ['\n'] = true, ['\t'] = true, ['\r'] = true, ['\f'] = true, ['\v'] = true,
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a canonical word: "w" followed by a number below TOKENIZER_CANONICAL in five lower-case
 * hexadecimal digits. */
static bool canonical_id(const char *piece, size_t length, uint32_t *out)
{
    uint32_t id = 0;

    if (length != 1 + CANONICAL_DIGITS || piece[0] != 'w')
        return false;
    for (size_t i = 1; i < length; i++) {
        int digit = hex_digit(piece[i]);

        if (digit < 0)
            return false;
        id = id * 16 + (uint32_t)digit;
    }
    if (id >= TOKENIZER_CANONICAL)
        return false;
    *out = id;
    return true;
}

static uint32_t piece_id(struct tokenizer *tokenizer, const char *piece, size_t length)
{
    char padded[TOKENIZER_PIECE_BYTES] = { 0 };
    uint64_t bits;
    uint32_t id;

    if (canonical_id(piece, length, &id))
        return id;
    memcpy(padded, piece, length);
    memcpy(&bits, padded, sizeof bits);
    bits = (bits ^ (bits >> 32)) * 0x9e3779b97f4a7c15u;
    id = (uint32_t)((bits ^ (bits >> 29)) >> 20) % TOKENIZER_CANONICAL;
    memcpy(tokenizer->pieces[id], padded, sizeof padded);
    return TOKENIZER_CANONICAL + id;
}

/* Returns the length of the next piece of a word: at most 8 bytes, and no split characters. */
static size_t piece_length(const char *word, size_t length)
{
    size_t cut = TOKENIZER_PIECE_BYTES;

    if (length <= cut)
        return length;
    while (cut > 1 && ((unsigned char)word[cut] & 0xc0) == 0x80)
        cut--;
    return cut;
}

void tokenizer_encode(struct tokenizer *tokenizer, const char *text, size_t length,
                      struct tokens *out)
{
    const char *end = text + length;

    while (text < end) {
        const char *word = text;

        while (text < end && !is_space[(unsigned char)*text])
            text++;
        while (word < text) {
            size_t piece = piece_length(word, (size_t)(text - word));

            tokens_add(out, piece_id(tokenizer, word, piece));
            word += piece;
        }
        text++;
    }
}

static void decode_one(const struct tokenizer *tokenizer, uint32_t id, struct text *out)
{
    const char *piece;

    if (id < TOKENIZER_CANONICAL) {
        text_addf(out, "w%05x", id);
        return;
    }
    piece = tokenizer->pieces[id - TOKENIZER_CANONICAL];
    if (piece[0])
        text_add_bytes(out, piece, strnlen(piece, TOKENIZER_PIECE_BYTES));
    else
        text_addf(out, "u%05x", id); /* no piece had this id yet: any one-token word will do */
}

void tokenizer_decode(const struct tokenizer *tokenizer, const uint32_t *ids, size_t count,
                      struct text *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_add_char(out, ' ');
        decode_one(tokenizer, ids[i], out);
    }
}
