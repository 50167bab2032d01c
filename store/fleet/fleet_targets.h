/* SPDX-License-Identifier: Apache-2.0 */
/* Targets. A target says where model servers may be deployed, with which credential, and up to
 * which ceilings. Of the credential, only the kind and the file's name are stored. Targets have
 * revisions, like deployments. */
#pragma once

#include "store/ledger/change.h"

struct fleet_target_row {
    char name[64];
    int64_t revision;
    char provider[32];
    /* JSON object of strings: project, namespace, network, ... (managed_target_members) */
    char place[4096];
    char regions[1024];        /* JSON array of the regions or zones that may be used */
    char source_ranges[1024];  /* JSON array of the networks (CIDR) that may reach deployments */
    char credential[24];       /* the kind of the credential, such as "kubeconfig" */
    char credential_file[128]; /* the file's name in the secrets folder; "": none */
    char proxy[256];           /* for calls to the platform; "": none */
    char recipes[2048]; /* JSON array of the names of the recipes that may be used; []: all */
    /* Maximum cost per hour of one deployment; 0: it must cost nothing. */
    double deployment_usd;
    /* Maximum cost per hour of all the target's deployments together; 0: they must cost nothing. */
    double total_usd;
    int64_t life_limit_s;    /* maximum lifetime of a deployment; 0: no limit */
    int64_t allows_no_price; /* 1: the cost of a deployment may be unknown; 0: it may not */
    int64_t allows_no_end;   /* 1: a deployment may have no end; 0: it must have one */
    /* 1: a deployment may have no guard; 0: it must have one. A guard ends the server on time even
     * if opsbrain no longer runs. */
    int64_t allows_no_guard;
    /* 1: two people must approve a plan, unless it only stops or destroys a deployment; 0: one
     * approval is enough. */
    int64_t needs_two;
    /* Maximum cost per hour that an agent may approve without a person; 0: an agent may only
     * approve stopping or destroying a deployment, to which no maximum applies. */
    double agent_usd;
    /* Maximum cost of the deployment's whole life that an agent may approve without a person. */
    double agent_life_usd;
    char created_by[64]; /* the author of this revision */
    int64_t changed_ms;  /* when this revision was made */
    int64_t retired_ms;  /* 0: not retired */
};

/* Adds the target, or a new revision of it if it exists and differs. *changed false: the target was
 * already as requested. A retired target becomes active again, with a new revision. CONFLICT: the
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
