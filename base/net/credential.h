/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises credentials by the forms that issuers give them, so that one entered in the wrong
 * place is neither stored nor repeated. */
#pragma once

#include "base/core/text.h"

/* Finds the first credential in the text: its position and length. */
bool credential_find(const char *text, size_t *at, size_t *length);
bool credential_is_in(const char *text); /* NULL: false */
/* Adds `text` in printable form, with anything that looks like a credential replaced by "(hidden)",
 * and the user part of URLs omitted. */
void credential_add_masked(struct text *out, const char *text);
