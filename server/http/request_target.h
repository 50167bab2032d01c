/* SPDX-License-Identifier: Apache-2.0 */
/* The target of a request: a path, or a whole URI, which clients send to proxies, and which every
 * server must accept (RFC 9112, 3.2.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the target, as received, means the same before and after decoding. It does not if it has
 * an encoded NUL, which would end it, or anything but host and port before the path. */
bool request_target_is_sound(const char *raw);
/* The path of a sound target (decoded or not); "" if a URI has none. *authority: the part between
 * "http://" and the path, of *authority_length bytes; NULL for a path alone. */
const char *request_target_path(const char *target, const char **authority,
                                size_t *authority_length);
