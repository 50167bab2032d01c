/* SPDX-License-Identifier: Apache-2.0 */
/* What looks like a credential, by the shapes that issuers give theirs: so that none that was typed
 * in the wrong place is kept or repeated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The first one anywhere in the text: its place and length. */
bool credential_find(const char *text, size_t *at, size_t *length);
bool credential_is_in(const char *text); /* NULL: no */
