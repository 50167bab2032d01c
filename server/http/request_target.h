/* SPDX-License-Identifier: Apache-2.0 */
/* The target of a request: a path, "*", or a whole URI, which clients normally send only to
 * proxies, but which every server must accept (RFC 9112, 3.2.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the target, as received, is a path, "*", or a URI with only a host and port between its
 * scheme and its path. A target with an encoded NUL is not sound either: once decoded, it would end
 * there. */
bool request_target_is_sound(const char *raw);
/* The path of a sound target (decoded or not), with the query if there is one; "" if a URI has
 * neither. *authority: the host and port of a URI, *authority_length bytes; NULL for a path alone.
 */
const char *request_target_path(const char *target, const char **authority,
                                size_t *authority_length);
