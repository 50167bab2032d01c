/* SPDX-License-Identifier: Apache-2.0 */
/* What is needed to call a model server: address, model, credential. An endpoint is resolved from a
 * deployment immediately before it is used. */
#pragma once

#include "base/net/secrets.h"
#include "base/net/server_list.h"

struct outbound_tls;

/* The lock of a server that opsbrain deployed or adopted: how to get the key (the credential that
 * the server accepts), and which authorities to trust for the server's certificate. A lock exists
 * until the process ends. */
struct endpoint_lock {
    const struct outbound_tls *tls; /* NULL: trust the machine's certificate authorities */
    /* Writes the key to `out`: the bearer token that the server accepts now, or "" if the lock
     * needs no key. This can involve a call to a cloud. */
    CHECKED bool (*key)(const struct endpoint_lock *lock, char out[SECRET_VALUE_SIZE],
                        struct error *error);
    /* The server scales to zero when it gets no requests, so each request keeps a paid instance
     * running. */
    bool sleeps;
};

struct endpoint {
    char url[1025];                    /* without a trailing '/' or '/v1' */
    char model[256];                   /* the name that requests use */
    char bearer[SECRET_VALUE_SIZE];    /* "" for none; never shown */
    const struct server_list *servers; /* the server's address must be listed here; NULL: any */
    const struct endpoint_lock *lock;  /* NULL: none, so the credential does not expire */
};

/* Gets the key from the lock again, because a key can expire while a sweep is running. Does not
 * change the credential if there is no lock, or if the lock needs no key. */
CHECKED bool endpoint_renew(struct endpoint *endpoint, struct error *error);
/* Whether the server scales to zero when it gets no requests. If so, only users' requests are
 * allowed to wake it. */
static inline bool endpoint_sleeps(const struct endpoint *endpoint)
{
    return endpoint->lock != NULL && endpoint->lock->sleeps;
}
/* Call this before sending a request that no user asked for, such as a scrape. UNSUPPORTED if
 * endpoint_sleeps returns true. */
CHECKED bool endpoint_check_scrapable(const struct endpoint *endpoint, struct error *error);
/* Returns NULL to trust the machine's certificate authorities. */
static inline const struct outbound_tls *endpoint_tls(const struct endpoint *endpoint)
{
    return endpoint->lock == NULL ? NULL : endpoint->lock->tls;
}
