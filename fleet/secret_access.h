/* SPDX-License-Identifier: Apache-2.0 */
/* Which servers the process may call, and with which secret: every call to a model server gets its
 * address and credential here. */
#pragma once

#include "base/net/endpoint.h"
#include "store/ledger/deployments.h"

/* Finds the locks (struct endpoint_lock) of servers that opsbrain deployed or adopted. */
struct access_locks {
    void *context;
    /* Finds the deployment's lock. *out is NULL if opsbrain neither deployed nor adopted the
     * server, if the deployment's address is not exactly the server's, or if the server is
     * stopped or gone; otherwise the lock is valid until the process ends. */
    CHECKED bool (*find)(void *context, const struct deployment *deployment,
                         const struct endpoint_lock **out, struct error *error);
};

struct access {
    struct store *store;
    const char *secrets_folder;        /* "" if only the environment can hold secrets */
    const struct server_list *servers; /* servers that may be called; NULL: any */
    const struct access_locks *locks;  /* NULL: there are none */
};

/* Checks that the list of servers allows this URL (FORBIDDEN if not). A host name is not resolved
 * here: its addresses are checked at each use. */
CHECKED bool access_check_url(const struct access *access, const char *url, struct error *error);

/* Fills in the address, the model ("" if the deployment names none) and the credential. The
 * credential is the key to the deployment's lock. If there is no lock, or the lock needs no key, it
 * is the deployment's secret ("" if the deployment has none). FORBIDDEN if that secret may not be
 * sent to the address now. */
CHECKED bool secret_access_endpoint(const struct access *access,
                                    const struct deployment *deployment, struct endpoint *out,
                                    struct error *error);

/* Where a secret may be sent. */
struct secret_access {
    char (*origins)[ORIGIN_SIZE];
    size_t count;
    /* True: the origins come from the file NAME.origins in the secrets folder, so the secret cannot
     * be bound to others. */
    bool by_file;
};
/* Reads where a secret may be sent. Free with secret_access_finish. */
CHECKED bool secret_access_read(const struct access *access, const char *secret,
                                struct secret_access *out, struct error *error);
void secret_access_finish(struct secret_access *found);

/* Checks that the secret may be sent to this URL's origin. The message of FORBIDDEN says how an
 * admin can allow it, or that a file decides where the secret may be sent. */
CHECKED bool secret_access_check(const struct access *access, const char *secret, const char *url,
                                 struct error *error);
/* Returns true if the secret's value is so short, repetitive or common that it can be hidden only
 * in error messages; false if it has no value. Whoever binds such a secret gets
 * SECRET_WEAK_WARNING, a printf format with the secret's name. */
bool secret_access_is_weak(const struct access *access, const char *secret);
#define SECRET_WEAK_WARNING                                                                        \
    "the value of %s is short, repetitive or a common word: if a server repeats it, it is hidden " \
    "only in error messages; a random value of 20 characters or more is hidden everywhere"
/* Finds the origin to which an admin would have to bind the secret for this URL; "" if the secret
 * may be sent there already. FORBIDDEN if a file decides where the secret may be sent and does not
 * list that origin. */
CHECKED bool secret_access_missing(const struct access *access, const char *secret, const char *url,
                                   char origin[ORIGIN_SIZE], struct error *error);
/* Binds the secret to the URL's origin, or removes that binding (`bound` false). Sets *changed to
 * whether this changed anything. FORBIDDEN if a file decides where the secret may be sent. */
CHECKED bool secret_access_bind(const struct access *access, const char *secret, const char *url,
                                bool bound, struct change *change, char origin[ORIGIN_SIZE],
                                bool *changed, struct error *error);
