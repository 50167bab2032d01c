/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/origin.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HOST_SIZE 256

/* Gets the host from "host", "host:port" or "[address]:port", without brackets. */
static bool split_host(const char *text, size_t length, char out[HOST_SIZE])
{
    const char *end = text + length;

    if (length > 0 && text[0] == '[') {
        end = memchr(text, ']', length);
        text++;
        if (end == NULL)
            return false;
    } else if (memchr(text, ':', length) != NULL) {
        end = memchr(text, ':', length);
    }
    length = (size_t)(end - text);
    if (length == 0 || length >= HOST_SIZE)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* Whether the text is an item of the comma-separated list, or the list contains "*". */
static bool is_listed(const char *list, const char *text, size_t length)
{
    while (*list != '\0') {
        size_t item = (list += strspn(list, ", "), strcspn(list, ", "));

        if ((item == 1 && list[0] == '*')
            || (item == length && strncasecmp(list, text, length) == 0))
            return true;
        list += item;
    }
    return false;
}

static bool is_address(const char *host)
{
    unsigned char binary[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, binary) == 1 || inet_pton(AF_INET6, host, binary) == 1;
}

/* Whether a Host is allowed. The setting allowed_hosts can list it with or without its port. */
static bool host_is_allowed(const struct origin_rules *rules, const char *text, size_t length)
{
    static const char *const loopback[] = { "localhost", "127.0.0.1", "::1" };
    char host[HOST_SIZE];

    if (!split_host(text, length, host))
        return false;
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
        if (strcasecmp(host, loopback[i]) == 0)
            return true;
    if (rules->any_address && is_address(host))
        return true;
    return is_listed(rules->allowed_hosts, host, strlen(host))
           || is_listed(rules->allowed_hosts, text, length);
}

/* Whether an origin (a scheme and a host) is allowed: it is listed, or its scheme is http or https
 * and its host is an allowed Host. */
static bool origin_is_allowed(const struct origin_rules *rules, const char *origin)
{
    const char *host = strstr(origin, "://");

    if (is_listed(rules->allowed_origins, origin, strlen(origin)))
        return true;
    if (host == NULL || (strncmp(origin, "http://", 7) != 0 && strncmp(origin, "https://", 8) != 0))
        return false;
    host += 3;
    return host_is_allowed(rules, host, strlen(host));
}

bool origin_check(const struct origin_rules *rules, const char *host, const char *origin,
                  struct error *error)
{
    if (host != NULL && !host_is_allowed(rules, host, strlen(host)))
        return error_set(error, ERROR_FORBIDDEN,
                         "Host \"%.100s\" is not allowed: add its name to the setting "
                         "allowed_hosts (OPSBRAIN_ALLOWED_HOSTS)",
                         host);
    if (origin != NULL && !origin_is_allowed(rules, origin))
        return error_set(error, ERROR_FORBIDDEN,
                         "Origin \"%.100s\" is not allowed: add it to the setting "
                         "allowed_origins (OPSBRAIN_ALLOWED_ORIGINS)",
                         origin);
    return true;
}
