/* SPDX-License-Identifier: Apache-2.0 */
/* Targets: where model servers may be deployed, with which credential (by name), and up to which
 * ceilings. They have revisions, like deployments. */
#pragma once

#include "store/ledger/change.h"

struct fleet_target_row {
    char name[64];
    int64_t revision;
    char provider[32];
    char place[4096];          /* JSON object of texts: project, cluster, namespace, network, ... */
    char regions[1024];        /* JSON array of texts */
    char source_ranges[1024];  /* JSON array of CIDR ranges */
    char credential[24];       /* the kind of the credential */
    char credential_file[128]; /* name in the secrets folder; "": none */
    char proxy[256];
    char recipes[2048]; /* JSON array of names; []: all */
    /* Ceilings per hour, for one deployment and for all of them; 0: only what costs nothing. */
    double deployment_usd, total_usd;
    int64_t life_limit_s; /* 0: no limit */
    /* 0 or 1. allows_no_guard: the end of a deployment may depend on opsbrain alone. needs_two: two
     * people must agree to a plan, unless it only stops or destroys a deployment. */
    int64_t allows_no_price, allows_no_end, allows_no_guard, needs_two;
    /* The cost up to which an agent may approve alone, per hour and in all; agent_usd 0: it may
     * approve only that a deployment is stopped or destroyed, which these ceilings do not limit. */
    double agent_usd, agent_life_usd;
    char created_by[64];
    int64_t changed_ms, retired_ms; /* retired_ms 0: not retired */
};

/* Adds the target, or a new revision if a target of this name exists and differs. *changed false:
 * it already was as requested. A retired target becomes active again. CONFLICT: the provider would
 * change, or the place or the regions while the target has a managed deployment. */
CHECKED bool fleet_target_put(struct store *store, const struct fleet_target_row *target,
                              int64_t now_ms, struct change *change, struct fleet_target_row *out,
                              bool *changed, struct error *error);
/* NOT_FOUND: the message lists existing targets. A retired target is not found. */
CHECKED bool fleet_target_find(struct store *store, const char *name, struct fleet_target_row *out,
                               struct error *error);
/* Lists the targets that are not retired, in order of name. free(*out). */
CHECKED bool fleet_target_list(struct store *store, struct fleet_target_row **out, size_t *count,
                               struct error *error);
/* CONFLICT: the target has a managed deployment. */
CHECKED bool fleet_target_retire(struct store *store, const char *name, int64_t now_ms,
                                 struct change *change, struct error *error);
