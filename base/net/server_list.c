/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/server_list.h"

#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/net/ip.h"

#define NAME_SIZE 256
#define SEPARATORS ", \t\r\n"

struct entry {
    char name[NAME_SIZE]; /* in lower case; "": the entry is a network or an address */
    bool itself;          /* the name itself is listed */
    bool below;           /* all names below the name are listed */
    struct ip_network network;
};

struct server_list {
    struct entry *entries;
    size_t count;
    bool has_networks; /* some entry is a network or an address */
};

/* ---- Entries --------------------------------------------------------------------------------- */

/* Reads "10.0.0.0/8", "[fd00::]/8" or "::1". */
static bool read_network(const char *word, struct ip_network *out)
{
    char text[INET6_ADDRSTRLEN + sizeof "/128"];
    size_t length = strcspn(word, "]");

    if (word[0] != '[' || word[length] != ']')
        return ip_network_parse(word, strlen(word), out);
    return (word[length + 1] == '/' || word[length + 1] == '\0')
           && (size_t)snprintf(text, sizeof text, "%.*s%s", (int)length - 1, word + 1,
                               word + length + 1)
                  < sizeof text
           && ip_network_parse(text, strlen(text), out);
}

/* Reads a host name, perhaps with "." or "*." before it. Returns false for anything else, such as
 * the mistyped addresses "10.0.0.0/99" and "10.0.0". */
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

    if (read_network(word, &entry->network)) {
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

/* A network such as ::/0 does not match IPv4 addresses, although it contains their mapped forms. */
static bool has(const struct server_list *list, const struct ip_address *address)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct entry *entry = &list->entries[i];

        if (entry->name[0] == '\0' && (!ip_is_v4(address) || entry->network.bits >= IP_V4_BITS)
            && ip_network_holds(&entry->network, address))
            return true;
    }
    return false;
}

bool server_list_has_address(const struct server_list *list, const struct sockaddr *address)
{
    struct sockaddr_storage storage = { 0 };
    struct ip_address ip;

    if (address->sa_family == AF_INET)
        memcpy(&storage, address, sizeof(struct sockaddr_in));
    else if (address->sa_family == AF_INET6)
        memcpy(&storage, address, sizeof(struct sockaddr_in6));
    return ip_of(&storage, &ip) && has(list, &ip);
}

bool server_list_may_have(const struct server_list *list, const char *host)
{
    struct ip_address ip;

    if (server_list_has_name(list, host))
        return true;
    return ip_parse(host, strlen(host), &ip) ? has(list, &ip) : list->has_networks;
}
