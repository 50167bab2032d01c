/* SPDX-License-Identifier: Apache-2.0 */
/* What is needed to call a model server: address, model, credential. It is resolved from a
 * deployment directly before use. */
#pragma once

#include "base/net/secrets.h"
#include "base/net/server_list.h"

struct outbound_tls;

/* The lock of a server that opsbrain deployed or adopted: where the server's key comes from, and
 * whom to trust for its certificate. A lock lives as long as the process. */
struct endpoint_lock {
    const struct outbound_tls *tls; /* NULL: trust the machine's certificate authorities */
    /* Returns the bearer that the server accepts now; "" for none. May call a cloud. */
    CHECKED bool (*key)(const struct endpoint_lock *lock, char out[SECRET_VALUE_SIZE],
                        struct error *error);
    /* The server scales to zero without requests: each request keeps a paid instance running. */
    bool sleeps;
};

struct endpoint {
    char url[1025];                    /* without a trailing '/' or '/v1' */
    char model[256];                   /* the name that requests use */
    char bearer[SECRET_VALUE_SIZE];    /* "" for none; never shown */
    const struct server_list *servers; /* its address must be one of these; NULL: any */
    const struct endpoint_lock *lock;  /* NULL: the credential does not expire */
};

/* Updates the credential from the lock, because a key may expire while a sweep runs. Does not
 * change the credential if there is no lock, or the lock returns no key. */
CHECKED bool endpoint_renew(struct endpoint *endpoint, struct error *error);
/* Whether the server scales to zero without requests: only requests by users may wake it. */
static inline bool endpoint_sleeps(const struct endpoint *endpoint)
{
    return endpoint->lock != NULL && endpoint->lock->sleeps;
}
/* To be called before requests that no user made, such as scrapes. UNSUPPORTED if
 * endpoint_sleeps. */
CHECKED bool endpoint_check_scrapable(const struct endpoint *endpoint, struct error *error);
/* Returns NULL to trust the machine's certificate authorities. */
static inline const struct outbound_tls *endpoint_tls(const struct endpoint *endpoint)
{
    return endpoint->lock == NULL ? NULL : endpoint->lock->tls;
}
