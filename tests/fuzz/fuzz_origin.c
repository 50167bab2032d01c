/* SPDX-License-Identifier: Apache-2.0 */
/* origin_check: without settings, only loopback names are accepted, whatever Host and Origin look
 * like. The first line of the input is the host, the rest the origin. */
#include <string.h>
#include <strings.h>

#include "base/core/memory.h"
#include "server/http/origin.h"
#include "tests/fuzz/fuzz.h"

static bool begins_with(const char *text, const char *name)
{
    return strncasecmp(text, name, strlen(name)) == 0
           && (text[strlen(name)] == '\0' || text[strlen(name)] == ':');
}

/* Whether the host is a loopback name of this machine, alone or followed by ':' and anything. What
 * follows a name in brackets is not checked. */
static bool is_loopback(const char *host)
{
    return begins_with(host, "localhost") || begins_with(host, "127.0.0.1")
           || strncmp(host, "[::1]", 5) == 0 || strncasecmp(host, "[localhost]", 11) == 0
           || strncmp(host, "[127.0.0.1]", 11) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct origin_rules strict = { .allowed_hosts = "", .allowed_origins = "" };
    FREE_AUTO char *host = memory_zeroed(size + 1, 1);
    struct error error;
    char *origin;

    memcpy(host, data, size);
    origin = strchr(host, '\n');
    if (origin != NULL)
        *origin++ = '\0';
    if (!origin_check(&strict, host, origin, &error)) {
        must(error.kind == ERROR_FORBIDDEN);
        return 0;
    }
    must(is_loopback(host));
    must(origin == NULL || is_loopback(strstr(origin, "://") + 3));
    return 0;
}
