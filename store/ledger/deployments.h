/* SPDX-License-Identifier: Apache-2.0 */
/* Deployments, which are named model servers whose settings have revisions, and the facts that the
 * servers reported about themselves. */
#pragma once

#include "base/net/url.h"
#include "store/ledger/change.h"

/* A string that was not stated is "". When a row is stored, an empty provider becomes "endpoint",
 * and empty labels and limits become "{}". */
struct deployment {
    int64_t id;
    int64_t revision;
    char name[64];
    char url[1025]; /* without a trailing '/' or '/v1' */
    char provider[32];
    char model[256];
    char model_revision[96]; /* commit or tag of the weights */
    char quantization[64];
    char engine[32];
    char hardware[128];
    int64_t chips; /* number of accelerators; 0: not stated */
    char region[64];
    char secret[64];   /* the secret's name */
    char labels[2048]; /* JSON object of strings */
    /* JSON object of integers: max_instances, container_concurrency, max_running. */
    char limits[1024];
    char created_by[64]; /* the author of this revision */
    /* Only this principal and admins may change the URL or the secret, or remove the deployment.
     * "": only admins may. */
    char owner[64];
    int64_t created_ms, changed_ms, retired_ms; /* retired_ms 0: not retired */
    /* Only an input: the origin to which the secret is bound when this revision is stored;
     * "": none. */
    char origin_to_bind[ORIGIN_SIZE];
};

/* Adds a deployment. If a retired deployment has this name, that deployment becomes active again,
 * with a new revision, and keeps its owner if it has one. FORBIDDEN: the retired deployment has an
 * owner, and the caller is neither that owner nor an admin. CONFLICT: a deployment that is not
 * retired has this name. */
CHECKED bool deployment_add(struct store *store, const struct deployment *deployment,
                            int64_t now_ms, struct change *change, struct deployment *out,
                            struct error *error);
/* Adds a revision with the fields of `deployment`. CONFLICT: deployment->revision is not the
 * current one. */
CHECKED bool deployment_change(struct store *store, const struct deployment *deployment,
                               int64_t now_ms, struct change *change, struct deployment *out,
                               struct error *error);
CHECKED bool deployment_retire(struct store *store, const char *name, int64_t now_ms,
                               struct change *change, struct error *error);
/* NOT_FOUND: the message lists up to 8 existing deployments. A retired deployment is not found. */
CHECKED bool deployment_find(struct store *store, const char *name, struct deployment *out,
                             struct error *error);
CHECKED bool deployment_find_revision(struct store *store, int64_t id, int64_t revision,
                                      struct deployment *out, struct error *error);
/* Returns whether a measurement of one also describes the other, that is, whether everything that
 * can affect a measurement is the same. Labels, owner, author and secret can differ. */
bool deployment_measures_same(const struct deployment *a, const struct deployment *b);
/* *first: the earliest revision such that, from it to `revision`, nothing changed that can affect a
 * measurement (deployment_measures_same). */
CHECKED bool deployment_same_since(struct store *store, int64_t id, int64_t revision,
                                   int64_t *first, struct error *error);
/* Lists the deployments that are not retired, in order of name, beginning after the name `after`
 * ("": from the start). free(*out). */
CHECKED bool deployment_list(struct store *store, const char *after, size_t limit,
                             struct deployment **out, size_t *count, struct error *error);

struct model_facts {
    int64_t deployment_id, revision, observed_ms;
    char model[256], engine[32], engine_version[64];
    int64_t context_tokens; /* 0: not reported */
    char details[4096];     /* JSON object */
};
/* Adds a row unless the deployment's newest row has the same facts and revision. */
CHECKED bool model_facts_note(struct store *store, const struct model_facts *facts,
                              struct error *error);
CHECKED bool model_facts_latest(struct store *store, int64_t deployment_id, struct model_facts *out,
                                bool *found, struct error *error);
