/* SPDX-License-Identifier: Apache-2.0 */
/* Which server the command line calls, and with which key: OPSBRAIN_URL and OPSBRAIN_KEY, or what
 * `opsbrain login` stored in login.json. This file is in $XDG_CONFIG_HOME/opsbrain, or in
 * ~/.config/opsbrain if that variable is not an absolute path; only its owner can read it. A stored
 * key is sent only to the origin that it was stored for. */
#pragma once

#include "base/core/error.h"

#define LOGIN_URL_SIZE 1025
#define LOGIN_KEY_SIZE 256
#define LOGIN_URL_USUAL "http://127.0.0.1:8080" /* the server if none is named or stored */

struct login {
    char url[LOGIN_URL_SIZE]; /* without "/mcp" */
    char key[LOGIN_KEY_SIZE]; /* secret; "": none */
};

/* Finds the server that the command line calls, and its key. The caller overwrites the key after
 * use. */
CHECKED bool login_read(struct login *out, struct error *error);
/* Finds the key for a given server, for example a server that has a data folder open. */
CHECKED bool login_read_for(const char *url, struct login *out, struct error *error);
/* Checks a server's address, and copies it to `out` without a "/mcp" or slash at its end. */
CHECKED bool login_url(const char *written, char out[LOGIN_URL_SIZE], struct error *error);
/* Stores the server, which becomes the default, and its key; an empty key deletes a stored one. */
CHECKED bool login_store(const struct login *login, struct error *error);
/* Deletes the key that is stored for the server. *found: whether there was one. */
CHECKED bool login_forget(const char *url, bool *found, struct error *error);
