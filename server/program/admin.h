/* SPDX-License-Identifier: Apache-2.0 */
/* Administration on the server's machine, of API keys, secrets and more: on the store itself or, if
 * a server has the data folder open, through its socket <data>/admin.sock, which only the folder's
 * owner can open. Keys themselves never pass through the socket: the client makes them, and sends
 * only their digests. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

struct access;
struct admin;
struct authority;

/* The member "command" of a request, and its other members:
 *     key_add           name, role, label, digest (hex), expires_ms
 *     key_list
 *     key_revoke        name (of a principal, or a key's id)
 *     principal_list
 *     principal_role    name, role
 *     secret_bind       name, origin
 *     secret_unbind     name, origin
 *     secret_list
 *     clock_show
 *     clock_accept
 *     server_address
 * and those of admin_audit.h and admin_fleet.h. *reply: a new object; if the last admin lost access
 * it has a "warning". */
CHECKED bool admin_execute(const struct access *access, const json_t *request, json_t **reply,
                           struct error *error);

/* Sets the member "client", which names the user at the command line (command_line.h). */
void admin_set_client(json_t *request, long uid);

/* Answers at the folder's socket, on a thread of its own. After each request `authority` reads
 * the keys again. `address`: where the server listens; borrowed. */
CHECKED bool admin_create(const char *folder, const struct access *access,
                          struct authority *authority, const char *address, struct admin **out,
                          struct error *error);
void admin_destroy(struct admin *admin); /* NULL is fine */

/* Sends the request to the server that has the folder open, and waits for its reply: for each part
 * of it, at most the seconds in the request's member "patience_s" (5 without it). *running false:
 * no server accepted the connection, and nothing was sent. */
CHECKED bool admin_ask(const char *folder, const json_t *request, bool *running, json_t **reply,
                       struct error *error);
/* Sends the request to the server or, if there is none, carries it out here, with this folder of
 * secrets. Without PostgreSQL, only key_add creates a missing database. */
CHECKED bool admin_request(const char *folder, const char *secrets_folder, const json_t *request,
                           json_t **reply, struct error *error);
/* The same, without a folder of secrets, for a command of several requests: next() gets each reply
 * and changes `request` into the next one; it returns false after the last reply. */
typedef bool admin_next(void *context, const json_t *reply, json_t *request);
CHECKED bool admin_requests(const char *folder, json_t *request, admin_next *next, void *context,
                            struct error *error);
/* Whether a first key would create a database in the folder: it has none, and OPSBRAIN_DATABASE is
 * not set. */
bool admin_would_create(const char *folder);
