/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the tokens of one credential in memory, for all threads, and renews them before they
 * expire. Private to fleet/cloud. */
#pragma once

#include <pthread.h>

#include "base/net/outbound.h"
#include "fleet/cloud/cloud.h"
#include "fleet/cloud/cloud_kubeconfig.h"

#define CLOUD_AUDIENCE_SIZE 512
#define CLOUD_TOKENS_MAX 1024 /* one for each server of a target, and the access token */

struct cloud_token {
    char audience[CLOUD_AUDIENCE_SIZE]; /* of an ID token; "": an access token */
    char value[SECRET_VALUE_SIZE];      /* "": the server needs no token */
    int64_t fetched_ms, ends_ms;        /* UTC; ends_ms INT64_MAX: it never expires */
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
    /* of CLOUD_KUBECONFIG; for CLOUD_IN_CLUSTER, the same facts about the pod, except its token */
    struct cloud_kubeconfig kubeconfig;
    struct outbound_tls tls; /* points into `kubeconfig` */
    pthread_mutex_t lock;    /* protects the tokens; held while one is fetched */
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
    bool has_server; /* Kubernetes: URLs are paths on the credential's own API server */
};
const struct cloud_source *cloud_source_of(enum cloud_kind kind);
