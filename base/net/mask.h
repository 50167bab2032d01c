/* SPDX-License-Identifier: Apache-2.0 */
/* Hides a secret in the output of a server that was given it: as it is, escaped (JSON, percent,
 * HTML), in base64 or hexadecimal, in another case, with blanks in between, and pieces of it.
 * Whoever wants to betray a secret he knows always can: this is for servers that repeat what they
 * were sent. */
#pragma once

#include "base/core/text.h"

struct error;
struct mask;

/* NULL, which hides nothing, for "". */
struct mask *mask_create(const char *secret);
void mask_destroy(struct mask *mask); /* wipes it; NULL is fine */
void mask_destroy_at(struct mask **mask);
#define MASK_AUTO __attribute__((cleanup(mask_destroy_at))) struct mask *

/* Is it so short or so common a word that ordinary answers may have it too? */
bool mask_is_weak(const char *secret);

/* What the text is. Weak secrets are hidden in what is said of a failure alone, and only as a word
 * of their own; of the others three quarters in a row are enough. */
enum mask_kind {
    MASK_ANSWER,
    MASK_FAILURE,
};

/* Replaces the secret by "(hidden)" wherever it is in the text. `is_cut`: more stood behind the
 * text's end, so that there 8 bytes of the secret are enough. */
void mask_text(const struct mask *mask, enum mask_kind kind, bool is_cut, struct text *text);
/* The same in a string that was cut to fit its array, if it fills it. */
void mask_string(const struct mask *mask, enum mask_kind kind, char *string, size_t size);
void mask_error(const struct mask *mask, struct error *error);
/* How much of the start of a text that still grows may be shown: the rest may be the beginning of
 * the secret. */
size_t mask_settled(const struct mask *mask, const char *bytes, size_t length);
