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
    char *workload; /* how prompts are made; JSON, heap; "{}": not determined yet */
};

struct sweep_row {
    char id[ID_SIZE];
    /* One subject, or two: the baseline and the candidate, which take turns cell by cell. */
    struct sweep_subject subjects[SWEEP_SUBJECTS_MAX];
    size_t subject_count;
    int64_t deployment_id, revision; /* of the first subject */
    char deployment[64];             /* name of the first subject */
    char job_id[ID_SIZE];
    char *plan; /* JSON, heap */
    char plan_digest[65];
    char state[16], reason[256];
    char principal[64];
    int64_t created_ms, started_ms, finished_ms;
    int64_t cells_total, cells_inferred;
    int64_t cells_done; /* the number of cells that are not pending */
    int64_t repetitions;
};
void sweep_row_finish(struct sweep_row *row);

struct cell_row {
    int64_t id;
    char run_id[ID_SIZE];
    int64_t deployment_id;        /* the deployment that the cell's run measures */
    char deployment[64];          /* that deployment's name */
    int64_t repetition, position; /* both counted from 0 */
    int64_t concurrency, input_tokens, output_tokens;
    double request_rate; /* per second; 0: a closed loop of `concurrency` users */
    enum cell_state state;
    char reason[256];
    int64_t attempt_id; /* the accepted attempt; 0: none */
    int64_t attempts;   /* the number of attempts so far */
    int64_t finished_ms;
    char workload_digest[65];
    struct measurement measurement; /* of the accepted attempt; all 0: nothing was measured */
    char *witness; /* the server monitor's check of that attempt; JSON, heap; NULL: none */
};
#define CELL_LOAD_SIZE 40
/* Writes the load of a cell, such as "64 users", "1 user" or "2.5 requests/s"; returns `out`. */
const char *cell_load_text(int64_t users, double request_rate, char out[CELL_LOAD_SIZE]);
void cell_rows_free(struct cell_row *rows, size_t count);

struct attempt_row {
    int64_t id, cell_id, number, started_ms, finished_ms;
    int64_t fence; /* of the claim under which the attempt began (jobs.h) */
    char state[16], reason[256], job_id[ID_SIZE], run_id[ID_SIZE], deployment[64];
    int64_t concurrency, input_tokens, output_tokens, repetition;
    double request_rate;
};

struct run_row {
    char id[ID_SIZE], sweep_id[ID_SIZE];
    int64_t repetition;
    char deployment[64];
    int64_t deployment_id, revision;
    char fingerprint[65];   /* digest; "" until run_fingerprint_set sets it */
    char corrects[ID_SIZE]; /* the earlier run that this run corrects; "" if none */
    /* The newest finished run that corrects this run and measured something; "" if none. */
    char corrected_by[ID_SIZE];
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

/* The new run of this subject and repetition corrects the earlier run `run_id`. */
struct correction {
    size_t subject; /* as in cell_plan */
    int64_t repetition;
    char run_id[ID_SIZE];
};

struct sweep_order {
    const struct deployment *deployment;
    const struct deployment *candidate; /* measured alternately with `deployment`; NULL: none */
    const struct correction *corrections;
    size_t correction_count; /* 0: the sweep corrects nothing */
    const char *plan_json, *plan_digest, *provenance_json;
    const struct cell_plan *cells;
    size_t cell_count;
    int64_t repetitions;
    int64_t active_limit; /* maximum of the principal's queued and running sweeps; 0: no limit */
    /* NULL: none. A key that another principal or tool has used counts as a different key. */
    const char *idempotency_key;
    const char *arguments_digest;
};

/* Creates the job (kind "sweep"), the sweep, its runs and cells, its place in line, the audit row
 * and the idempotency row, in one transaction. If the key was used before with the same arguments,
 * *out is the sweep that was created then, and nothing is started. CONFLICT: the key was used with
 * other arguments. Each subject must have cells in exactly `repetitions` repetitions. One run is
 * created for each subject and repetition. BUSY: the principal already has `active_limit` sweeps
 * queued or running. Free *out with sweep_row_finish. */
CHECKED bool sweep_create(struct store *store, const struct sweep_order *order, int64_t now_ms,
                          struct change *change, struct sweep_row *out, struct error *error);
/* Queues a new job for the pending cells of a sweep whose job has ended. With `retry_failed`,
 * failed and skipped cells of unfinished runs first become pending again, together with the
 * inferred cells of the same run and token counts; what was measured for the failed cells is kept
 * as rejected attempts. CONFLICT: the sweep's job has not ended, or no cell is pending. BUSY: as
 * for sweep_create. */
CHECKED bool sweep_reopen(struct store *store, const char *id, bool retry_failed,
                          int64_t active_limit, int64_t now_ms, struct change *change,
                          struct sweep_row *out, struct error *error);
/* NOT_FOUND: the message names the id. Free *out with sweep_row_finish. */
CHECKED bool sweep_find(struct store *store, const char *id, struct sweep_row *out,
                        struct error *error);
/* Lists the sweeps that measure a deployment of this name (NULL: all sweeps) and were created
 * before before_ms (0: at any time), newest first. Free each sweep with sweep_row_finish, then the
 * array. */
CHECKED bool sweep_list(struct store *store, const char *deployment, int64_t before_ms,
                        size_t limit, struct sweep_row **out, size_t *count, struct error *error);
/* Finds the oldest sweep that is planned or running and measures a deployment of this name. Sets
 * `id` to "" if there is none. */
CHECKED bool sweep_find_active(struct store *store, const char *deployment, char id[ID_SIZE],
                               struct error *error);
/* Lists cells in the order of the plan, each with the measurement of its accepted attempt; run_id
 * NULL: the cells of all runs of the sweep. Free with cell_rows_free. */
CHECKED bool cell_list(struct store *store, const char *sweep_id, const char *run_id,
                       struct cell_row **out, size_t *count, struct error *error);
/* Lists the attempts at a sweep's cells; state NULL: attempts in any state. free(*out). */
CHECKED bool cell_attempt_list(struct store *store, const char *sweep_id, const char *state,
                               struct attempt_row **out, size_t *count, struct error *error);
/* NOT_FOUND: the message names the id. Free *out with run_row_finish. */
CHECKED bool run_find(struct store *store, const char *id, struct run_row *out,
                      struct error *error);
/* Lists the runs of this deployment and this sweep (NULL: any) that were created before before_ms
 * (0: at any time): the newest sweep first, its runs in order of repetition. Free with
 * run_rows_free. */
CHECKED bool run_list(struct store *store, const char *deployment, const char *sweep_id,
                      int64_t before_ms, size_t limit, struct run_row **out, size_t *count,
                      struct error *error);

/* From here on, the functions that take a claim (jobs.h) are for the job's owner. Each of them
 * fails with CONFLICT if the claim is stale. A sweep ends with its job (job_finish). */

/* Marks the sweep as running. Also CONFLICT: the job does not work on the sweep, or the sweep has
 * ended. */
CHECKED bool sweep_begin(struct store *store, const struct claim *claim, const char *sweep_id,
                         int64_t now_ms, struct error *error);
/* Stores how prompts are made for one of the sweep's deployments. Also CONFLICT: the job does not
 * work on the sweep. */
CHECKED bool sweep_workload_keep(struct store *store, const struct claim *claim,
                                 const char *sweep_id, int64_t deployment_id,
                                 const char *workload_json, struct error *error);
/* Sets the fingerprint of the sweep's runs on this deployment that have none yet. */
CHECKED bool run_fingerprint_set(struct store *store, const struct claim *claim,
                                 const char *sweep_id, int64_t deployment_id,
                                 const char *fingerprint_json, struct error *error);
/* Begins an attempt at a cell. Also CONFLICT: the cell does not belong to the job's sweep, is not
 * pending, or is already being measured. */
CHECKED bool attempt_begin(struct store *store, const struct claim *claim, int64_t cell_id,
                           int64_t now_ms, int64_t *attempt_id, struct error *error);
/* Stores a cell's result in one transaction: measurement, histograms, records, series and the
 * cell's state. If that state is CELL_PENDING, the attempt is rejected and the cell stays pending.
 * Also CONFLICT: the attempt is not running under this claim, or the cell already has a result. */
CHECKED bool attempt_end(struct store *store, const struct claim *claim, int64_t attempt_id,
                         const struct cell_result *result, int64_t now_ms, struct error *error);
/* Ends an attempt without a result; the cell stays pending. Also CONFLICT: as for attempt_end. */
CHECKED bool attempt_interrupt(struct store *store, const struct claim *claim, int64_t attempt_id,
                               const char *reason, int64_t now_ms, struct error *error);
/* Marks every pending cell as skipped. */
CHECKED bool sweep_skip_cells(struct store *store, const struct claim *claim, const char *sweep_id,
                              const char *reason, int64_t now_ms, struct error *error);
/* A cell that an adaptive sweep does not need to measure, and why. */
struct cell_inference {
    int64_t cell_id;
    char reason[256];
};
/* Stores inferences in one transaction. Cells that are not pending stay as they are. */
CHECKED bool sweep_infer_cells(struct store *store, const struct claim *claim, const char *sweep_id,
                               const struct cell_inference *inferences, size_t count,
                               int64_t now_ms, struct error *error);
/* NOT_FOUND: the attempt has no histogram of this metric. Free with histogram_destroy. */
CHECKED bool cell_histogram_find(struct store *store, int64_t attempt_id, enum metric metric,
                                 struct histogram **out, struct error *error);
/* Reads the compressed raw records of an attempt; *requests: the number of requests in them. *out
 * is heap memory. NOT_FOUND: the records were deleted when their retention ended, or were never
 * written. */
CHECKED bool cell_records_find(struct store *store, int64_t attempt_id, void **out, size_t *length,
                               int64_t *requests, struct error *error);
