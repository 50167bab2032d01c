/* SPDX-License-Identifier: Apache-2.0 */
/* Which secrets there are, and where each may be sent: as secret_bind and `opsbrain secret list`
 * show it. Names and origins, never values. */
#pragma once

#include "handlers/answer.h"

extern const struct field secret_answer_fields[]; /* of a secret */
extern const struct field
    secret_answer_unbound_fields[]; /* of a deployment whose secret is not sent */

/* {"secrets", "unbound"}, a new object. */
CHECKED bool secret_answer_json(const struct access *access, json_t **out, struct error *error);
void secret_answer_text(const json_t *listed, struct text *out);
