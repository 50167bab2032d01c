/* SPDX-License-Identifier: Apache-2.0 */
/* Hides a secret, and large pieces of it, in the output of a server that received it. The secret is
 * found as it is, escaped (as in JSON, URLs or HTML), in base64 or hexadecimal, in upper or lower
 * case, and with spaces in between. This protects against servers that repeat what they received; a
 * server that wants to reveal a secret always can. */
#pragma once

#include "base/core/text.h"

struct error;
struct mask;

/* Returns NULL for NULL and "". Free with mask_destroy. A mask that is NULL hides nothing. */
struct mask *mask_create(const char *secret);
void mask_destroy(struct mask *mask); /* wipes it; does nothing for NULL */
void mask_destroy_at(struct mask **mask);
#define MASK_AUTO __attribute__((cleanup(mask_destroy_at))) struct mask *

/* Whether ordinary answers could contain the secret by chance: it is short, has few different
 * bytes, or is a common word. */
bool mask_is_weak(const char *secret);

/* The kind of text. A weak secret is hidden only in a MASK_FAILURE text, and only if it is a
 * separate word. Any other secret is hidden in both kinds, and so is any piece of at least three
 * quarters of it. */
enum mask_kind {
    MASK_ANSWER,
    MASK_FAILURE, /* a message about a failure */
};

/* Replaces the secret with "(hidden)" everywhere in the text. If `is_truncated`, the text was cut
 * off, so a piece of the secret at the text's end is hidden even if it has only 8 bytes. */
void mask_text(const struct mask *mask, enum mask_kind kind, bool is_truncated, struct text *text);
/* The same for a string in an array of `size` bytes. The string counts as truncated if the array
 * has no room for another character of UTF8_LONGEST bytes. */
void mask_string(const struct mask *mask, enum mask_kind kind, char *string, size_t size);
void mask_error(const struct mask *mask, struct error *error);
/* How many bytes of a growing text can be masked and shown now. The bytes after them may be the
 * beginning of a piece of the secret, or of an escape sequence. Returns `length` if `mask` is NULL
 * or the secret is weak. */
size_t mask_safe_length(const struct mask *mask, const char *bytes, size_t length);
