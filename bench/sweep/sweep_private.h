/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep while its job runs. Private to sweep.c, which begins and ends it, sweep_cells.c, which
 * measures its cells one by one, sweep_search.c, which chooses them, and sweep_progress.c, which
 * tells how far it is */
#pragma once

#include "base/net/outbound.h"
#include "bench/load/connection_reuse.h"
#include "bench/sweep/sweep.h"
#include "bench/workload/dataset.h"
#include "bench/workload/workload.h"
#include "store/ledger/sweeps.h"

/* One of the deployments that the sweep alternates between. */
struct subject {
    struct deployment deployment;
    struct endpoint endpoint;
    char server[ENDPOINT_NAME_SIZE];
    struct model_facts facts;
    struct workload workload;
    struct connection_reuse reuse;
    int failed_in_a_row;
    char served[256]; /* the model, as the server monitor first reported it; "": not yet */
};

/* One run of the job, from its claim to its end. */
struct sweep_work {
    const struct sweep_job *sweep;
    struct job_run *run;
    struct sweep_row row;
    struct plan plan;
    struct dataset dataset; /* the plan's dataset; without rows if it has none */
    struct subject subjects[SWEEP_SUBJECTS_MAX];
    size_t subject_count;
    struct cell_row *cells;
    size_t count, done; /* cells, and those no longer pending */
    struct ceiling ceiling;
    int64_t begun_ns;
    double cells_s; /* time that the cells of this run took, */
    int64_t cells_run;
    struct cell_row *current;
    int64_t message_ns;
    char message[256];
    int rejected;   /* attempts at the current cell rejected by the server monitor */
    char lost[160]; /* why the current cell's attempt failed, if it is to be repeated; "": it is not
                     */
    char stopped[320];    /* why the sweep stops early; "": it does not */
    bool cannot_continue; /* for a reason other than its time limit */
};

/* Measures all pending cells, until the job should stop or `stopped` says why not to continue.
 * False if an attempt could not be stored, or could not begin. */
CHECKED bool sweep_cells_run(struct sweep_work *work, struct error *error);
/* The cell to measure next; NULL if none is left. Marks those that an adaptive search need not
 * measure. False if that could not be stored. */
CHECKED bool sweep_search_next(struct sweep_work *work, struct cell_row **next,
                               struct error *error);
/* Whether an attempt at the current cell looks as if the load were too high, in a search that would
 * infer other levels from it, although the server may only have had a temporary problem. */
bool sweep_search_doubts(const struct sweep_work *work, const struct cell_result *result);
/* Shows, as the job's progress, what the current cell is doing, which began so long ago. */
void sweep_progress_report(struct sweep_work *work, const char *doing, double elapsed_s);
/* Adds "; 40 s left", for a current cell that began so long ago; nothing if that is not known. */
void sweep_progress_time_left(const struct sweep_work *work, double elapsed_s, struct text *out);
/* The endpoint as it is now: tokens expire, so each cell asks again. */
CHECKED bool sweep_resolve(struct sweep_work *work, struct subject *subject, struct error *error);
/* Whether the job should stop. `context` is the struct sweep_work. */
bool sweep_is_stopped(void *context);
/* Called if the store refuses a write (for example on a full disk): waits a moment. False if the
 * claim is lost, or the job should stop. */
bool sweep_wait_for_store(struct sweep_work *work, const struct error *error);
double sweep_elapsed_s(const struct sweep_work *work); /* seconds since the job got its endpoint */
