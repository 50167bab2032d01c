/* SPDX-License-Identifier: Apache-2.0 */
/* Hides credentials in a container's command line, so that it can be shown and stored: whoever
 * wrote it may have put one there. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Returns the words with "(hidden)" in place of what looks like a credential and of what follows a
 * name like "--api-key". A digest of the word is appended, so that a change of the value is
 * noticed. *is_value: whether the first word may be the value of such a name; set to whether a word
 * after the last one may be. New reference; NULL for NULL. */
json_t *container_command_mask(const json_t *words, bool *is_value);
