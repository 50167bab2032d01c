/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files in store/ share. Private to store/. */
#pragma once

#include <pthread.h>

#include "base/core/random.h"
#include "base/core/timeline.h"
#include "store/audit/audit_key.h"
#include "store/engine/database.h"
#include "store/engine/presence.h"
#include "store/engine/sql_row.h"
#include "store/ledger/change.h"

struct audit_tally;
struct audit_verdict;
struct claim;
struct deferred_timestamps;
struct deployment;
struct job;
struct secret_origin;
struct series_cache;
struct sweep_order;
struct sweep_row;

struct store_clock {
    pthread_mutex_t lock;
    bool begun;                    /* whether `timeline` has begun */
    bool doubted;                  /* whether the wall clock is too far ahead to be trusted */
    struct timeline_memory memory; /* what the previous process recorded */
    struct timeline timeline;
    int64_t kept_at_ms; /* the uptime when the record was last stored */
};

struct store {
    struct database *main;    /* with SQLite: opsbrain.db */
    struct database *scrapes; /* with SQLite: scrapes.db */
    struct presence presence; /* watches the data folder and the files in it */
    struct store_clock clock;
    struct deferred_timestamps *deferred;
    struct series_cache *series;
    struct audit_tally *tally;
    struct audit_keys audit_keys; /* set before other threads use the store, then constant */
    char *folder;
    int64_t reserve_bytes, reserve_share; /* arguments of disk_space_reserve; 0: not called */
    pthread_mutex_t verdict_lock;         /* protects the next member */
    struct audit_verdict *verdict;        /* of the latest check of the audit log; NULL: none yet */
    int lock_file;                        /* locks the folder; -1: not locked yet */
};

/* Reads what the previous process recorded about the clock. */
CHECKED bool plausible_time_load(struct store *store, struct error *error);

/* Like usage_check, but in the caller's transaction. */
CHECKED bool usage_check_in(struct sql_connection *connection, const char *principal,
                            int64_t limit_bytes, struct error *error);

/* In one transaction, runs the closure and adds the audit row for `change` (NULL: no row), with the
 * outcome 'ok'. `subject`, `detail` and `change->changed` are read after the closure has run, so
 * the closure can fill them. */
CHECKED bool store_change(struct store *store, struct change *change, database_apply *apply,
                          void *context, const char *subject, const char *detail,
                          struct error *error);

/* Like store_change, but the audit row also contains `changed`, which the closure fills. Frees
 * `changed`. */
CHECKED bool store_change_described_take(struct store *store, struct change *change,
                                         database_apply *apply, void *context, const char *subject,
                                         const char *detail, struct text *changed,
                                         struct error *error);
/* Add the members that differ between `before` and `after` to `changed`, which is empty before the
 * first call. */
void audit_changed_text(struct text *changed, const char *member, const char *before,
                        const char *after);
void audit_changed_number(struct text *changed, const char *member, int64_t before, int64_t after);
void audit_changed_deployment(struct text *changed, const struct deployment *before,
                              const struct deployment *after);

/* A row to be added to the audit log. Its strings are borrowed; NULL counts as "". */
struct audit_note {
    const struct change *change;
    const char *phase, *outcome, *detail, *subject;
    int64_t times; /* how many calls the row represents */
};
/* Works in the caller's transaction; *id: the id of the row. */
CHECKED bool audit_log_insert(struct sql_connection *connection, const struct audit_keys *keys,
                              const struct audit_note *note, int64_t *id, struct error *error);
/* Called when the store is opened. In older versions, the audit log was not yet a chain of digests
 * (store/audit/audit_chain.h); this adds the rows from those versions to the chain. */
CHECKED bool audit_upgrade(struct store *store, struct error *error);
/* If the store has a key and the audit log has been written without one so far, begins to use the
 * key, for all new rows and for the anchor (audit_shorten), if there is one. INVALID: the audit log
 * was written with a key, but the store has none. */
CHECKED bool audit_upgrade_begin_key(struct store *store, struct error *error);
/* Deletes the oldest rows of the audit log, and stops before the first row that is not older than
 * `before_ms`. If it deletes any, it adds an anchor, a record that stands for the deleted rows. */
CHECKED bool audit_shorten(struct store *store, int64_t before_ms, struct error *error);

/* Records that change->nonce was used, in the transaction that makes the change. CONFLICT: it was
 * used before. */
CHECKED bool request_nonce_insert(struct sql_connection *connection, const struct change *change,
                                  struct error *error);

/* Works in the caller's transaction. If a row with this secret and origin exists, it stays as it
 * is. */
CHECKED bool secret_origin_insert(struct sql_connection *connection,
                                  const struct secret_origin *row, struct error *error);

#define CLIP_LIMIT 4096
/* Returns a heap copy of the JSON, or {} if it is NULL or "". If the copy would have more than
 * `limit` bytes, including the NUL, it is {"truncated":true,"bytes":N,"start":"..."} instead. */
char *audit_log_clip(const char *json, size_t limit);

/* CONFLICT unless the job is running and the claim is the job's newest. */
CHECKED bool job_claim_check(struct sql_connection *connection, const struct claim *claim,
                             struct error *error);
/* Adds a queued job, in the caller's transaction. */
CHECKED bool job_insert(struct sql_connection *connection, const struct job *job,
                        struct error *error);
/* Records which endpoints the job needs (those of the deployments that its sweep measures), and
 * puts the job in line for the first one. */
CHECKED bool endpoint_queue_join(struct sql_connection *connection, const char *job_id,
                                 struct error *error);
/* If the job waits for an endpoint, grants it that endpoint; the job must be first in line there.
 * *holds true: the job now holds all endpoints that it needs; false: it joined the line for the
 * next one. */
CHECKED bool endpoint_queue_advance(struct sql_connection *connection, const char *job_id,
                                    int64_t now_ms, bool *holds, struct error *error);
/* Gives up the job's endpoints and its place in line. */
CHECKED bool endpoint_queue_leave(struct sql_connection *connection, const char *job_id,
                                  struct error *error);
/* If the job waits for an answer, gives up its endpoints and its place in line, so that it delays
 * no other job. */
CHECKED bool endpoint_queue_step_aside(struct sql_connection *connection, const char *job_id,
                                       struct error *error);
/* If a sweep's job has not ended and is in no line, puts it in line. There are such jobs after an
 * update from a version that put a job in line only when it ran, because the lines of that version
 * are not kept. */
CHECKED bool endpoint_queue_restore(struct sql_connection *connection, struct error *error);
/* A new run: one repetition of a sweep's plan on one of the sweep's subjects. Borrowed strings. */
struct run_order {
    const struct sweep_order *sweep;
    const char *id, *sweep_id;
    size_t subject; /* as in cell_plan */
    int64_t repetition, now_ms;
};
CHECKED bool run_insert(struct sql_connection *connection, const struct run_order *run,
                        struct error *error);
/* BUSY if `limit` or more sweeps of the principal are queued or running. `limit` 0: never BUSY. */
CHECKED bool sweep_create_check_limit(struct sql_connection *connection, const char *principal,
                                      int64_t limit, struct error *error);

/* A caller's idempotency key, and the call for which it was used. Borrowed strings. */
struct idempotency {
    const char *principal, *tool, *key, *arguments_digest;
};
CHECKED bool idempotency_insert(struct sql_connection *connection,
                                const struct idempotency *idempotency, const char *subject,
                                int64_t now_ms, struct error *error);
/* CONFLICT: the key was used with different arguments. */
CHECKED bool idempotency_read(struct sql_connection *connection,
                              const struct idempotency *idempotency, char subject[ID_SIZE],
                              bool *found, struct error *error);

/* Returns the principal that makes the change; "local" if there is none. */
const char *store_change_principal(const struct change *change);
/* Inserts the sweep's row alone, without its subjects, runs and cells. */
CHECKED bool sweep_insert(struct sql_connection *connection, const struct sweep_row *row,
                          struct error *error);
/* NOT_FOUND: no sweep has this id; the message names it. */
CHECKED bool sweep_read(struct sql_connection *connection, const char *id, struct sweep_row *out,
                        struct error *error);

/* SQL conditions and columns for the table jobs. A job that was asked to stop no longer waits for
 * answers. */
#define JOB_WAITS                                                                                  \
    "(state = 'queued' AND cancel_requested_ms IS NULL AND EXISTS "                                \
    "(SELECT 1 FROM job_questions WHERE job_id = jobs.id AND answer IS NULL)) "
#define JOB_STATE "CASE WHEN " JOB_WAITS "THEN 'waiting' ELSE state END"
#define JOB_STORED(FIRST, COLUMN, OF)                                                              \
    FIRST(struct job, TEXT, id, OF "id")                                                           \
    COLUMN(struct job, TEXT, kind, OF "kind")                                                      \
    COLUMN(struct job, TEXT, subject, OF "subject")                                                \
    COLUMN(struct job, TEXT, principal, OF "principal")                                            \
    COLUMN(struct job, INTEGER, created_ms, OF "created_ms")
#define JOB_COLUMNS(FIRST, COLUMN, OF)                                                             \
    JOB_STORED(FIRST, COLUMN, OF)                                                                  \
    COLUMN(struct job, STATE, state, JOB_STATE)                                                    \
    COLUMN(struct job, INTEGER, started_ms, "started_ms")                                          \
    COLUMN(struct job, INTEGER, finished_ms, "finished_ms")                                        \
    COLUMN(struct job, TEXT, owner, "owner")                                                       \
    COLUMN(struct job, INTEGER, lease_until_ms, "lease_until_ms")                                  \
    COLUMN(struct job, INTEGER, fence, "fence")                                                    \
    COLUMN(struct job, INTEGER, cancel_requested_ms, "cancel_requested_ms")                        \
    COLUMN(struct job, REAL, progress, "progress")                                                 \
    COLUMN(struct job, REAL, progress_total, "progress_total")                                     \
    COLUMN(struct job, TEXT, message, "message")                                                   \
    COLUMN(struct job, TEXT, outcome, "outcome")                                                   \
    COLUMN(struct job, INTEGER, updated_ms, SQL_GREATER("updated_ms", "created_ms"))
#define SELECT_JOBS SQL_SELECT(JOB_COLUMNS, "") "FROM jobs "
extern const struct sql_columns job_columns; /* the columns of SELECT_JOBS */
CHECKED bool job_read(struct sql_connection *connection, const char *id, struct job *out,
                      struct error *error);
/* Runs a statement whose ?1 is `id`, for example a job's id. If time_ms is not 0, it is ?2. */
CHECKED bool job_execute(struct sql_connection *connection, const char *statement, const char *id,
                         int64_t time_ms, struct error *error);
/* Ends the sweep on which the job works, unless that sweep has already ended. `reason` NULL: the
 * reason is "its job was ", followed by `state`. */
CHECKED bool job_end_sweep(struct sql_connection *connection, const char *job_id, const char *state,
                           const char *reason, int64_t now_ms, struct error *error);
