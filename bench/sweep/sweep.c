/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/sweep_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "bench/plan/plan_workload.h"
#include "bench/sweep/fingerprint.h"
#include "bench/workload/prompt_calibration.h"

#define STORE_RETRY_MS 1000
#define SERVER_RETRY_MS 1000
#define RUNS_CHECKED 100 /* a sweep has at most 20 runs of a deployment, one per repetition */

/* ---- Stopping, and the store ----------------------------------------------------------------- */

double sweep_elapsed_s(const struct sweep_work *work)
{
    return (double)(clock_monotonic_ns() - work->begun_ns) / 1e9;
}

bool sweep_is_stopped(void *context)
{
    const struct sweep_work *work = context;

    return job_run_stop(work->run) != JOB_STOP_NO;
}

bool sweep_wait_for_store(struct sweep_work *work, const struct error *error)
{
    if (error->kind == ERROR_CONFLICT)
        return false;
    job_run_waits_for_store(work->run, error);
    return job_run_wait(work->run, STORE_RETRY_MS) == JOB_STOP_NO;
}

/* ---- Before the first cell ------------------------------------------------------------------- */

static CHECKED bool read_plan(struct sweep_work *work, struct error *error)
{
    json_auto_t *json = NULL;

    return json_parse(work->row.plan, strlen(work->row.plan), &json, error)
           && plan_read(json, &work->plan, error);
}

static CHECKED bool find_subjects(struct sweep_work *work, struct error *error)
{
    work->subject_count = work->row.subject_count;
    for (size_t i = 0; i < work->subject_count; i++)
        if (!deployment_find_revision(work->run->store, work->row.subjects[i].deployment_id,
                                      work->row.subjects[i].revision, &work->subjects[i].deployment,
                                      error))
            return false;
    return true;
}

static CHECKED bool load_dataset(struct sweep_work *work, struct error *error)
{
    struct dataset_entry entry;
    FREE_AUTO void *packed = NULL;
    size_t length;
    bool same;

    if (work->plan.dataset[0] == '\0')
        return true;
    if (!dataset_entry_find(work->run->store, work->plan.dataset, &entry, &packed, &length, error))
        return false;
    same = strcmp(entry.digest, work->plan.dataset_digest) == 0;
    dataset_entry_finish(&entry);
    if (!same)
        return error_set(error, ERROR_CONFLICT,
                         "the dataset '%s' has changed since the sweep was planned: start a new "
                         "sweep",
                         work->plan.dataset);
    return dataset_unpack(packed, length, &work->dataset, error);
}

static CHECKED bool load_cells(struct sweep_work *work, struct error *error)
{
    struct store *store = work->run->store;

    if (!sweep_find(store, work->run->job.subject, &work->row, error)
        || !cell_list(store, work->row.id, NULL, &work->cells, &work->count, error))
        return false;
    for (size_t i = 0; i < work->count; i++)
        work->done += work->cells[i].state != CELL_PENDING;
    return true;
}

bool sweep_resolve(struct sweep_work *work, struct subject *subject, struct error *error)
{
    const struct sweep_host *host = work->sweep->host;
    struct endpoint *endpoint = &subject->endpoint;

    if (!host->resolve(host->context, &subject->deployment, endpoint, error))
        return false;
    if (endpoint->model[0] == '\0')
        text_copy(endpoint->model, sizeof endpoint->model, subject->facts.model);
    return true;
}

static CHECKED bool find_servers(struct sweep_work *work, struct error *error)
{
    for (size_t i = 0; i < work->subject_count; i++) {
        struct subject *subject = &work->subjects[i];

        if (!sweep_resolve(work, subject, error)
            || !endpoint_lease_name(subject->endpoint.url, subject->server, error))
            return false;
    }
    return true;
}

static CHECKED bool discover(struct sweep_work *work, struct subject *subject, struct error *error)
{
    const struct sweep_host *host = work->sweep->host;
    struct model_facts *facts = &subject->facts;

    job_run_progress(work->run, (double)work->done, (double)work->count,
                     "querying the server about its model");
    if (!host->discover(host->context, &subject->deployment, &subject->endpoint, facts, error)
        || !sweep_resolve(work, subject, error))
        return false;
    facts->observed_ms = clock_utc_ms();
    return model_facts_note(work->run->store, facts, error);
}

/* Whether to keep waiting for a server that does not answer. Only a job that was claimed before
 * waits: after a reboot, a model server often starts later than opsbrain. */
static bool may_come_back(const struct sweep_work *work, const struct error *error,
                          int64_t until_ns)
{
    return work->run->claim.fence > 1 && clock_monotonic_ns() < until_ns
           && (error->kind == ERROR_UPSTREAM || error->kind == ERROR_TIMEOUT);
}

static CHECKED bool await_server(struct sweep_work *work, struct subject *subject,
                                 struct error *error)
{
    int64_t until_ns = clock_monotonic_ns() + work->sweep->server_patience_ms * 1000000;

    while (!discover(work, subject, error)) {
        TEXT_AUTO message = { 0 };

        if (!may_come_back(work, error, until_ns))
            return false;
        text_addf(&message, "waiting for the server: %s", error->message);
        job_run_progress(work->run, (double)work->done, (double)work->count, message.data);
        if (job_run_wait(work->run, SERVER_RETRY_MS) != JOB_STOP_NO)
            return false;
    }
    return true;
}

static CHECKED bool await_servers(struct sweep_work *work, struct error *error)
{
    for (size_t i = 0; i < work->subject_count; i++)
        if (!await_server(work, &work->subjects[i], error))
            return false;
    return true;
}

/* A resumed sweep continues only with the model and the engine that it began with. Otherwise its
 * runs would mix the results of different models or engines. */
static CHECKED bool check_unchanged(struct sweep_work *work, const struct subject *subject,
                                    struct error *error)
{
    struct run_row *runs;
    size_t count;
    bool same = true;

    if (!run_list(work->run->store, subject->deployment.name, work->row.id, 0, RUNS_CHECKED, &runs,
                  &count, error))
        return false;
    for (size_t i = 0; i < count && same; i++)
        if (runs[i].fingerprint_document != NULL)
            same = fingerprint_agrees(runs[i].fingerprint_document, &subject->facts, error);
    run_rows_free(runs, count);
    return same;
}

/* Sets subject->workload, which says how to make prompts for this server. A resumed sweep goes on
 * with the workload that was stored when it began. If none is stored for the plan's API, sends
 * requests to the server to find one. */
static CHECKED bool find_workload(struct sweep_work *work, struct subject *subject,
                                  const char *stored, struct error *error)
{
    const struct asker asker = {
        .endpoint = &subject->endpoint,
        .stopped = sweep_is_stopped,
        .context = work,
        .silence_limit_ms =
            (int64_t)(fmax(work->plan.ttft_timeout_s, work->plan.idle_timeout_s) * 1e3),
    };
    TEXT_AUTO sampling = { 0 };
    json_auto_t *json = NULL;
    struct error ignored;

    if (json_parse(stored, strlen(stored), &json, &ignored)
        && workload_from_json(json, &subject->workload, &ignored)
        && subject->workload.api == work->plan.api) {
        workload_apply_plan(&subject->workload, &work->plan);
        return true;
    }
    job_run_progress(work->run, (double)work->done, (double)work->count,
                     "finding out how to make prompts for this server");
    if (work->plan.temperature > 0)
        plan_sampling(&work->plan, &sampling);
    return prompt_calibration_workload(&asker, work->plan.api, text_string(&sampling),
                                       &subject->workload, error)
           && prompt_calibration_sampling(&asker, &work->plan, &subject->workload, error);
}

static json_t *ask_platform(const struct sweep_work *work, const struct subject *subject)
{
    const struct sweep_host *host = work->sweep->host;

    return host->platform == NULL ? NULL : host->platform(host->context, &subject->deployment);
}

static CHECKED bool store_workload(struct sweep_work *work, const struct subject *subject,
                                   struct error *error)
{
    json_auto_t *json = workload_to_json(&subject->workload);
    json_auto_t *platform = ask_platform(work, subject);
    FREE_AUTO char *written = json_write(json);
    FREE_AUTO char *fingerprint = fingerprint_write(&subject->deployment, &subject->facts,
                                                    &subject->workload, &work->plan, platform);
    struct job_run *run = work->run;
    int64_t id = subject->deployment.id;

    return sweep_workload_keep(run->store, &run->claim, work->row.id, id, written, error)
           && run_fingerprint_set(run->store, &run->claim, work->row.id, id, fingerprint, error);
}

static CHECKED bool prepare_subject(struct sweep_work *work, size_t which, struct error *error)
{
    struct subject *subject = &work->subjects[which];

    return check_unchanged(work, subject, error)
           && find_workload(work, subject, work->row.subjects[which].workload, error)
           && store_workload(work, subject, error);
}

/* Gets the ceiling: how fast this machine can read. If it cannot be measured, the sweep runs
 * without a ceiling: the lag and CPU time of the cells still show whether the client was the
 * bottleneck. */
static CHECKED bool calibrate(struct sweep_work *work, struct error *error)
{
    struct calibration *calibration = work->sweep->calibration;

    if (calibration == NULL)
        return true;
    job_run_progress(work->run, (double)work->done, (double)work->count,
                     "measuring how much this machine can read");
    if (calibration_get(calibration, sweep_is_stopped, work, &work->ceiling, error))
        return true;
    if (error->kind != ERROR_CANCELLED)
        log_warning("%s", error->message);
    return error->kind != ERROR_CANCELLED;
}

static CHECKED bool prepare(struct sweep_work *work, struct error *error)
{
    struct job_run *run = work->run;

    if (!read_plan(work, error) || !load_dataset(work, error) || !find_subjects(work, error)
        || !find_servers(work, error) || !await_servers(work, error))
        return false;
    work->begun_ns = clock_monotonic_ns();
    if (!calibrate(work, error))
        return false;
    for (size_t i = 0; i < work->subject_count; i++)
        if (!prepare_subject(work, i, error))
            return false;
    return sweep_begin(run->store, &run->claim, work->row.id, clock_utc_ms(), error);
}

/* If the process was killed after the last cell, only the sweep's end has to be stored, and no
 * server is needed for that. */
static CHECKED bool measure_pending(struct sweep_work *work, struct error *error)
{
    return load_cells(work, error)
           && (work->done == work->count || (prepare(work, error) && sweep_cells_run(work, error)));
}

/* ---- The end --------------------------------------------------------------------------------- */

static char *write_outcome(const struct sweep_work *work, const char *state, const char *reason)
{
    json_auto_t *outcome = json_pack("{s:s, s:s}", "sweep", work->row.id, "state", state);

    for (enum cell_state counted = CELL_PENDING; counted < CELL_STATES; counted++) {
        json_int_t count = 0;

        for (size_t i = 0; i < work->count; i++)
            count += work->cells[i].state == counted;
        json_object_set_new(outcome, cell_state_name(counted), json_integer(count));
    }
    json_object_set_new(outcome, "seconds", json_real(round(sweep_elapsed_s(work))));
    if (reason[0] != '\0')
        json_object_set_new(outcome, "reason", json_string(reason));
    return json_write(outcome);
}

/* If no cell was measured, returns the first failed cell's reason. Returns NULL if a cell was
 * measured, or if none failed. */
static const char *why_all_failed(const struct sweep_work *work)
{
    const char *reason = NULL;

    for (size_t i = 0; i < work->count; i++) {
        if (work->cells[i].state == CELL_MEASURED)
            return NULL;
        if (reason == NULL && work->cells[i].state == CELL_FAILED)
            reason = work->cells[i].reason;
    }
    return reason;
}

static void set_end(struct job_run *run, const char *state, const char *reason)
{
    text_copy(run->sweep_state, sizeof run->sweep_state, state);
    text_copy(run->sweep_reason, sizeof run->sweep_reason, reason);
}

static CHECKED enum job_end end_sweep(struct sweep_work *work, enum job_end end, const char *state,
                                      const char *reason, char **outcome, struct error *error)
{
    char message[64];

    snprintf(message, sizeof message, "%zu of %zu cells done", work->done, work->count);
    job_run_progress(work->run, (double)work->done, (double)work->count, message);
    set_end(work->run, state, reason);
    if (end == JOB_END_FAILED)
        error_set(error, ERROR_UPSTREAM, "%s", reason);
    else
        *outcome = write_outcome(work, state, reason);
    return end;
}

static CHECKED enum job_end end_of_cells(struct sweep_work *work, char **outcome,
                                         struct error *error)
{
    const char *failed = why_all_failed(work);

    if (work->ends_failed)
        return end_sweep(work, JOB_END_FAILED, "stopped", work->stopped, outcome, error);
    if (work->stopped[0] != '\0')
        return end_sweep(work, JOB_END_COMPLETED, "stopped", work->stopped, outcome, error);
    if (failed != NULL)
        return end_sweep(work, JOB_END_FAILED, "failed", failed, outcome, error);
    return end_sweep(work, JOB_END_COMPLETED, "completed", "", outcome, error);
}

static CHECKED enum job_end finish(struct sweep_work *work, bool succeeded, char **outcome,
                                   struct error *error)
{
    enum job_stop stop = job_run_stop(work->run);

    if (succeeded && work->done == work->count && stop != JOB_STOP_LOST)
        return end_of_cells(work, outcome, error);
    switch (stop) {
    case JOB_STOP_CANCEL:
        return end_sweep(work, JOB_END_CANCELLED, "cancelled", "cancelled", outcome, error);
    case JOB_STOP_YIELD:
    case JOB_STOP_LOST:
        return JOB_END_YIELDED;
    case JOB_STOP_NO:
        break;
    }
    if (succeeded)
        return end_of_cells(work, outcome, error);
    set_end(work->run, "failed", error->message); /* both the sweep and the job state the reason */
    return JOB_END_FAILED;
}

enum job_end sweep_job_run(const struct sweep_job *sweep, struct job_run *run, char **outcome_json,
                           struct error *error)
{
    struct sweep_work *work = memory_zeroed(1, sizeof *work);
    enum job_end end;
    bool succeeded;

    work->sweep = sweep;
    work->run = run;
    work->begun_ns = clock_monotonic_ns();
    succeeded = measure_pending(work, error);
    end = finish(work, succeeded, outcome_json, error);
    cell_rows_free(work->cells, work->count);
    sweep_row_finish(&work->row);
    dataset_finish(&work->dataset);
    explicit_bzero(work, sizeof *work);
    free(work);
    return end;
}
