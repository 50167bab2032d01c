/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the credentials that a container's command line may contain, so that it can be shown and
 * stored. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Returns the words with "(hidden)" in place of what may be a credential: everything that looks
 * like one, the rest of a word after a name like "HF_TOKEN", and all words between an option
 * like "--api-key" and the next option. To each word that is changed, a digest of the original is
 * appended, so that a change of the hidden value is noticed.
 * `is_value`: on entry, whether the first word may be the value of such an option in earlier words;
 * on return, whether a word after these may be the value of one. New reference; NULL for NULL. */
json_t *container_command_mask(const json_t *words, bool *is_value);
