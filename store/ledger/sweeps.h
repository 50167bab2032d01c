/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps, runs, cells and attempts. */
#pragma once

#include "base/core/random.h"
#include "base/measure/cell_result.h"
#include "base/stats/histogram.h"
#include "store/ledger/deployments.h"
#include "store/ledger/jobs.h"

#define SWEEP_SUBJECTS_MAX 2

/* A deployment that a sweep measures. */
struct sweep_subject {
    int64_t deployment_id, revision;
    char deployment[64];
    char *workload; /* JSON, heap */
};

struct sweep_row {
    char id[ID_SIZE];
    /* One subject, or two that take turns cell by cell: the baseline, then the candidate. */
    struct sweep_subject subjects[SWEEP_SUBJECTS_MAX];
    size_t subject_count;
    int64_t deployment_id, revision; /* of the first subject, like `deployment` */
    char deployment[64];
    char job_id[ID_SIZE];
    char *plan; /* JSON, heap */
    char plan_digest[65];
    char state[16], reason[256];
    char principal[64];
    int64_t created_ms, started_ms, finished_ms;
    int64_t cells_total, cells_done, cells_inferred; /* done: no longer pending */
    int64_t repetitions;
};
void sweep_row_finish(struct sweep_row *row);

struct cell_row {
    int64_t id;
    char run_id[ID_SIZE];
    int64_t deployment_id; /* of its run, like `deployment` */
    char deployment[64];
    int64_t repetition, position, concurrency, input_tokens, output_tokens;
    double request_rate; /* per second; 0: a closed loop of `concurrency` users */
    enum cell_state state;
    char reason[256];
    int64_t attempt_id; /* the accepted attempt; 0: none */
    int64_t attempts;   /* number of attempts so far */
    int64_t finished_ms;
    char workload_digest[65];
    struct measurement measurement; /* zero unless measured, failed or infeasible with numbers */
    char *witness;                  /* JSON, heap, NULL if none */
};
#define CELL_LOAD_SIZE 40
/* "64 users", "1 user", "2.5 requests/s" */
const char *cell_load_text(int64_t users, double request_rate, char out[CELL_LOAD_SIZE]);
void cell_rows_free(struct cell_row *rows, size_t count);

struct attempt_row {
    int64_t id, cell_id, number, started_ms, finished_ms, fence;
    char state[16], reason[256], job_id[ID_SIZE], run_id[ID_SIZE], deployment[64];
    int64_t concurrency, input_tokens, output_tokens, repetition;
    double request_rate;
};

struct run_row {
    char id[ID_SIZE], sweep_id[ID_SIZE];
    int64_t repetition;
    char deployment[64];
    int64_t deployment_id, revision;
    char fingerprint[65];                    /* digest; "" before the first cell */
    char corrects[ID_SIZE];                  /* the run it replaces; "" if none */
    char corrected_by[ID_SIZE];              /* the newest run that replaces it, once it is finished
                                              * and measured something; "" if none */
    char *fingerprint_document, *provenance; /* JSON, heap */
    int64_t created_ms, finished_ms;
    char sweep_state[16];
    int64_t cells_total, cells_done;
};
void run_rows_free(struct run_row *rows, size_t count);
void run_row_finish(struct run_row *row); /* frees the members of a row that run_find read */

struct cell_plan {
    int64_t concurrency, input_tokens, output_tokens, repetition, position;
    double request_rate; /* as in cell_row */
    size_t subject;      /* 0: the order's deployment, 1: its candidate */
};

/* An earlier run that the run of this repetition replaces. */
struct correction {
    size_t subject; /* as in cell_plan */
    int64_t repetition;
    char run_id[ID_SIZE];
};

struct sweep_order {
    const struct deployment *deployment;
    const struct deployment *candidate; /* measured in turns with `deployment`; NULL: none */
    const struct correction *corrections;
    size_t correction_count; /* 0: the sweep corrects nothing */
    const char *plan_json, *plan_digest, *provenance_json;
    const struct cell_plan *cells;
    size_t cell_count;
    int64_t repetitions;
    int64_t active_limit;        /* sweeps that the principal may have queued or running; 0: any */
    const char *idempotency_key; /* NULL: none; else the change must name its actor */
    const char *arguments_digest;
};

/* Creates job (kind "sweep"), sweep, runs, cells and place in line at once, with the audit row and
 * the idempotency row. A key that was used before with the same arguments returns the first sweep
 * and starts nothing; with others: CONFLICT. A run is made for each repetition of a subject that
 * the cells name; there must be `repetitions` of each. BUSY: the principal already has
 * `active_limit` sweeps queued or running. */
CHECKED bool sweep_create(struct store *store, const struct sweep_order *order, int64_t now_ms,
                          struct change *change, struct sweep_row *out, struct error *error);
/* A new job for the cells that are still pending (of a stopped, cancelled or failed sweep).
 * CONFLICT if it is running or nothing is pending; BUSY as above. With `retry_failed`, failed and
 * skipped cells of unfinished runs become pending again, together with the cells inferred from
 * them; their measurements are kept as rejected attempts. */
CHECKED bool sweep_reopen(struct store *store, const char *id, bool retry_failed,
                          int64_t active_limit, int64_t now_ms, struct change *change,
                          struct sweep_row *out, struct error *error);
CHECKED bool sweep_find(struct store *store, const char *id, struct sweep_row *out,
                        struct error *error);
/* Newest first; deployment NULL: all; before_ms 0: from the newest. Free each with
 * sweep_row_finish, then the array. */
CHECKED bool sweep_list(struct store *store, const char *deployment, int64_t before_ms,
                        size_t limit, struct sweep_row **out, size_t *count, struct error *error);
/* The oldest that is planned, queued or running on a deployment of this name, as its own or as the
 * candidate; "": none. */
CHECKED bool sweep_find_active(struct store *store, const char *deployment, char id[ID_SIZE],
                               struct error *error);
/* Cells in order of measurement, with their accepted measurement (run_id NULL: all runs of the
 * sweep). */
CHECKED bool cell_list(struct store *store, const char *sweep_id, const char *run_id,
                       struct cell_row **out, size_t *count, struct error *error);
CHECKED bool cell_attempt_list(struct store *store, const char *sweep_id, const char *state,
                               struct attempt_row **out, size_t *count,
                               struct error *error); /* state NULL: all; free(*out) */
CHECKED bool run_find(struct store *store, const char *id, struct run_row *out,
                      struct error *error);
CHECKED bool run_list(struct store *store, const char *deployment, const char *sweep_id,
                      int64_t before_ms, size_t limit, struct run_row **out, size_t *count,
                      struct error *error);

/* For the job's holder; CONFLICT if the claim is stale. The sweep ends with the job
 * (job_finish). */
CHECKED bool sweep_begin(struct store *store, const struct claim *claim, const char *sweep_id,
                         int64_t now_ms, struct error *error);
/* Stores how prompts are made for one of its deployments. */
CHECKED bool sweep_workload_keep(struct store *store, const struct claim *claim,
                                 const char *sweep_id, int64_t deployment_id,
                                 const char *workload_json, struct error *error);
/* Sets it for the sweep's runs on this deployment that have none. */
CHECKED bool run_fingerprint_set(struct store *store, const struct claim *claim,
                                 const char *sweep_id, int64_t deployment_id,
                                 const char *fingerprint_json, struct error *error);
CHECKED bool attempt_begin(struct store *store, const struct claim *claim, int64_t cell_id,
                           int64_t now_ms, int64_t *attempt_id, struct error *error);
/* Stores a whole cell: measurement, histograms, records, the cell's state, in one transaction.
 * Anything but PENDING ends the cell; PENDING rejects the attempt and keeps the cell to be
 * measured. CONFLICT if the attempt does not run under this claim, or the cell is not pending: none
 * is measured twice. */
CHECKED bool attempt_accept(struct store *store, const struct claim *claim, int64_t attempt_id,
                            const struct cell_result *result, int64_t now_ms, struct error *error);
CHECKED bool attempt_interrupt(struct store *store, const struct claim *claim, int64_t attempt_id,
                               const char *reason, int64_t now_ms, struct error *error);
CHECKED bool sweep_skip_cells(struct store *store, const struct claim *claim, const char *sweep_id,
                              const char *reason, int64_t now_ms,
                              struct error *error); /* every pending cell */
/* Cells that an adaptive sweep need not measure, and why; all in one transaction. Cells that are no
 * longer pending stay as they are. */
struct cell_inference {
    int64_t cell_id;
    char reason[256];
};
CHECKED bool sweep_infer_cells(struct store *store, const struct claim *claim, const char *sweep_id,
                               const struct cell_inference *inferences, size_t count,
                               int64_t now_ms, struct error *error);
CHECKED bool cell_histogram_find(struct store *store, int64_t attempt_id, enum metric metric,
                                 struct histogram **out, struct error *error);
/* The raw records as stored (compressed); NOT_FOUND after retention. *out is heap memory. */
CHECKED bool cell_records_find(struct store *store, int64_t attempt_id, void **out, size_t *length,
                               int64_t *requests, struct error *error);
