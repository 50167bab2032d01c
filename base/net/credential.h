/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes credentials by the forms that their issuers use, so that a credential that was entered
 * in the wrong place is neither stored nor shown. */
#pragma once

#include "base/core/text.h"

/* Finds the first credential in the text: it begins at text[*at] and has *length bytes. Returns
 * false if there is none. */
bool credential_find(const char *text, size_t *at, size_t *length);
bool credential_is_in(const char *text); /* NULL: false */
/* Appends `text` in printable form. "(hidden)" replaces everything that looks like a credential,
 * and the user part of every URL. */
void credential_add_masked(struct text *out, const char *text);
