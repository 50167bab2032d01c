/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's list of the model servers that are allowed to be called: networks, addresses and
 * names. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "base/core/error.h"

struct server_list;

/* Reads "10.0.0.0/8, fd00::/8, 192.168.1.5, gpu.example.com, .lab.example.com, *.dev.example.com":
 * a leading dot stands for the name itself and all names below it, "*." only for the names below
 * it. If the text is empty, sets *out to NULL, which allows any server. INVALID if an entry is
 * malformed. */
CHECKED bool server_list_create(const char *text, struct server_list **out, struct error *error);
void server_list_destroy(struct server_list *list); /* does nothing for NULL */

/* Whether the host (in lower case) is listed by name. If so, its address does not matter. */
bool server_list_has_name(const struct server_list *list, const char *host);
/* Whether the address is listed. */
bool server_list_has_address(const struct server_list *list, const struct sockaddr *address);
/* Whether the host (a name in lower case, or an address) is listed. Also true for an unlisted name
 * if the list has a network or an address, because the name may resolve to a listed address. */
bool server_list_may_have(const struct server_list *list, const char *host);
