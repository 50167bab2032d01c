/* SPDX-License-Identifier: Apache-2.0 */
/* A container's command line as it may be shown and stored: whoever changed it may have put a
 * credential into it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* The words, where what looks like a credential, and what follows a name like "--api-key", is
 * replaced by "(hidden)", with a digest of the word behind it, so that another value differs.
 * *is_value: whether the first word may be the value of such a name; afterwards, whether one that
 * follows may. New reference; NULL for NULL. */
json_t *container_command_mask(const json_t *words, bool *is_value);
