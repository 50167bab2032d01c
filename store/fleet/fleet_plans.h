/* SPDX-License-Identifier: Apache-2.0 */
/* Plans to change deployments. A plan is stored exactly as it was shown, and must be approved
 * before it is carried out. It is carried out once, by a job of the kind JOB_KIND_APPLY whose
 * subject is the plan's id. */
#pragma once

#include "base/core/digest.h"
#include "base/core/random.h"
#include "store/fleet/fleet_targets.h"
#include "store/ledger/jobs.h"

struct fleet_plan_row {
    char id[ID_SIZE];
    char digest[DIGEST_TEXT_SIZE]; /* of the document without its advice */
    char verb[16]; /* "create", "update", "start", "stop", "scale", "extend", "destroy" */
    char deployment[64];
    char target[64];
    int64_t target_revision;
    char *document;       /* JSON, heap */
    int64_t usd_known;    /* 1: usd_per_hour is known; 0: it is not */
    double usd_per_hour;  /* what the deployment costs once the plan is carried out */
    int64_t ends_ms;      /* when the deployment is stopped or destroyed; 0: no end */
    char at_end[16];      /* "stop" or "destroy"; "": no end */
    char state[16];       /* "planned", "applying", "done", "failed", "cancelled" */
    char reason[512];     /* why the plan failed or was cancelled; "": neither */
    char job_id[ID_SIZE]; /* "" until the plan begins */
    char principal[64];   /* who made the plan */
    int64_t created_ms;
    int64_t good_until_ms; /* when the plan expires, if it has not begun by then */
    int64_t finished_ms;   /* when it was done, failed or was cancelled; 0: not yet */
};
void fleet_plan_finish(struct fleet_plan_row *plan);

/* Stores a plan, with the state "planned", the principal of `change`, and an id if it has none.
 * Free *out with fleet_plan_finish. */
CHECKED bool fleet_plan_add(struct store *store, const struct fleet_plan_row *plan,
                            struct change *change, struct fleet_plan_row *out, struct error *error);
/* NOT_FOUND: the message names the id. Free *out with fleet_plan_finish. */
CHECKED bool fleet_plan_find(struct store *store, const char *id, struct fleet_plan_row *out,
                             struct error *error);
/* Lists at most `limit` plans of one deployment (NULL: of all), newest first; free with
 * fleet_plan_rows_free. */
CHECKED bool fleet_plan_list(struct store *store, const char *deployment, size_t limit,
                             struct fleet_plan_row **out, size_t *count, struct error *error);
/* Lists at most `limit` valid plans that have not begun, newest first; free with
 * fleet_plan_rows_free. */
CHECKED bool fleet_plan_waiting(struct store *store, int64_t now_ms, size_t limit,
                                struct fleet_plan_row **out, size_t *count, struct error *error);
void fleet_plan_rows_free(struct fleet_plan_row *rows, size_t count);

/* How a plan was approved: "person": by a person on a page or in a client; "command line": by a
 * person on the command line; "agent": without a person, by an agent that repeated the plan's
 * digest or the deployment's name, or by opsbrain itself at the deployment's end. */
#define FLEET_WAY_PERSON "person"
#define FLEET_WAY_COMMAND_LINE "command line"
#define FLEET_WAY_AGENT "agent"
struct fleet_approval {
    char principal[64];
    char way[16];     /* one of FLEET_WAY_... */
    char client[128]; /* as in struct actor; "": not known */
    int64_t created_ms;
};
/* Stores an approval by the principal of `change`. If this principal has already approved the plan
 * in this way, no second approval is stored. CONFLICT: the plan has already begun, or it has
 * expired. */
CHECKED bool fleet_plan_approve(struct store *store, const char *id, const char *way,
                                int64_t now_ms, struct change *change, struct error *error);
/* Lists a plan's approvals, oldest first; free(*out). */
CHECKED bool fleet_plan_approvals(struct store *store, const char *id, struct fleet_approval **out,
                                  size_t *count, struct error *error);
/* FORBIDDEN unless these approvals are the go-ahead that the target requires; the error says what
 * is missing. To stop or destroy a deployment, one approval by anybody is enough. Any other plan
 * needs the approval of one person, or of two people if the target requires two. If the approval
 * of one person is enough, an agent may approve instead, provided that the deployment's cost and
 * end are known and the cost is within the target's ceilings for agents. Here and in
 * fleet_plan_within, the deployment's life lasts from plan->created_ms to plan->ends_ms. */
CHECKED bool fleet_plan_allowed(const struct fleet_target_row *target,
                                const struct fleet_plan_row *plan,
                                const struct fleet_approval *approvals, size_t count,
                                struct error *error);
/* FORBIDDEN unless the plan only stops or destroys its deployment, or keeps it within the target's
 * limits on one deployment. */
CHECKED bool fleet_plan_within(const struct fleet_target_row *target,
                               const struct fleet_plan_row *plan, struct error *error);

struct fleet_plan_begun {
    char job_id[ID_SIZE];
    bool existed; /* the plan had already begun, with this job; this call changed nothing */
};
/* Checks the go-ahead, the target's ceilings and the name of a new deployment, and queues the job
 * that carries out the plan, in one transaction. `way`: how this call approves the plan for the
 * principal of `change`; NULL: the call is not an approval. `wish`: as in fleet_managed_row. */
CHECKED bool fleet_plan_begin(struct store *store, const char *id, const char *way,
                              const char *wish, int64_t now_ms, struct change *change,
                              struct fleet_plan_begun *out, struct error *error);

/* How a plan ended, and the new values of its deployment's row. */
struct fleet_plan_end {
    const char *state, *reason;      /* as in struct fleet_plan_row */
    const char *managed_state;       /* the deployment's new state; NULL: unchanged */
    const char *observed, *baseline; /* JSON; NULL: unchanged */
    const char *wish, *door;         /* JSON; NULL: unchanged */
    bool sets_terms;                 /* the plan's price, end and at_end become the deployment's */
    /* Nothing was changed on the platform: the plan's job requested no change, or the platform
     * refused every change that it requested. */
    bool changed_nothing;
};
/* CONFLICT if the claim is stale. */
CHECKED bool fleet_plan_end(struct store *store, const struct claim *claim, const char *id,
                            const struct fleet_plan_end *end, int64_t now_ms, struct error *error);

/* Queues a new job for each plan whose state is still "applying" although its job has ended, for
 * example because the store or a credential could not be used. *count: how many jobs were
 * queued. */
CHECKED bool fleet_plan_requeue(struct store *store, int64_t now_ms, size_t *count,
                                struct error *error);

/* A row of a plan's journal. The journal records the requests that carry out or undo the plan's
 * steps. */
struct fleet_journal_row {
    int64_t sequence; /* position in the journal, from 1 */
    char step[64];    /* the step's name */
    char action[8];   /* "do", "poll", "undo" */
    char outcome[16]; /* what came of the request; "": the request is about to be sent */
    char *poll_url;   /* heap; the URL to query until the step is done; "": none */
    char *detail;     /* heap; details of the outcome, for a person; "": none */
    int64_t at_ms;
};
/* Adds a row, and numbers it. When this returns true, the row is on disk. CONFLICT: the claim is
 * stale, so the caller must not send any more requests. */
CHECKED bool fleet_journal_add(struct store *store, const struct claim *claim, const char *plan_id,
                               const struct fleet_journal_row *row, struct error *error);
/* Lists the rows in the order in which they were added; free with fleet_journal_rows_free. */
CHECKED bool fleet_journal_list(struct store *store, const char *plan_id,
                                struct fleet_journal_row **out, size_t *count, struct error *error);
void fleet_journal_rows_free(struct fleet_journal_row *rows, size_t count);
