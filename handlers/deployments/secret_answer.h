/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the secrets, and where each may be sent, for secret_bind and `opsbrain secret list`. The
 * list has names and origins, never values. */
#pragma once

#include "handlers/answer.h"

/* Fields of a secret. */
extern const struct field secret_answer_fields[];
/* Fields of a deployment whose secret may not be sent to its URL. */
extern const struct field secret_answer_unbound_fields[];

/* *out: an object with the lists "secrets" and "unbound"; new reference. */
CHECKED bool secret_answer_json(const struct access *access, json_t **out, struct error *error);
/* Adds the two lists as text; `listed` is the object that secret_answer_json returns. */
void secret_answer_text(const json_t *listed, struct text *out);
