/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/ip.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/core/text.h"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

bool ip_is_v4(const struct ip_address *address)
{
    return memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

static void set_ipv4(const void *four, struct ip_address *out)
{
    memcpy(out->bytes, mapped, sizeof mapped);
    memcpy(out->bytes + sizeof mapped, four, 4);
}

bool ip_parse(const char *text, size_t length, struct ip_address *out)
{
    char copy[IP_TEXT_SIZE];
    uint8_t four[4];

    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (inet_pton(AF_INET6, copy, out->bytes) == 1)
        return true;
    if (inet_pton(AF_INET, copy, four) != 1)
        return false;
    set_ipv4(four, out);
    return true;
}

bool ip_of(const struct sockaddr_storage *address, struct ip_address *out)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

    if (address->ss_family == AF_INET)
        set_ipv4(&v4->sin_addr, out);
    else if (address->ss_family == AF_INET6)
        memcpy(out->bytes, v6->sin6_addr.s6_addr, sizeof out->bytes);
    return address->ss_family == AF_INET || address->ss_family == AF_INET6;
}

void ip_format(const struct ip_address *address, char out[IP_TEXT_SIZE])
{
    if (ip_is_v4(address))
        inet_ntop(AF_INET, address->bytes + sizeof mapped, out, IP_TEXT_SIZE);
    else
        inet_ntop(AF_INET6, address->bytes, out, IP_TEXT_SIZE);
}

struct ip_address ip_client_network(const struct ip_address *address)
{
    struct ip_address network = *address;

    if (!ip_is_v4(address))
        memset(network.bytes + 8, 0, 8);
    return network;
}

/* ---- Networks -------------------------------------------------------------------------------- */

bool ip_network_parse(const char *text, size_t length, struct ip_network *out)
{
    const char *slash = memchr(text, '/', length);
    size_t address_length = slash != NULL ? (size_t)(slash - text) : length;
    char bits[4] = "";
    int64_t number;

    if (!ip_parse(text, address_length, &out->address))
        return false;
    out->bits = 128;
    if (slash == NULL)
        return true;
    length -= address_length + 1;
    if (length == 0 || length >= sizeof bits)
        return false;
    memcpy(bits, slash + 1, length);
    if (!text_to_integer(bits, 0, memchr(text, ':', address_length) == NULL ? 32 : 128, &number))
        return false;
    out->bits = (unsigned)number + (memchr(text, ':', address_length) == NULL ? IP_V4_BITS : 0);
    return true;
}

bool ip_networks_parse(const char *text, struct ip_networks *out, struct error *error)
{
    static const char between[] = ", \t";

    *out = (struct ip_networks){ 0 };
    for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
        size_t length = strcspn(text, between);

        if (out->count == IP_NETWORKS_LIMIT)
            return error_set(error, ERROR_INVALID, "there are more than %d networks",
                             IP_NETWORKS_LIMIT);
        if (!ip_network_parse(text, length, &out->items[out->count]))
            return error_set(
                error, ERROR_INVALID,
                "\"%.*s\" is neither a network (such as 10.0.0.0/8 or fd00::/8) nor an address",
                length > 60 ? 60 : (int)length, text);
        out->count++;
        text += length;
    }
    return true;
}

bool ip_network_holds(const struct ip_network *network, const struct ip_address *address)
{
    unsigned bytes = network->bits / 8, rest = network->bits % 8;
    uint8_t mask = (uint8_t)(0xff00 >> rest);

    return memcmp(address->bytes, network->address.bytes, bytes) == 0
           && (rest == 0
               || (address->bytes[bytes] & mask) == (network->address.bytes[bytes] & mask));
}

bool ip_networks_hold(const struct ip_networks *networks, const struct ip_address *address)
{
    for (size_t i = 0; i < networks->count; i++)
        if (ip_network_holds(&networks->items[i], address))
            return true;
    return false;
}
