/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/request_target.h"

#include <string.h>
#include <strings.h>

#define AUTHORITY_LIMIT 255

static const char *after_scheme(const char *target)
{
    if (strncasecmp(target, "http://", 7) == 0)
        return target + 7;
    return strncasecmp(target, "https://", 8) == 0 ? target + 8 : NULL;
}

const char *request_target_path(const char *target, const char **authority,
                                size_t *authority_length)
{
    *authority = after_scheme(target);
    *authority_length = *authority != NULL ? strcspn(*authority, "/?") : 0;
    return *authority != NULL ? *authority + *authority_length : target;
}

static bool is_host_and_port(const char *text, size_t length)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._~[]:";

    return length > 0 && length <= AUTHORITY_LIMIT && strspn(text, allowed) >= length;
}

bool request_target_is_sound(const char *raw)
{
    const char *authority;
    size_t length;
    const char *path = request_target_path(raw, &authority, &length);

    if (strstr(path, "%00") != NULL)
        return false;
    if (authority != NULL)
        return is_host_and_port(authority, length);
    return path[0] == '/' || strcmp(path, "*") == 0;
}
