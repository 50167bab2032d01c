/* SPDX-License-Identifier: Apache-2.0 */
/* Deployments: model servers by name, in revisions; and the facts that they reported. */
#pragma once

#include "base/net/url.h"
#include "store/ledger/change.h"

struct deployment {
    int64_t id;
    int64_t revision;
    char name[64];
    char url[1025]; /* without a trailing '/' or '/v1' */
    char provider[32];
    char model[256];
    char model_revision[96]; /* commit or tag of the weights; like the other texts, "" if not stated
                              */
    char quantization[64];
    char engine[32];
    char hardware[128];
    int64_t chips; /* accelerators; 0: not stated */
    char region[64];
    char secret[64];   /* the secret's name */
    char labels[2048]; /* JSON object of strings */
    char limits[1024]; /* JSON object: max_instances, container_concurrency, max_running (integers)
                        */
    char created_by[64];
    char owner[64]; /* may change its URL and remove it, as admins may */
    int64_t created_ms, changed_ms, retired_ms; /* 0: not retired */
    /* Only written, never read: the origin to which its secret is bound together with this
     * revision; "": none. */
    char binds[ORIGIN_SIZE];
};

/* CONFLICT when the name is taken by one that is not retired. A retired one of that name comes back
 * as a new revision with the same owner: FORBIDDEN for others, except admins. */
CHECKED bool deployment_add(struct store *store, const struct deployment *deployment,
                            int64_t now_ms, struct change *change, struct deployment *out,
                            struct error *error);
/* A new revision with the fields of `deployment`; its `revision` must be the current one (else
 * CONFLICT). */
CHECKED bool deployment_change(struct store *store, const struct deployment *deployment,
                               int64_t now_ms, struct change *change, struct deployment *out,
                               struct error *error);
CHECKED bool deployment_retire(struct store *store, const char *name, int64_t now_ms,
                               struct change *change, struct error *error);
/* NOT_FOUND lists the existing deployments (up to 8). Retired ones are not found by name. */
CHECKED bool deployment_find(struct store *store, const char *name, struct deployment *out,
                             struct error *error);
CHECKED bool deployment_find_revision(struct store *store, int64_t id, int64_t revision,
                                      struct deployment *out, struct error *error);
/* Whether both are the same thing to measure: everything except labels, owner, author and the
 * secret, which only gives access. */
bool deployment_measures_same(const struct deployment *a, const struct deployment *b);
/* Finds the earliest revision that measures the same as this one, as do all between them. */
CHECKED bool deployment_same_since(struct store *store, int64_t id, int64_t revision,
                                   int64_t *first, struct error *error);
/* Lists deployments in order of name, beginning after the name `after` ("": from the start).
 * free(*out). */
CHECKED bool deployment_list(struct store *store, const char *after, size_t limit,
                             struct deployment **out, size_t *count, struct error *error);

struct model_facts {
    int64_t deployment_id, revision, observed_ms;
    char model[256], engine[32], engine_version[64];
    int64_t context_tokens; /* 0: not reported */
    char details[4096];     /* JSON object */
};
/* Adds a row if it differs from the newest one. */
CHECKED bool model_facts_note(struct store *store, const struct model_facts *facts,
                              struct error *error);
CHECKED bool model_facts_latest(struct store *store, int64_t deployment_id, struct model_facts *out,
                                bool *found, struct error *error);
