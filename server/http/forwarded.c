/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/forwarded.h"

#include <microhttpd.h>
#include <string.h>
#include <strings.h>

#include "base/core/text.h"

static enum MHD_Result add_hops(void *context, enum MHD_ValueKind kind, const char *name,
                                const char *value)
{
    (void)kind;
    if (strcasecmp(name, "X-Forwarded-For") == 0 && value != NULL) {
        text_add_char(context, ',');
        text_add(context, value);
    }
    return MHD_YES;
}

/* Reads an address with or without a port: 192.0.2.1:80, [2001:db8::1]:80, 2001:db8::1. */
static bool read_hop(const char *hop, size_t length, struct ip_address *out)
{
    const char *colon = memchr(hop, ':', length), *bracket = memchr(hop, ']', length);

    if (length > 0 && hop[0] == '[')
        return bracket != NULL && ip_parse(hop + 1, (size_t)(bracket - hop - 1), out);
    if (colon != NULL && memchr(colon + 1, ':', length - (size_t)(colon + 1 - hop)) == NULL)
        length = (size_t)(colon - hop);
    return ip_parse(hop, length, out);
}

/* Finds the last entry of the comma-separated list from `begin` to `end`, without the spaces and
 * tabs around the entry. */
static const char *last_entry(const char *begin, const char *end, size_t *length)
{
    const char *entry = end;

    while (entry > begin && entry[-1] != ',')
        entry--;
    while (entry < end && (*entry == ' ' || *entry == '\t'))
        entry++;
    while (end > entry && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *length = (size_t)(end - entry);
    return entry;
}

void forwarded_follow(const char *hops, const struct ip_networks *trusted,
                      struct ip_address *address)
{
    const char *end = hops + strlen(hops);

    while (end > hops && ip_networks_hold(trusted, address)) {
        struct ip_address before;
        size_t length;
        const char *hop = last_entry(hops, end, &length);

        if (!read_hop(hop, length, &before))
            return;
        *address = before;
        while (hop > hops && hop[-1] != ',')
            hop--;
        end = hop > hops ? hop - 1 : hops;
    }
}

void forwarded_find(struct MHD_Connection *mhd, const struct ip_networks *trusted,
                    struct ip_address *address)
{
    TEXT_AUTO hops = { 0 };

    MHD_get_connection_values(mhd, MHD_HEADER_KIND, add_hops, &hops);
    forwarded_follow(text_string(&hops), trusted, address);
}

/* If there are several values or headers, the last value of the last header is the one that was
 * written by the proxy that connects to us. */
static enum MHD_Result read_scheme(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    bool *is_https = context;
    const char *last;
    size_t length;

    (void)kind;
    if (strcasecmp(name, "X-Forwarded-Proto") != 0 || value == NULL)
        return MHD_YES;
    last = last_entry(value, value + strlen(value), &length);
    *is_https = length == 5 && strncasecmp(last, "https", 5) == 0;
    return MHD_YES;
}

bool forwarded_is_https(struct MHD_Connection *mhd)
{
    bool is_https = false;

    MHD_get_connection_values(mhd, MHD_HEADER_KIND, read_scheme, &is_https);
    return is_https;
}
