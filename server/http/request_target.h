/* SPDX-License-Identifier: Apache-2.0 */
/* The target of a request: a path, "*", or a whole URI, which clients send to proxies, and which
 * every server must accept (RFC 9112, 3.2.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the target, as received, is a path, "*", or a URI with only host and port before its
 * path, and has no encoded NUL, at which it would end once it is decoded. */
bool request_target_is_sound(const char *raw);
/* The path of a sound target (decoded or not), with the query if there is one; "" if a URI has
 * neither. *authority: the host and port of a URI, *authority_length bytes; NULL for a path alone.
 */
const char *request_target_path(const char *target, const char **authority,
                                size_t *authority_length);
