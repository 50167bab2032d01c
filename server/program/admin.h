/* SPDX-License-Identifier: Apache-2.0 */
/* Administers API keys, secrets and more, on the machine that has the data folder. If a server has
 * the folder open, requests go through the socket <data>/admin.sock, which only the folder's owner
 * can open; otherwise they are carried out directly on the store. Keys never pass through the
 * socket: the client generates them, and sends only their digests. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

struct access;
struct admin;
struct authority;

/* Carries out a request. Its member "command" has one of these values, with these other members:
 *     key_add           name, role, label, digest (hex), expires_ms (0: never)
 *     key_list
 *     key_revoke        name (a principal's name or a key's id)
 *     principal_list
 *     principal_role    name, role
 *     secret_bind       name, origin
 *     secret_unbind     name, origin
 *     secret_list
 *     clock_show
 *     clock_accept
 *     server_address
 * admin_audit.h and admin_fleet.h have more. *reply is a new object. It has a "warning" if the
 * request left no admin with a valid key. */
CHECKED bool admin_execute(const struct access *access, const json_t *request, json_t **reply,
                           struct error *error);

/* Sets the request's member "client" to a text with the id of the user at the command line
 * (command_line.h). */
void admin_set_client(json_t *request, long uid);

/* Starts a thread that answers requests on the folder's socket. After each request, `authority`
 * reads the keys again. `address` (borrowed): where the server listens, such as
 * "127.0.0.1:8080". */
CHECKED bool admin_create(const char *folder, const struct access *access,
                          struct authority *authority, const char *address, struct admin **out,
                          struct error *error);
void admin_destroy(struct admin *admin); /* NULL is fine */

/* Sends the request to the server that has the folder open, and waits for its reply. Fails if no
 * part of the reply arrives for "patience_s" seconds (a member of the request; 5 without it).
 * *running false: no server accepted the connection, and nothing was sent. */
CHECKED bool admin_ask(const char *folder, const json_t *request, bool *running, json_t **reply,
                       struct error *error);
/* Sends the request to the server or, if none is running, carries it out in this process, with the
 * secrets in `secrets_folder`. If the data folder has no database, only key_add creates one. */
CHECKED bool admin_request(const char *folder, const char *secrets_folder, const json_t *request,
                           json_t **reply, struct error *error);
/* The same, without a secrets folder, for a command that needs several requests. next() receives
 * each reply and changes `request` into the next request. It returns false after the last reply. */
typedef bool admin_next(void *context, const json_t *reply, json_t *request);
CHECKED bool admin_requests(const char *folder, json_t *request, admin_next *next, void *context,
                            struct error *error);
/* Whether key_add would create a database in the folder, because the folder has none and
 * OPSBRAIN_DATABASE is not set. */
bool admin_would_create(const char *folder);
