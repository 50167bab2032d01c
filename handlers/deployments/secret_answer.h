/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the secrets, and where each may be sent, for secret_bind and `opsbrain secret list`: names
 * and origins, never values. */
#pragma once

#include "handlers/answer.h"

extern const struct field secret_answer_fields[]; /* of a secret */
extern const struct field
    secret_answer_unbound_fields[]; /* of a deployment whose secret is not sent */

/* An object with "secrets" and "unbound"; new reference. */
CHECKED bool secret_answer_json(const struct access *access, json_t **out, struct error *error);
void secret_answer_text(const json_t *listed, struct text *out);
