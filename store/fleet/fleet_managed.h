/* SPDX-License-Identifier: Apache-2.0 */
/* Deployments whose servers opsbrain created or adopted: their wanted and their last observed
 * state. */
#pragma once

#include "base/core/random.h"
#include "store/ledger/change.h"

struct fleet_managed_row {
    char id[ID_SIZE];
    char deployment[64];
    char target[64];
    char plan_id[ID_SIZE]; /* its newest plan that was begun; "": adopted, and none yet */
    char state[16];        /* "creating", "running", "stopped", "failed", "gone" */
    char rights[16];       /* "created"; "adopted": may be stopped and destroyed; "watched": not */
    char *wish;            /* JSON, heap: recipe, overrides, place, kind, replicas, at_end */
    int64_t usd_known;     /* 1: usd_per_hour is known; 0: it is not */
    double usd_per_hour;
    int64_t ends_ms; /* 0: no end */
    char at_end[16];
    /* The last warning of its end: 0 none, 1 an hour before, 2 ten minutes before. */
    int64_t warned;
    char *observed;      /* JSON, heap */
    int64_t observed_ms; /* 0: never */
    char problem[512];   /* what the last observation found, or why it failed; "": no problem */
    /* JSON, heap: the observed fields after the last plan that was carried out; {}: none. */
    char *baseline;
    /* JSON, heap: what the provider needs in order to find the server's key, and the address to
     * which that key is sent; {}: nothing. (A target's "door" is how its servers are reached.) */
    char *door;
    double spent_usd; /* cost until spent_ms, without the time for which no price was known */
    int64_t spent_ms;
    int64_t created_ms, ended_ms;
    char created_by[64];
};
void fleet_managed_finish(struct fleet_managed_row *row);
void fleet_managed_rows_free(struct fleet_managed_row *rows, size_t count);

/* *found false: no deployment of that name is managed now. Free with fleet_managed_finish. */
CHECKED bool fleet_managed_find(struct store *store, const char *deployment,
                                struct fleet_managed_row *out, bool *found, struct error *error);
/* Lists the deployments that are not gone, in order of name. Free with fleet_managed_rows_free. */
CHECKED bool fleet_managed_list(struct store *store, struct fleet_managed_row **out, size_t *count,
                                struct error *error);
/* Begins to manage a server that exists already. `row` has deployment, target, state ("":
 * running), rights, wish, observed and door (NULL: none), ends_ms and at_end. CONFLICT: the
 * deployment is managed already. */
CHECKED bool fleet_managed_adopt(struct store *store, const struct fleet_managed_row *row,
                                 int64_t now_ms, struct change *change, struct error *error);

struct fleet_observation {
    const char *id, *plan_id; /* as in the row when it was read */
    const char *state;        /* NULL: unchanged */
    const char *observed;     /* JSON; NULL: unchanged, and so is observed_ms */
    const char *problem;
    int64_t now_ms;
};
/* Stores an observation, and counts the deployment's cost until `now_ms`. If another plan has
 * changed the row since it was read, only the cost is updated. */
CHECKED bool fleet_managed_note(struct store *store, const struct fleet_observation *observation,
                                struct error *error);
/* Forgets a server that was adopted to be watched only; does nothing for any other deployment. */
CHECKED bool fleet_managed_release(struct store *store, const char *deployment, int64_t now_ms,
                                   struct error *error);
/* Records a warning of the deployment's end; *first: the deployment is not gone, and no
 * warning of this or a higher level was recorded for this end before. `level` is as in `warned`. */
CHECKED bool fleet_managed_warn(struct store *store, const char *id, int64_t level, bool *first,
                                struct error *error);

struct fleet_instance {
    char id[ID_SIZE]; /* of this database: a label on the resources that opsbrain creates */
    /* The database is used at a place that is not recorded: opsbrain then only reads the clouds. */
    bool moved;
};
/* Creates the id if there is none, and records the place if none is recorded. */
CHECKED bool fleet_instance_read(struct store *store, const char *place, struct fleet_instance *out,
                                 struct error *error);
/* Records the place where the database is used: one text, or two, separated by a blank, each of
 * which then counts as recorded (server/program/fleet_place.c, while it changes the text). "": the
 * place that fleet_instance_read gets next is recorded. */
CHECKED bool fleet_instance_settle(struct store *store, const char *place, struct change *change,
                                   struct error *error);
