/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/server_list.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"

#define NAME_SIZE 256
#define SEPARATORS ", \t\r\n"

struct entry {
    char name[NAME_SIZE]; /* "": the entry is a network, or one address */
    bool itself, below;   /* whether the entry means the name itself, and names below it */
    int family;
    uint8_t address[16];
    unsigned bits;
};

struct server_list {
    struct entry *entries;
    size_t count;
    bool has_networks; /* or addresses */
};

/* ---- Entries --------------------------------------------------------------------------------- */

/* Reads "10.0.0.0/8", "[fd00::]/8" or "::1". IPv4-mapped ones, "::ffff:10.0.0.0/104", are stored as
 * IPv4. */
static bool read_network(const char *word, struct entry *out)
{
    char address[INET6_ADDRSTRLEN + 2] = "";
    size_t length = strcspn(word, "/");
    bool bracketed = length > 2 && word[0] == '[' && word[length - 1] == ']';
    int64_t bits;

    if (length >= sizeof address)
        return false;
    memcpy(address, word + bracketed, length - (bracketed ? 2 : 0));
    out->family = strchr(address, ':') != NULL ? AF_INET6 : AF_INET;
    if (inet_pton(out->family, address, out->address) != 1)
        return false;
    bits = out->family == AF_INET ? 32 : 128;
    if (word[length] == '/' && !text_to_integer(word + length + 1, 0, bits, &bits))
        return false;
    if (bits >= 96 && out->family == AF_INET6
        && IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)out->address)) {
        out->family = AF_INET;
        memmove(out->address, out->address + 12, 4);
        bits -= 96;
    }
    out->bits = (unsigned)bits;
    return true;
}

/* Reads a host name. Returns false for texts that cannot be one, such as the mistyped addresses
 * "10.0.0.0/99" and "10.0.0". */
static bool read_name(const char *word, struct entry *out)
{
    bool letters = false;

    out->below = word[0] == '.' || strncmp(word, "*.", 2) == 0;
    out->itself = word[0] != '*';
    word += out->below ? strcspn(word, ".") + 1 : 0;
    if (word[0] == '\0' || word[0] == '.' || strlen(word) >= sizeof out->name)
        return false;
    for (size_t i = 0; word[i] != '\0'; i++) {
        if (!isalnum((unsigned char)word[i]) && strchr("-_.", word[i]) == NULL)
            return false;
        letters |= isalpha((unsigned char)word[i]) != 0;
        out->name[i] = (char)tolower((unsigned char)word[i]);
    }
    return letters;
}

static CHECKED bool add_entry(struct server_list *list, const char *word, struct error *error)
{
    struct entry *entry = &list->entries[list->count];

    if (read_network(word, entry)) {
        list->has_networks = true;
    } else if (!read_name(word, entry)) {
        return error_set(error, ERROR_INVALID,
                         "\"%.80s\" is neither a network such as 10.0.0.0/8, nor an address, nor a "
                         "name such as gpu.example.com or .example.com",
                         word);
    }
    list->count++;
    return true;
}

bool server_list_create(const char *text, struct server_list **out, struct error *error)
{
    FREE_AUTO char *copy = memory_copy_text(text);
    struct server_list *list = memory_zeroed(1, sizeof *list);
    char *rest = NULL;

    list->entries = memory_zeroed(strlen(text) / 2 + 1, sizeof *list->entries);
    for (const char *word = strtok_r(copy, SEPARATORS, &rest); word != NULL;
         word = strtok_r(NULL, SEPARATORS, &rest))
        if (!add_entry(list, word, error)) {
            server_list_destroy(list);
            return false;
        }
    if (list->count == 0) {
        server_list_destroy(list);
        list = NULL;
    }
    *out = list;
    return true;
}

void server_list_destroy(struct server_list *list)
{
    if (list == NULL)
        return;
    free(list->entries);
    free(list);
}

/* ---- Looking up ------------------------------------------------------------------------------ */

static bool has_name(const struct entry *entry, const char *host)
{
    size_t length = strlen(entry->name), host_length = strlen(host);

    if (length == 0 || host_length < length
        || strcmp(host + host_length - length, entry->name) != 0)
        return false;
    return host_length == length ? entry->itself
                                 : entry->below && host[host_length - length - 1] == '.';
}

bool server_list_has_name(const struct server_list *list, const char *host)
{
    for (size_t i = 0; i < list->count; i++)
        if (has_name(&list->entries[i], host))
            return true;
    return false;
}

static bool is_within(const struct entry *entry, int family, const uint8_t *address)
{
    unsigned bytes = entry->bits / 8, rest = entry->bits % 8;
    uint8_t mask = (uint8_t)(0xff00 >> rest);

    return entry->name[0] == '\0' && entry->family == family
           && memcmp(address, entry->address, bytes) == 0
           && (rest == 0 || (address[bytes] & mask) == (entry->address[bytes] & mask));
}

static bool has(const struct server_list *list, int family, const uint8_t *address)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_within(&list->entries[i], family, address))
            return true;
    return false;
}

/* An IPv4-mapped IPv6 address counts as the IPv4 address that it contains. */
bool server_list_has_address(const struct server_list *list, const struct sockaddr *address)
{
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;

    if (address->sa_family == AF_INET) {
        memcpy(&ipv4, address, sizeof ipv4);
        return has(list, AF_INET, (const uint8_t *)&ipv4.sin_addr);
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(&ipv6, address, sizeof ipv6);
    if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr))
        return has(list, AF_INET, ipv6.sin6_addr.s6_addr + 12);
    return has(list, AF_INET6, ipv6.sin6_addr.s6_addr);
}

bool server_list_may_have(const struct server_list *list, const char *host)
{
    struct sockaddr_in ipv4 = { .sin_family = AF_INET };
    struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6 };

    if (server_list_has_name(list, host))
        return true;
    if (inet_pton(AF_INET, host, &ipv4.sin_addr) == 1)
        return server_list_has_address(list, (const struct sockaddr *)&ipv4);
    if (inet_pton(AF_INET6, host, &ipv6.sin6_addr) == 1)
        return server_list_has_address(list, (const struct sockaddr *)&ipv6);
    return list->has_networks;
}
