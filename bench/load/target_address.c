/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/target_address.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/core/descriptors.h"
#include "base/core/text.h"
#include "base/net/outbound_address.h"

#define SPARE_DESCRIPTORS 64

static size_t address_size(const struct sockaddr *address)
{
    return address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static bool is_loopback(const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;

    if (address->sa_family == AF_INET)
        return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static void add_address(const struct sockaddr *address, const struct server_list *servers,
                        struct target_address *target)
{
    if ((address->sa_family != AF_INET && address->sa_family != AF_INET6)
        || outbound_address_is_refused(address)
        || (servers != NULL && !server_list_has_address(servers, address))
        || target->count == TARGET_ADDRESSES)
        return;
    memcpy(&target->addresses[target->count++], address, address_size(address));
}

static void pin(int port, struct target_address *target)
{
    char shown[NI_MAXHOST];
    TEXT_AUTO line = { 0 };

    text_addf(&line, "%s:%d:", target->host, port);
    for (size_t i = 0; i < target->count; i++) {
        const struct sockaddr *address = (const void *)&target->addresses[i];

        if (getnameinfo(address, (socklen_t)address_size(address), shown, sizeof shown, NULL, 0,
                        NI_NUMERICHOST)
            == 0)
            text_addf(&line, "%s%s", i > 0 ? "," : "", shown);
    }
    target->pinned = curl_slist_append(NULL, line.data);
}

static bool is_simple(const struct target_address *target)
{
    bool local = true, alike = true;

    for (size_t i = 0; i < target->count; i++) {
        local = local && is_loopback((const void *)&target->addresses[i]);
        alike = alike && target->addresses[i].ss_family == target->addresses[0].ss_family;
    }
    return local || alike;
}

/* getaddrinfo also converts numeric addresses, without a look-up. */
bool target_address_resolve(const struct endpoint *endpoint, struct target_address *out,
                            struct error *error)
{
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    unsigned char bytes[sizeof(struct in6_addr)];
    struct addrinfo *found = NULL;
    char service[16];
    int port, failed;

    *out = (struct target_address){ 0 };
    if (!url_check(endpoint->url, out->host, &port, error))
        return false;
    snprintf(service, sizeof service, "%d", port);
    failed = getaddrinfo(out->host, service, &hints, &found);
    if (failed != 0)
        return error_set(error, ERROR_UPSTREAM, "the host '%s' does not resolve: %s", out->host,
                         gai_strerror(failed));
    for (struct addrinfo *info = found; info != NULL; info = info->ai_next)
        add_address(info->ai_addr, endpoint->servers, out);
    freeaddrinfo(found);
    if (out->count == 0)
        return error_set(
            error, ERROR_UPSTREAM,
            "the host '%s' resolves only to addresses that opsbrain always refuses, or that "
            "the setting allowed_servers does not name",
            out->host);
    out->is_simple = is_simple(out);
    if (inet_pton(AF_INET, out->host, bytes) != 1 && inet_pton(AF_INET6, out->host, bytes) != 1)
        pin(port, out);
    return true;
}

void target_address_finish(struct target_address *target)
{
    curl_slist_free_all(target->pinned);
    *target = (struct target_address){ 0 };
}

bool target_address_ensure_descriptors(int64_t connections, struct error *error)
{
    int64_t wanted = connections + descriptors_count() + SPARE_DESCRIPTORS;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur == RLIM_INFINITY || (int64_t)limit.rlim_cur >= wanted)
        return true;
    return error_set(error, ERROR_BUSY,
                     "%ld connections need %ld open files, but this process is allowed only %ld: "
                     "raise 'ulimit -Hn', or give a smaller 'concurrency'",
                     connections, wanted, (long)limit.rlim_cur);
}
