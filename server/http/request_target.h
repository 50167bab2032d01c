/* SPDX-License-Identifier: Apache-2.0 */
/* The target of a request: a path, or a whole URI, which clients send that take us for a proxy, and
 * which every server must accept (RFC 9112, 3.2.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Is it a target that reads the same before and after it is decoded, as it came? Not with an
 * encoded NUL, which would end it, nor with anything but host and port before the path. */
bool request_target_is_sound(const char *raw);
/* The path of a sound target (decoded or not), "" where a URI has none. *authority_length: of what
 * stands before it, after "http://"; 0 for a path alone. */
const char *request_target_path(const char *target, const char **authority,
                                size_t *authority_length);
