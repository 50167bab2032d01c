/* SPDX-License-Identifier: Apache-2.0 */
/* The X-Request-Id of a measured request, which links a server's log to our records. It has the
 * form of a UUID of version 4, because servers that use starlette-context refuse ids of any
 * other form. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REQUEST_ID_LENGTH 36

/* `nonce` belongs to the attempt; `index` (below 2^48) is the request's number in the attempt. */
void request_id_write(uint64_t nonce, uint64_t index, char out[REQUEST_ID_LENGTH + 1]);
/* Returns false if the id does not have the form that request_id_write gives it. */
bool request_id_read(const char *id, uint64_t *nonce, uint64_t *index);
