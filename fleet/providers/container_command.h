/* SPDX-License-Identifier: Apache-2.0 */
/* Hides credentials in a container's command line, so that it can be shown and stored: its author
 * may have put credentials there. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Returns the words with "(hidden)" in place of what looks like a credential and of what follows a
 * name like "--api-key". A digest is appended to each word that is changed by this, so that a
 * change of the hidden value is noticed. *is_value: true if the first word may be the value of a
 * name that precedes it; on return, true if a word that follows the last one may be such a value.
 * New reference; NULL for NULL. */
json_t *container_command_mask(const json_t *words, bool *is_value);
