/* SPDX-License-Identifier: Apache-2.0 */
/* Deployments whose servers opsbrain created or adopted: their wanted and their last observed
 * state. */
#pragma once

#include "base/core/random.h"
#include "store/ledger/change.h"

struct fleet_managed_row {
    char id[ID_SIZE]; /* of this row */
    char deployment[64];
    char target[64];
    char plan_id[ID_SIZE]; /* the last plan begun for it; "": adopted, and no plan has begun */
    char state[16];        /* "creating", "running", "stopped", "failed", "gone" */
    /* "created" or "adopted": opsbrain may stop and destroy the server; "watched": opsbrain may
     * only watch it. */
    char rights[16];
    char *wish; /* wanted state; JSON, heap: recipe, overrides, place, kind, replicas, at_end */
    int64_t usd_known; /* 1: usd_per_hour is known; 0: it is not */
    double usd_per_hour;
    int64_t ends_ms; /* when the deployment is stopped or destroyed; 0: no end */
    char at_end[16]; /* "stop" or "destroy"; "": no end */
    /* The last warning that was given before ends_ms: 0: none yet; 1: the one an hour before;
     * 2: the one ten minutes before. */
    int64_t warned;
    char *observed;      /* the last observed state; JSON, heap; {}: never observed */
    int64_t observed_ms; /* when that state was observed; 0: never */
    /* The problem that the last observation found, or why the observation failed; "": none. */
    char problem[512];
    /* JSON, heap: the fields observed right after the last plan was carried out, to detect later
     * changes; {}: none. */
    char *baseline;
    /* JSON, heap: what the provider needs in order to find the server's key, and the address to
     * which that key is sent; {}: nothing. A target's "door" is something else: it says how the
     * target's servers are reached. */
    char *door;
    /* Cost from created_ms to spent_ms. Excludes times when the server was stopped or its price was
     * unknown. */
    double spent_usd;
    int64_t spent_ms;
    int64_t created_ms;  /* when opsbrain began to create the server, or adopted it */
    int64_t ended_ms;    /* when the state became "gone"; 0: it is not "gone" */
    char created_by[64]; /* the principal who made the plan, or adopted the server */
};
void fleet_managed_finish(struct fleet_managed_row *row);
void fleet_managed_rows_free(struct fleet_managed_row *rows, size_t count);

/* *found false: no deployment of that name is currently managed. Free with
 * fleet_managed_finish. */
CHECKED bool fleet_managed_find(struct store *store, const char *deployment,
                                struct fleet_managed_row *out, bool *found, struct error *error);
/* Lists the deployments that are not gone, in order of name. Free with fleet_managed_rows_free. */
CHECKED bool fleet_managed_list(struct store *store, struct fleet_managed_row **out, size_t *count,
                                struct error *error);
/* Begins to manage a server that already exists. The caller sets these members of `row`:
 * deployment, target, state ("" means running), rights, wish, observed and door (NULL: none),
 * ends_ms and at_end. CONFLICT: the deployment is already managed. */
CHECKED bool fleet_managed_adopt(struct store *store, const struct fleet_managed_row *row,
                                 int64_t now_ms, struct change *change, struct error *error);

/* What was observed of a deployment whose row had been read before. */
struct fleet_observation {
    const char *id, *plan_id; /* as in that row */
    const char *state;        /* NULL: unchanged */
    const char *observed;     /* JSON; NULL: unchanged, and so is observed_ms */
    const char *problem;      /* as in the row: "": none */
    int64_t now_ms;
};
/* Stores an observation, and updates the deployment's cost up to `now_ms`. If another plan was
 * begun since the row was read, only the cost is updated. */
CHECKED bool fleet_managed_note(struct store *store, const struct fleet_observation *observation,
                                struct error *error);
/* Stops managing a deployment whose rights are "watched"; does nothing for any other. */
CHECKED bool fleet_managed_release(struct store *store, const char *deployment, int64_t now_ms,
                                   struct error *error);
/* Records a warning about the deployment's end; `level` is as in `warned`. *first: the deployment
 * is not gone, and no warning of this or a higher level had been recorded for this end. */
CHECKED bool fleet_managed_warn(struct store *store, const char *id, int64_t level, bool *first,
                                struct error *error);

struct fleet_instance {
    /* The id of this database. Resources that opsbrain creates in clouds are labelled with it. */
    char id[ID_SIZE];
    /* The database is now used at a place other than the recorded one. Then opsbrain only reads
     * from the clouds and changes nothing there. */
    bool moved;
};
/* `place` stands for the folder where the database is used (server/program/fleet_place.h); it has
 * nothing to do with the places of deployments. Creates the id if there is none, and records the
 * place if none is recorded. */
CHECKED bool fleet_instance_read(struct store *store, const char *place, struct fleet_instance *out,
                                 struct error *error);
/* Records the place where the database is used. `place` can also be two strings separated by a
 * space: then either of them counts as the recorded place (server/program/fleet_place.c does this
 * while it changes the place). "": the place that is next passed to fleet_instance_read is
 * recorded. */
CHECKED bool fleet_instance_settle(struct store *store, const char *place, struct change *change,
                                   struct error *error);
