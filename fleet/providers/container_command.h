/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the credentials that a container's command line may contain, so that it can be shown and
 * stored. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Returns the words with "(hidden)" in place of everything that looks like a credential or follows
 * a name like "--api-key". To each word that is changed, a digest of the original is appended, so
 * that a change of the hidden value is noticed. *is_value must be true if the first word may be the
 * value of a name that precedes it; on return, it is true if a word that follows the last one may
 * be such a value. New reference; NULL for NULL. */
json_t *container_command_mask(const json_t *words, bool *is_value);
