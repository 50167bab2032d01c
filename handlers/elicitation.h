/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the user (elicitation/create): a form that the client shows, or a page to open. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "base/core/error.h"

/* Returns true if the question `params` sends the user to a page instead of showing a form. */
bool elicitation_is_by_url(const json_t *params);
/* Checks that `result` answers the question `params`: it needs an action and, if a form was
 * accepted, the required fields. A value in a requested field must be of the field's type and, if
 * the field has choices, one of them. INVALID: the message says what is wrong. */
CHECKED bool elicitation_check(const json_t *params, const json_t *result, struct error *error);
