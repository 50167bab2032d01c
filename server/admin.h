/* Administration of API keys: on the store itself, or, where a server has the data folder, through
 * its socket <data>/admin.sock, which only the folder's owner can open. Keys themselves never pass
 * it: they are made by whoever asks, and only their digest is sent. */
#pragma once

#include <jansson.h>

#include "base/error.h"

struct admin;
struct authority;
struct store;

/* {"command": "key_add", "name", "role", "digest" (hex), "expires_ms"},
 * {"command": "key_list"} or {"command": "key_revoke", "name"}. *reply: a new object. */
bool admin_execute(struct store *store, const json_t *request, json_t **reply, struct error *error);

/* Answers at the folder's socket on a thread of its own, and tells `authority` of changes. */
bool admin_create(const char *folder, struct store *store, struct authority *authority,
                  struct admin **out, struct error *error);
void admin_destroy(struct admin *admin); /* NULL is fine */

/* Asks the server that has the folder. *running false, and nothing asked, where there is none. */
bool admin_ask(const char *folder, const json_t *request, bool *running, json_t **reply,
               struct error *error);
