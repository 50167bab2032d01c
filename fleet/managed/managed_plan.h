/* SPDX-License-Identifier: Apache-2.0 */
/* A plan of what is done to a deployment: made from a wish and from what there is, shown request by
 * request, and compared with the state of things again before it is carried out. */
#pragma once

#include "fleet/managed/managed_target.h"

#define PLAN_GOOD_MS (24 * 3600000LL)

/* What is asked for. Borrowed texts, "" where nothing was said. */
struct managed_wish {
    enum provider_verb verb;
    const char *deployment;
    const char *target, *recipe; /* of VERB_CREATE, and where VERB_UPDATE changes it */
    const json_t *overrides;     /* NULL: none */
    const char *place, *kind;    /* kind of price: "on_demand", ... */
    int64_t life_s;              /* 0: no end (create), or as before */
    const char *at_end;          /* "stop" or "destroy" */
    int64_t replicas;            /* 0: the recipe's, or as before */
};

struct managed_plan {
    struct managed_target target;
    struct recipe recipe; /* with its overrides; its document is NULL if there is none */
    struct observed observed;
    struct desired desired; /* borrows from the rest */
    struct step *steps;
    size_t step_count;
    json_t *wish; /* what fleet_managed keeps: recipe, overrides, region, kind, replicas, at_end */
    json_t *document; /* of row.document: what the digest covers, and "advice" */
    struct fleet_plan_row row;
};
/* Frees what is inside; does nothing for a zeroed one. */
void managed_plan_finish(struct managed_plan *plan);

/* Reads the target, the recipe and the cloud, and lets the provider check the requests where it can
 * (dry run). Changes nothing; nothing is stored. Each refusal is one sentence. */
CHECKED bool managed_plan_make(const struct fleet_frame *frame, const struct managed_wish *wish,
                               struct managed_plan *out, struct error *error);
/* Makes a stored plan again from what there is now. CONFLICT names what differs. */
CHECKED bool managed_plan_again(const struct fleet_frame *frame, const struct fleet_plan_row *row,
                                struct managed_plan *out, struct error *error);

/* Whether a stored plan's document can be carried out, and its parts. */
CHECKED bool managed_plan_load(const struct fleet_frame *frame, const struct fleet_plan_row *row,
                               struct managed_plan *out, struct error *error);

/* For people: the requests, what it costs, when it ends, what is on its door, what became of it. */
void managed_plan_describe(const json_t *document, const struct fleet_plan_row *row,
                           struct text *out);
