/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a sweep while its job is running. Private to bench/sweep/: sweep.c begins and ends
 * the sweep, sweep_search.c chooses its cells, sweep_cells.c measures them one by one, and
 * sweep_progress.c reports the progress. */
#pragma once

#include "base/net/outbound.h"
#include "bench/load/connection_reuse.h"
#include "bench/sweep/sweep.h"
#include "bench/workload/dataset.h"
#include "bench/workload/workload.h"
#include "store/ledger/sweeps.h"

/* One of the deployments that the sweep measures; if there are two, the sweep alternates between
 * them. */
struct subject {
    struct deployment deployment;
    struct endpoint endpoint;
    char server[ENDPOINT_NAME_SIZE]; /* host and port of the deployment's address */
    struct model_facts facts;
    struct workload workload;
    struct connection_reuse reuse;
    int failed_in_a_row; /* how many cells have failed since the last one that did not */
    char served[256];    /* the model that the server monitor reported first; "": none yet */
};

/* One run of the job, from its claim to its end. */
struct sweep_work {
    const struct sweep_job *sweep;
    struct job_run *run;
    struct sweep_row row;
    struct plan plan;
    struct dataset dataset; /* the plan's dataset; without rows if the plan has none */
    struct subject subjects[SWEEP_SUBJECTS_MAX];
    size_t subject_count;
    struct cell_row *cells;
    size_t count; /* number of cells */
    size_t done;  /* number of cells that are no longer pending */
    struct ceiling ceiling;
    /* Monotonic time at which the servers had answered; until then, at which this run began. */
    int64_t begun_ns;
    int64_t cells_run;        /* number of cells that this run of the job measured */
    double cells_s;           /* how many seconds those cells took together */
    struct cell_row *current; /* the cell that is being measured */
    char message[256];        /* the latest progress, without the time left */
    int64_t message_ns;       /* monotonic; when `message` was reported */
    /* How many attempts at the current cell attempt_outcome.c has rejected in this run. */
    int rejected;
    /* How the last attempt at the current cell failed, if the cell is measured again because of
     * sweep_search_doubts; else "". */
    char lost[160];
    /* Why the sweep itself ends early; "" if it does not. For a cancellation or a shutdown, see
     * job_run_stop. */
    char stopped[320];
    /* True: the job ends as failed, because too many cells in a row failed or the model changed. */
    bool ends_failed;
};

/* Measures or infers all pending cells, until the job should stop or work->stopped is set. Returns
 * false if an attempt could not be made, or if something could not be stored. */
CHECKED bool sweep_cells_run(struct sweep_work *work, struct error *error);
/* Sets *next to the cell to measure next, or to NULL if none is left. Marks as inferred the cells
 * that an adaptive search does not need to measure, and returns false if that could not be
 * stored. */
CHECKED bool sweep_search_next(struct sweep_work *work, struct cell_row **next,
                               struct error *error);
/* Whether an attempt at the current cell should be repeated: a search would conclude from it that
 * the load is too high, although the server may only have had a temporary problem. */
bool sweep_search_doubts(const struct sweep_work *work, const struct cell_result *result);
/* Reports, as the job's progress, what the current attempt is doing. elapsed_s is the number of
 * seconds since the attempt began to send requests; 0 while the server monitor waits. The same text
 * is reported at most once a second. */
void sweep_progress_report(struct sweep_work *work, const char *doing, double elapsed_s);
/* Appends an estimate of the sweep's remaining time, such as "; 40 s left". elapsed_s is the same
 * as in sweep_progress_report. Appends nothing until this run of the job has measured a cell, or if
 * less than half a second is left. */
void sweep_progress_time_left(const struct sweep_work *work, double elapsed_s, struct text *out);
/* Updates subject->endpoint. Must be called before each attempt, because credentials expire. */
CHECKED bool sweep_resolve(struct sweep_work *work, struct subject *subject, struct error *error);
/* Whether the job should stop. `context` is the struct sweep_work. */
bool sweep_is_stopped(void *context);
/* Must be called after a write to the store has failed (for example because the disk is full):
 * waits a moment, and returns true if the caller should repeat the write. Returns false if the job
 * should stop, or if the error is CONFLICT: then a repetition would not help (usually the claim is
 * lost). */
bool sweep_wait_for_store(struct sweep_work *work, const struct error *error);
/* Seconds since the servers answered; before that, since this run of the job began. */
double sweep_elapsed_s(const struct sweep_work *work);
