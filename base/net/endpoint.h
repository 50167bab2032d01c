/* SPDX-License-Identifier: Apache-2.0 */
/* A model server as it is called: address, model, credential. Resolved from a deployment directly
 * before use. */
#pragma once

#include "base/net/secrets.h"
#include "base/net/server_list.h"

struct outbound_tls;

/* The access check of a server that opsbrain deployed, and whose key it has. It lives as long as
 * the process. */
struct endpoint_lock {
    const struct outbound_tls *tls; /* NULL: the machine's authorities */
    /* The bearer that the server accepts now; "" for none. May call a cloud. */
    CHECKED bool (*key)(const struct endpoint_lock *lock, char out[SECRET_VALUE_SIZE],
                        struct error *error);
    bool sleeps; /* it scales to zero without requests, and each request keeps a paid instance
                    running */
};

struct endpoint {
    char url[1025];                    /* without a trailing '/' or '/v1' */
    char model[256];                   /* the name that requests use */
    char bearer[SECRET_VALUE_SIZE];    /* "" for none; never shown */
    const struct server_list *servers; /* servers that its address must be one of; NULL: any */
    const struct endpoint_lock *lock;  /* NULL: its credential stays as it is */
};

/* Keys expire while a sweep runs: asks the lock for the current one. Without a lock the credential
 * stays. */
CHECKED bool endpoint_renew(struct endpoint *endpoint, struct error *error);
/* It scales to zero without requests: a caller that was not told to wake it must not call it. */
static inline bool endpoint_sleeps(const struct endpoint *endpoint)
{
    return endpoint->lock != NULL && endpoint->lock->sleeps;
}
/* For requests that nobody asked for, such as scrapes. UNSUPPORTED: the endpoint sleeps. */
CHECKED bool endpoint_check_watched(const struct endpoint *endpoint, struct error *error);
/* NULL: the machine's authorities. */
static inline const struct outbound_tls *endpoint_tls(const struct endpoint *endpoint)
{
    return endpoint->lock == NULL ? NULL : endpoint->lock->tls;
}
