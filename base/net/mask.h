/* SPDX-License-Identifier: Apache-2.0 */
/* Hides a secret in the output of a server to which it was sent: as it is, escaped (JSON, percent,
 * HTML), in base64 or hexadecimal, in upper or lower case, with blanks in between, and large pieces
 * of it. This is for servers that repeat what they received; a server that wants to reveal a secret
 * always can. */
#pragma once

#include "base/core/text.h"

struct error;
struct mask;

/* Returns NULL, which hides nothing, for NULL and "". Free with mask_destroy. */
struct mask *mask_create(const char *secret);
void mask_destroy(struct mask *mask); /* wipes it; does nothing for NULL */
void mask_destroy_at(struct mask **mask);
#define MASK_AUTO __attribute__((cleanup(mask_destroy_at))) struct mask *

/* Whether ordinary answers could contain the secret by chance: it is short, has few different
 * bytes, or is a common word. */
bool mask_is_weak(const char *secret);

/* The kind of text. A weak secret is hidden only in failures, and only as a separate word; of any
 * other secret, pieces of three quarters or more are hidden. */
enum mask_kind {
    MASK_ANSWER,
    MASK_FAILURE,
};

/* Replaces the secret by "(hidden)" everywhere in the text. `is_truncated`: the text was truncated,
 * so 8 or more bytes of the secret at the end of the text are hidden too. */
void mask_text(const struct mask *mask, enum mask_kind kind, bool is_truncated, struct text *text);
/* The same in a string, which counts as truncated if its array has no room for a further character
 * of UTF8_LONGEST bytes. */
void mask_string(const struct mask *mask, enum mask_kind kind, char *string, size_t size);
void mask_error(const struct mask *mask, struct error *error);
/* How many bytes of a growing text can be masked and shown now: the bytes after them may be the
 * beginning of a piece of the secret, or of an escape. All bytes if `mask` is NULL, or if the
 * secret is weak. */
size_t mask_safe_length(const struct mask *mask, const char *bytes, size_t length);
