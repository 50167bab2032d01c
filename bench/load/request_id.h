/* SPDX-License-Identifier: Apache-2.0 */
/* The X-Request-Id of a measured request, which links a server's log or record to ours. A UUID
 * (version 4 in form), because servers behind starlette-context refuse any other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REQUEST_ID_DIGITS 36

/* `nonce` is the attempt's, `index` (below 2^48) the request's within it. */
void request_id_write(uint64_t nonce, uint64_t index, char out[REQUEST_ID_DIGITS + 1]);
/* False if it is not one of ours. */
bool request_id_read(const char *id, uint64_t *nonce, uint64_t *index);
