/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the tokens of one credential in memory, for all threads, and renews them before they
 * expire. Private to fleet/cloud. */
#pragma once

#include <pthread.h>

#include "base/net/outbound.h"
#include "fleet/cloud/cloud.h"
#include "fleet/cloud/cloud_kubeconfig.h"

#define CLOUD_AUDIENCE_SIZE 512
#define CLOUD_TOKENS_MAX 1024 /* room for the access token, and an ID token for each server */

struct cloud_token {
    char audience[CLOUD_AUDIENCE_SIZE]; /* of an ID token; "": an access token */
    char value[SECRET_VALUE_SIZE];      /* "": a client certificate is used instead */
    int64_t fetched_ms;                 /* when the token was fetched, in UTC */
    int64_t ends_ms;                    /* when the token expires, in UTC; INT64_MAX: never */
};

/* The contents of a service account's file. */
struct cloud_account {
    char email[256], key_id[128], token_url[512];
    char *key; /* PEM; NULL if the credential is of a different kind */
};

struct cloud {
    struct cloud_credential credential;
    const struct cloud_endpoints *endpoints;
    char secrets_folder[1024], account_folder[1024], proxy[512];
    const struct cloud_machine *machine;
    bool (*stopping)(void *context);
    void *context;
    int64_t (*now_ms)(void);
    struct cloud_account account;
    /* For CLOUD_KUBECONFIG, the contents of the file. For CLOUD_IN_CLUSTER, the pod's API server,
     * its authorities, and the pod's namespace. For the other kinds, all zero. */
    struct cloud_kubeconfig kubeconfig;
    struct outbound_tls tls; /* points into `kubeconfig` */
    pthread_mutex_t lock;    /* protects the tokens; held while a token is fetched */
    struct cloud_token *tokens;
    size_t token_count;
};

/* Returns the token for this audience ("": an access token); fetches a new one if the token in
 * memory is missing or expires soon. `rejected` (or NULL) is a token that the server refused: if it
 * is the token in memory, a new one is fetched. */
CHECKED bool cloud_tokens_get(struct cloud *cloud, const char *audience, const char *rejected,
                              char out[SECRET_VALUE_SIZE], struct error *error);

/* How a kind of credential gets its tokens. */
struct cloud_source {
    /* Reads the credential's files when the cloud is created. NULL: there are none. */
    CHECKED bool (*read)(struct cloud *cloud, struct error *error);
    /* Fetches a token, and sets its `value` and `ends_ms`. */
    CHECKED bool (*fetch)(struct cloud *cloud, const char *audience, struct cloud_token *out,
                          struct error *error);
    bool has_server; /* true (Kubernetes): URLs are paths on the credential's own API server */
};
const struct cloud_source *cloud_source_of(enum cloud_kind kind);
