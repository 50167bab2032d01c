/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/runs/compare_request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/audit/audit.h"
#include "analysis/charts/chart.h"
#include "base/core/memory.h"

void compare_request_finish(struct compare_request *request)
{
    comparison_finish(&request->comparison);
    for (size_t i = 0; i < request->count; i++)
        evidence_finish(&request->runs[i]);
    free(request->runs);
    sweep_row_finish(&request->sweep);
}

void compare_request_name_side(const struct compare_request *request, enum side side,
                               struct text *out)
{
    const struct evidence *first =
        &request->runs[side == SIDE_BASELINE ? 0 : request->counts[SIDE_BASELINE]];
    const struct chart_runs runs = { first, request->counts[side], NULL };

    if (!first->imported && first->facts.deployment[0] != '\0')
        text_add(out, first->facts.deployment);
    else
        chart_name(&runs, out);
}

/* Refuses a second import of the same file: the same figures under two ids would look like two
 * repetitions that do not vary at all. */
static CHECKED bool is_new_file(const struct compare_request *request, const struct evidence *run,
                                struct error *error)
{
    for (const struct evidence *other = request->runs; other < run; other++)
        if (run->imported && other->imported && strcmp(run->digest, other->digest) == 0)
            return error_set(error, ERROR_INVALID,
                             "the runs %s and %s come from the same file, whose figures are one "
                             "repetition: name only one of the two",
                             other->id, run->id);
    return true;
}

static CHECKED bool add_run(struct store *store, const char *id, struct compare_request *request,
                            struct error *error)
{
    size_t cells = 0;

    for (size_t i = 0; i < request->count; i++) {
        if (strcmp(request->runs[i].id, id) == 0)
            return error_set(error, ERROR_INVALID,
                             "the run %s is named twice: a run counts only once, on one side", id);
        cells += request->runs[i].cell_count;
    }
    if (request->count == COMPARE_RUNS_MAX)
        return error_set(error, ERROR_INVALID, "more than %d runs are named: name fewer",
                         COMPARE_RUNS_MAX);
    evidence_init(&request->runs[request->count]);
    if (!evidence_find(store, id, &request->runs[request->count++], error)
        || !is_new_file(request, &request->runs[request->count - 1], error))
        return false;
    cells += request->runs[request->count - 1].cell_count;
    return cells <= COMPARE_CELLS_MAX
           || error_set(error, ERROR_INVALID,
                        "together, the named runs have more than %d cells: name fewer runs",
                        COMPARE_CELLS_MAX);
}

static CHECKED bool add_sweep(struct store *store, const char *id, struct compare_request *request,
                              struct error *error)
{
    struct run_row *rows = NULL;
    size_t count;
    bool added;

    if (!run_list(store, NULL, id, 0, COMPARE_RUNS_MAX + 1, &rows, &count, error))
        return false;
    added =
        count > 0 || error_set(error, ERROR_NOT_FOUND, "there is no sweep %s: see sweep_list", id);
    for (size_t i = 1; added && i < count; i++)
        if (rows[i].deployment_id != rows[0].deployment_id)
            added = error_set(
                error, ERROR_INVALID,
                "the sweep %s has runs on two deployments, so its runs do not all repeat "
                "one another: give the sweep as \"sweep\" to compare the two deployments, or name "
                "the runs on only one deployment (run_list lists them)",
                id);
    for (size_t i = 0; added && i < count; i++)
        added = add_run(store, rows[i].id, request, error);
    run_rows_free(rows, count);
    return added;
}

static CHECKED bool read_side(const struct call *call, const char *name, enum side side,
                              struct compare_request *request, struct error *error)
{
    const json_t *ids = json_object_get(call->arguments, name), *id;
    size_t before = request->count, i;

    json_array_foreach(ids, i, id) {
        const char *text = json_string_value(id);
        bool is_sweep = strncmp(text, "swp_", 4) == 0;

        if (!(is_sweep ? add_sweep : add_run)(call->services->store, text, request, error))
            return false;
    }
    request->counts[side] = request->count - before;
    return true;
}

static const struct run_row *find_run(const struct run_row *rows, size_t count,
                                      int64_t deployment_id, int64_t repetition)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].deployment_id == deployment_id && rows[i].repetition == repetition)
            return &rows[i];
    return NULL;
}

#define PAIRS_MAX (COMPARE_RUNS_MAX / 2)

/* Finds the repetitions that are finished on both deployments: only those cover the whole grid. */
static size_t find_pairs(const struct sweep_row *sweep, const struct run_row *rows, size_t count,
                         const struct run_row *pairs[SIDES][PAIRS_MAX])
{
    size_t found = 0;

    for (int64_t i = 0; i < sweep->repetitions && found < PAIRS_MAX; i++) {
        bool finished = true;

        for (int side = 0; side < SIDES; side++) {
            const struct run_row *row =
                find_run(rows, count, sweep->subjects[side].deployment_id, i);

            finished = finished && row != NULL && row->finished_ms > 0;
            pairs[side][found] = row;
        }
        found += finished;
    }
    return found;
}

static CHECKED bool add_pairs(struct store *store, const struct run_row *rows, size_t count,
                              struct compare_request *request, struct error *error)
{
    const struct run_row *pairs[SIDES][PAIRS_MAX];
    size_t found = find_pairs(&request->sweep, rows, count, pairs);

    if (found == 0)
        return error_set(error, ERROR_CONFLICT,
                         "no repetition of %s is finished on both deployments yet: sweep_show "
                         "shows its progress",
                         request->sweep.id);
    for (int side = 0; side < SIDES; side++)
        for (size_t i = 0; i < found; i++)
            if (!add_run(store, pairs[side][i]->id, request, error))
                return false;
    request->counts[SIDE_BASELINE] = request->counts[SIDE_CANDIDATE] = found;
    request->pairs_left_out = (size_t)request->sweep.repetitions - found;
    request->pairing = PAIRING_ALL;
    return true;
}

static CHECKED bool read_sweep(const struct call *call, const char *id,
                               struct compare_request *request, struct error *error)
{
    struct store *store = call->services->store;
    struct run_row *rows = NULL;
    size_t count;
    bool added;

    if (!sweep_find(store, id, &request->sweep, error))
        return false;
    if (request->sweep.subject_count < 2)
        return error_set(error, ERROR_INVALID,
                         "the sweep %s has only one deployment, %s: to compare it with another "
                         "sweep, give the two sweeps as \"baseline\" and \"candidate\"",
                         id, request->sweep.deployment);
    if (!run_list(store, NULL, id, 0, COMPARE_RUNS_MAX, &rows, &count, error))
        return false;
    added = add_pairs(store, rows, count, request, error);
    run_rows_free(rows, count);
    return added;
}

static CHECKED bool read_sides(const struct call *call, struct compare_request *request,
                               struct error *error)
{
    const char *sweep = call_text(call, "sweep");
    bool has_baseline = json_object_get(call->arguments, "baseline") != NULL;
    bool has_candidate = json_object_get(call->arguments, "candidate") != NULL;

    if (sweep != NULL ? has_baseline || has_candidate : !has_baseline || !has_candidate)
        return error_set(
            error, ERROR_INVALID,
            "run_compare needs either \"sweep\" (an A/B sweep), or both \"baseline\" and "
            "\"candidate\"");
    if (sweep != NULL)
        return read_sweep(call, sweep, request, error);
    if (!read_side(call, "baseline", SIDE_BASELINE, request, error)
        || !read_side(call, "candidate", SIDE_CANDIDATE, request, error))
        return false;
    request->pairing = compare_pair_up(request->runs, request->counts);
    return true;
}

static CHECKED bool read_names(const struct call *call, const char *param, const char **out,
                               struct error *error)
{
    const json_t *names = json_object_get(call->arguments, param), *name;
    bool accepts_unknown = strcmp(param, "accept_unknown") == 0;
    TEXT_AUTO known = { 0 };
    size_t i;

    json_array_foreach(names, i, name) {
        out[i] = json_string_value(name);
        if (compare_knows_fact(out[i], accepts_unknown))
            continue;
        compare_write_facts(&known);
        return error_set(error, ERROR_INVALID,
                         "\"%s\" names \"%s\", which is not a fact: the facts are %s", param,
                         out[i], text_string(&known));
    }
    return true;
}

static size_t metric_index(const struct call *call)
{
    const char *name = call_text(call, "metric");
    size_t index = 0;

    while (strcmp(compare_metric_names[index], name) != 0)
        index++;
    return index;
}

/* Audits each run, so that the comparison can omit wrong figures. */
static void mark_wrong(const struct call *call, struct compare_request *request)
{
    for (size_t i = 0; i < request->count; i++) {
        FINDINGS_AUTO findings = { 0 };
        const struct audit_input input = { .evidence = &request->runs[i],
                                           .catalog = call->services->catalog,
                                           .chips = NAN };

        audit_run(&input, &findings);
        findings_mark(&findings, &request->runs[i]);
    }
}

bool compare_request_run(const struct call *call, struct compare_request *out, struct error *error)
{
    *out = (struct compare_request){ .runs = memory_zeroed(COMPARE_RUNS_MAX, sizeof *out->runs) };
    if (!read_names(call, "factors", out->factors, error)
        || !read_names(call, "accept_unknown", out->accepted, error)
        || !read_sides(call, out, error))
        return false;
    mark_wrong(call, out);
    out->input = (struct compare_input){
        .runs = out->runs,
        .counts = { out->counts[SIDE_BASELINE], out->counts[SIDE_CANDIDATE] },
        .metric = metric_index(call),
        .factors = out->factors,
        .accepted = out->accepted,
        .paired = out->pairing == PAIRING_ALL,
        .as_deployments = out->pairing == PAIRING_ALL && out->factors[0] == NULL,
        .keeps_wrong = call_boolean(call, "keep_wrong", false),
    };
    compare_runs(&out->input, &out->comparison);
    return true;
}
