/* SPDX-License-Identifier: Apache-2.0 */
/* Targets: where model servers may be deployed, with which credential (by name), and up to which
 * ceilings. They have revisions, like deployments. */
#pragma once

#include "store/ledger/change.h"

struct fleet_target_row {
    char name[64];
    int64_t revision;
    char provider[32];
    char place[4096];          /* JSON object of strings: project, cluster, namespace, ... */
    char regions[1024];        /* JSON array of strings */
    char source_ranges[1024];  /* JSON array of CIDR ranges */
    char credential[24];       /* the kind of the credential */
    char credential_file[128]; /* the file's name in the secrets folder; "": none */
    char proxy[256];
    char recipes[2048]; /* JSON array of names; []: all */
    /* The highest hourly cost of one deployment, and of all of them together; 0: only what costs
     * nothing is allowed. */
    double deployment_usd, total_usd;
    int64_t life_limit_s; /* 0: no limit */
    /* 0 or 1. allows_no_guard: a deployment may have no guard, which is what ends the server if
     * opsbrain is gone. needs_two: two people must approve a plan, unless it only stops or destroys
     * a deployment. */
    int64_t allows_no_price, allows_no_end, allows_no_guard, needs_two;
    /* The highest cost that an agent may approve without a person: per hour, and for the
     * deployment's whole life. agent_usd 0: an agent may only approve stopping or destroying a
     * deployment, to which these ceilings do not apply. */
    double agent_usd, agent_life_usd;
    char created_by[64];
    int64_t changed_ms, retired_ms; /* retired_ms 0: not retired */
};

/* Adds the target, or a new revision if a target of this name exists and differs. *changed false:
 * the target already was as requested. A retired target becomes active again. CONFLICT: the
 * provider differs, or the place or the regions differ while the target has a managed
 * deployment. */
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
