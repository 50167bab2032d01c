/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/sweeps/corrections.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/answers/sweep_answer.h"

#define RUNS_MAX 64 /* more than sweep_plan allows in one sweep */

/* What is corrected: a sweep, or one of its runs. */
struct earlier {
    struct sweep_row sweep;
    struct run_row *runs; /* the runs that are corrected */
    size_t run_count;
};

static void earlier_finish(struct earlier *earlier)
{
    sweep_row_finish(&earlier->sweep);
    run_rows_free(earlier->runs, earlier->run_count);
}

/* Drops all of the sweep's runs except the one with this id. */
static void keep_run(struct earlier *earlier, const char *id)
{
    struct run_row kept = { 0 };

    for (size_t i = 0; i < earlier->run_count; i++) {
        struct run_row *row = &earlier->runs[i];

        if (strcmp(row->id, id) == 0) {
            kept = *row;
            row->fingerprint_document = row->provenance = NULL;
        }
        run_row_finish(row);
    }
    earlier->runs[0] = kept;
    earlier->run_count = 1;
}

/* Copies `id` if it is a sweep's id, otherwise the id of the sweep to which the run belongs. */
static CHECKED bool sweep_of(struct store *store, const char *id, char out[ID_SIZE],
                             struct error *error)
{
    struct run_row row;

    if (strncmp(id, "run_", 4) != 0) {
        text_copy(out, ID_SIZE, id);
        return true;
    }
    if (!run_find(store, id, &row, error))
        return false;
    text_copy(out, ID_SIZE, row.sweep_id);
    run_row_finish(&row);
    return true;
}

static CHECKED bool earlier_read(struct store *store, const char *id, struct earlier *out,
                                 struct error *error)
{
    char sweep[ID_SIZE];

    if (!sweep_of(store, id, sweep, error) || !sweep_find(store, sweep, &out->sweep, error)
        || !run_list(store, NULL, sweep, 0, RUNS_MAX, &out->runs, &out->run_count, error))
        return false;
    if (strcmp(id, sweep) != 0)
        keep_run(out, id);
    return true;
}

/* ---- Whether the request is allowed to correct these runs ---- */

/* *out: 0 for the request's deployment, 1 for its candidate. Returns false if the deployment is
 * neither. */
static bool find_subject(const struct sweep_request *request, int64_t deployment_id, size_t *out)
{
    *out = deployment_id == request->deployment.id ? 0 : 1;
    return *out == 0 || (request->subjects > 1 && deployment_id == request->candidate.id);
}

static CHECKED bool check_deployments(const char *id, const struct earlier *earlier,
                                      const struct sweep_request *request, struct error *error)
{
    bool is_pair = strcmp(id, earlier->sweep.id) == 0 && earlier->sweep.subject_count > 1;
    size_t subject, found = 0; /* found: bit n is set if a run measured subject n */
    bool same = true;

    for (size_t i = 0; same && i < earlier->run_count; i++) {
        same = find_subject(request, earlier->runs[i].deployment_id, &subject);
        found |= (size_t)1 << subject;
    }
    if (same && found == ((size_t)1 << request->subjects) - 1)
        return true;
    return error_set(
        error, ERROR_INVALID,
        "\"corrects\": %s was measured on %s%s%s, not on the deployments of this call: a "
        "correction must have the same deployments",
        id, is_pair ? earlier->sweep.deployment : earlier->runs[0].deployment,
        is_pair ? " and " : "", is_pair ? sweep_answer_candidate(&earlier->sweep) : "");
}

static CHECKED bool check_cells(const char *id, const struct earlier *earlier,
                                const struct sweep_request *request, struct error *error)
{
    const char *written = earlier->sweep.plan;
    json_auto_t *json = NULL;
    struct plan plan;

    if (!json_parse(written, strlen(written), &json, error) || !plan_read(json, &plan, error))
        return false;
    if (strcmp(id, earlier->sweep.id) != 0)
        plan.repetitions = 1;
    if (plan_same_cells(&plan, &request->plan))
        return true;
    return error_set(error, ERROR_INVALID,
                     "\"corrects\": the cells of %s differ from those of this call: give the same "
                     "loads, input_tokens and output_tokens, and set repetitions to %lld",
                     id, (long long)plan.repetitions);
}

static CHECKED bool check_correctable(const struct earlier *earlier, struct error *error)
{
    if (sweep_answer_is_active(&earlier->sweep))
        return error_set(error, ERROR_CONFLICT,
                         "\"corrects\": %s has not ended: wait until it ends, or cancel it with "
                         "sweep_cancel",
                         earlier->sweep.id);
    for (size_t i = 0; i < earlier->run_count; i++)
        if (earlier->runs[i].corrected_by[0] != '\0')
            return error_set(
                error, ERROR_CONFLICT,
                "\"corrects\": %s was already corrected by %s: correct that run instead",
                earlier->runs[i].id, earlier->runs[i].corrected_by);
    return true;
}

/* ---- The corrections ---- */

static void list_corrections(const char *id, const struct earlier *earlier,
                             const struct sweep_request *request, struct correction *out)
{
    bool is_sweep = strcmp(id, earlier->sweep.id) == 0;

    for (size_t i = 0; i < earlier->run_count; i++) {
        find_subject(request, earlier->runs[i].deployment_id, &out[i].subject);
        out[i].repetition = is_sweep ? earlier->runs[i].repetition : 0;
        text_copy(out[i].run_id, sizeof out[i].run_id, earlier->runs[i].id);
    }
}

bool corrections_find(struct store *store, const char *id, const struct sweep_request *request,
                      struct correction **out, size_t *count, struct error *error)
{
    struct earlier earlier = { 0 };
    bool found;

    *out = NULL;
    *count = 0;
    if (id == NULL)
        return true;
    found = earlier_read(store, id, &earlier, error)
            && check_deployments(id, &earlier, request, error)
            && check_cells(id, &earlier, request, error) && check_correctable(&earlier, error);
    if (found) {
        *count = earlier.run_count;
        *out = memory_zeroed(*count, sizeof **out);
        list_corrections(id, &earlier, request, *out);
    }
    earlier_finish(&earlier);
    return found;
}
