/* SPDX-License-Identifier: Apache-2.0 */
/* url_check: an accepted host is in lower case and is not a refused address. If the URL is
 * refused, neither the host nor the port is set. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/net/outbound_address.h"
#include "base/net/url.h"
#include "tests/fuzz/fuzz.h"

static void check_host(const char *host)
{
    struct sockaddr_in ipv4 = { .sin_family = AF_INET };
    struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6 };

    must(host[0] != '\0' && strlen(host) <= 253);
    must(host[strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789.-_:")] == '\0');
    if (inet_aton(host, &ipv4.sin_addr) != 0) /* accepts every spelling that resolvers accept */
        must(!outbound_address_is_refused((const struct sockaddr *)&ipv4));
    if (inet_pton(AF_INET6, host, &ipv6.sin6_addr) == 1)
        must(!outbound_address_is_refused((const struct sockaddr *)&ipv6));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FREE_AUTO char *url = memory_zeroed(size + 1, 1);
    char host[URL_HOST_SIZE] = "";
    struct error error = { 0 };
    int port = -1;

    memcpy(url, data, size);
    if (url_check(url, host, &port, &error)) {
        check_host(host);
        must(port >= 1 && port <= 65535);
        must(strpbrk(url, "?# \r\n") == NULL);
    } else {
        must(host[0] == '\0' && port == -1);
        must(error.kind == ERROR_INVALID || error.kind == ERROR_FORBIDDEN);
    }
    return 0;
}
