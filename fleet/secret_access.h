/* SPDX-License-Identifier: Apache-2.0 */
/* Which servers the process may call, and with which secret: every call to a model server goes
 * through this. */
#pragma once

#include "base/net/endpoint.h"
#include "store/ledger/deployments.h"

/* The locks of servers that were deployed from here. */
struct access_locks {
    void *context;
    /* The lock of a deployment whose address is exactly the one to which its key was bound; *out
     * NULL: there is none. It lasts as long as the process. */
    CHECKED bool (*find)(void *context, const struct deployment *deployment,
                         const struct endpoint_lock **out, struct error *error);
};

struct access {
    struct store *store;
    const char *secrets_folder;        /* "" if only the environment may hold secrets */
    const struct server_list *servers; /* servers that may be called; NULL: any */
    const struct access_locks *locks;  /* NULL: nothing is deployed from here */
};

/* Whether the list of servers lets a deployment have this URL. Names are resolved at each use, not
 * here. FORBIDDEN says why not. */
CHECKED bool access_check_url(const struct access *access, const char *url, struct error *error);

/* Address, model and credential of a deployment. The credential is the key to its lock or, where it
 * has none, its secret, which is read now, and only if it may be sent there now. The model is the
 * deployment's, or "". */
CHECKED bool secret_access_endpoint(const struct access *access,
                                    const struct deployment *deployment, struct endpoint *out,
                                    struct error *error);

/* Where a secret may be sent. */
struct secret_access {
    char (*origins)[ORIGIN_SIZE];
    size_t count;
    bool by_file; /* a file beside the secret decides it, and nothing else may */
};
/* Free with secret_access_finish. */
CHECKED bool secret_access_read(const struct access *access, const char *secret,
                                struct secret_access *out, struct error *error);
void secret_access_finish(struct secret_access *found);

/* Whether the secret may be sent to this URL's origin. FORBIDDEN says which call allows it. */
CHECKED bool secret_access_check(const struct access *access, const char *secret, const char *url,
                                 struct error *error);
/* Whether its value, if it has one, is so short or common that it can be hidden in error messages
 * only. A caller who binds such a secret is warned: SECRET_WEAK_WARNING takes its name. */
bool secret_access_is_weak(const struct access *access, const char *secret);
#define SECRET_WEAK_WARNING                                                                        \
    "the value of %s is short or a common word: where a server repeats it, it is hidden in "       \
    "errors "                                                                                      \
    "alone; a random one of 20 characters or more is hidden everywhere"
/* What an admin would bind: *origin of the URL, "" if it is bound already. FORBIDDEN if a file
 * decides it. */
CHECKED bool secret_access_missing(const struct access *access, const char *secret, const char *url,
                                   char origin[ORIGIN_SIZE], struct error *error);
/* Binds the secret to the URL's origin, or removes that binding. *changed false: it was in that
 * state already */
CHECKED bool secret_access_bind(const struct access *access, const char *secret, const char *url,
                                bool bound, struct change *change, char origin[ORIGIN_SIZE],
                                bool *changed, struct error *error);
