/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_resume: measures the missing cells of a sweep that ended early. */

#include <inttypes.h>
#include <string.h>

#include "base/core/clock.h"
#include "handlers/answers/deployment_endpoint.h"
#include "handlers/answers/job_verdict.h"
#include "handlers/answers/sweep_answer.h"

static const struct param params[] = {
    { "sweep", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Its id (swp_...)." },
    { "retry_failed", VALUE_BOOLEAN, .initial = "false",
      .help = "Also remeasure failed and skipped cells.",
      .more = "Only in unfinished runs. A finished run is never changed: sweep_start with "
              "`corrects` measures it again." },
    { 0 },
};

static const struct field left_fields[] = {
    { "run", VALUE_TEXT, .help = "The cell's run." },
    { "run_finished", VALUE_BOOLEAN,
      .help = "True: the run has no pending cells and will not change." },
    { "deployment", VALUE_TEXT, .help = "The cell's deployment." },
    { "position", VALUE_INTEGER, .help = "Position in the order of measurement, from 0." },
    { "load", VALUE_TEXT, .help = "Number of users, or requests per second." },
    { "input_tokens", VALUE_INTEGER, .help = "Requested prompt length, in tokens." },
    { "output_tokens", VALUE_INTEGER, .help = "Requested answer length, in tokens." },
    { "state", VALUE_TEXT, .help = "failed or skipped." },
    { "reason", VALUE_TEXT, .optional = true, .help = "Why the cell failed or was skipped." },
    { 0 },
};

static const struct field fields[] = {
    { "sweep", VALUE_OBJECT, .help = "The sweep as it is now.", .fields = sweep_answer_fields,
      .described_in = "sweep_show" },
    { "job", VALUE_TEXT, .help = "The sweep's new job, for job_show." },
    { "left_failed", VALUE_INTEGER, .optional = true,
      .help = "Number of failed or skipped cells that this job will not measure." },
    { "left", VALUE_LIST, .optional = true, .help = "The first 20 cells that left_failed counts.",
      .fields = left_fields },
    FIELD_OUTCOME,
    FIELDS_VERDICT,
    FIELD_NEXT_STEP,
    { 0 },
};

/* *same: whether the current revision has the same secret as the measured one and does not differ
 * from it in anything that affects a measurement. */
static CHECKED bool is_same(const struct call *call, const struct sweep_subject *subject,
                            const struct deployment *now, bool *same, struct error *error)
{
    struct deployment then;

    *same = now->id == subject->deployment_id && now->revision == subject->revision;
    if (*same || now->id != subject->deployment_id)
        return true;
    if (!deployment_find_revision(call->services->store, subject->deployment_id, subject->revision,
                                  &then, error))
        return false;
    *same = deployment_measures_same(&then, now) && strcmp(then.secret, now->secret) == 0;
    return true;
}

/* Refuses a deployment that is no longer the same as the measured one (is_same), or that cannot be
 * measured now. */
static CHECKED bool check_subject(const struct call *call, const struct sweep_row *sweep,
                                  const struct sweep_subject *subject, struct error *error)
{
    ENDPOINT_AUTO endpoint = { 0 };
    struct deployment deployment;
    struct model_facts facts;
    struct error problem;
    bool same;

    if (!deployment_find(call->services->store, subject->deployment, &deployment, error)
        || !is_same(call, subject, &deployment, &same, error))
        return false;
    if (!same)
        return error_set(error, ERROR_CONFLICT,
                         "%s measured revision %" PRId64 " of %s, which is now at revision %" PRId64
                         ": the sweep would mix cells of two revisions. Start a new sweep",
                         sweep->id, subject->revision, subject->deployment, deployment.revision);
    if (deployment_endpoint_discover(call->services, &deployment, &endpoint, &facts, &problem))
        return true;
    return error_set(error, problem.kind, "%s cannot be measured now: %s", deployment.name,
                     problem.message);
}

static CHECKED bool check_subjects(const struct call *call, const struct sweep_row *sweep,
                                   struct error *error)
{
    for (size_t i = 0; i < sweep->subject_count; i++)
        if (!check_subject(call, sweep, &sweep->subjects[i], error))
            return false;
    return true;
}

static CHECKED bool check(const struct call *call, const char *id, struct error *error)
{
    struct sweep_row sweep;
    bool done;

    if (!sweep_find(call->services->store, id, &sweep, error))
        return false;
    if (sweep_answer_is_active(&sweep))
        done = error_set(error, ERROR_CONFLICT, "%s has not ended (%s): see job_show %s", id,
                         sweep.state, sweep.job_id);
    else
        done = check_subjects(call, &sweep, error);
    sweep_row_finish(&sweep);
    return done;
}

/* ---- Cells that are not measured again ---- */

#define LEFT_SHOWN 20

/* The cells of a sweep, and counts of those that failed or were skipped. */
struct left {
    const struct cell_row *cells; /* all cells of the sweep */
    size_t count;
    size_t of_finished;   /* how many failed or skipped cells are in finished runs */
    size_t of_unfinished; /* how many are in unfinished runs */
    char run_id[ID_SIZE]; /* the first finished run that has such a cell; "": there is none */
};

static bool is_run_finished(const struct left *left, const struct cell_row *cell)
{
    for (size_t i = 0; i < left->count; i++)
        if (left->cells[i].state == CELL_PENDING
            && strcmp(left->cells[i].run_id, cell->run_id) == 0)
            return false;
    return true;
}

static json_t *left_json(const struct cell_row *cell, bool run_finished)
{
    char load[CELL_LOAD_SIZE];

    return json_pack(
        "{s:s, s:b, s:s, s:I, s:s, s:I, s:I, s:s, s:o}", "run", cell->run_id, "run_finished",
        run_finished, "deployment", cell->deployment, "position", (json_int_t)cell->position,
        "load", cell_load_text(cell->concurrency, cell->request_rate, load), "input_tokens",
        (json_int_t)cell->input_tokens, "output_tokens", (json_int_t)cell->output_tokens, "state",
        cell_state_name(cell->state), "reason", answer_json_text(cell->reason));
}

static json_t *list_left(struct left *left)
{
    json_t *list = json_array();

    for (size_t i = 0; i < left->count; i++) {
        const struct cell_row *cell = &left->cells[i];
        bool finished;

        if (cell->state != CELL_FAILED && cell->state != CELL_SKIPPED)
            continue;
        finished = is_run_finished(left, cell);
        if (finished && left->of_finished++ == 0)
            text_copy(left->run_id, sizeof left->run_id, cell->run_id);
        left->of_unfinished += !finished;
        if (json_array_size(list) < LEFT_SHOWN)
            json_array_append_new(list, left_json(cell, finished));
    }
    return list;
}

static void describe_left(const struct left *left, struct text *out)
{
    if (left->of_unfinished > 0)
        text_addf(
            out,
            "Failed or skipped cells in unfinished runs, not measured again: %zu. If this job "
            "ends early, sweep_resume with retry_failed true measures them again.\n",
            left->of_unfinished);
    if (left->of_finished > 0)
        text_addf(
            out,
            "Failed or skipped cells in finished runs, which never change: %zu (the first is in "
            "%s). To measure that run again once this job has ended, call sweep_start with that "
            "run's deployment alone, repetitions 1, \"corrects\": \"%s\" and otherwise the same "
            "arguments.\n",
            left->of_finished, left->run_id, left->run_id);
}

static CHECKED bool add_left(const struct call *call, const char *id, struct answer *answer,
                             struct error *error)
{
    struct left left = { 0 };
    struct cell_row *cells;
    json_t *list;

    if (!cell_list(call->services->store, id, NULL, &cells, &left.count, error))
        return false;
    left.cells = cells;
    list = list_left(&left);
    json_object_set_new(answer->structured, "left_failed",
                        json_integer((json_int_t)(left.of_finished + left.of_unfinished)));
    json_object_set_new(answer->structured, "left", list);
    describe_left(&left, &answer->text);
    cell_rows_free(cells, left.count);
    return true;
}

/* ---- The tool ---- */

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *id = call_text(call, "sweep");
    struct sweep_row sweep;
    bool done;

    if (!check(call, id, error)
        || !sweep_reopen(call->services->store, id, call_boolean(call, "retry_failed", false),
                         call->services->sweeps_per_principal, clock_utc_ms(), &call->change,
                         &sweep, error))
        return false;
    job_pool_wake(call->services->jobs);
    answer->structured =
        json_pack("{s:o, s:s}", "sweep", sweep_answer_json(&sweep), "job", sweep.job_id);
    text_copy(answer->job_id, sizeof answer->job_id, sweep.job_id);
    sweep_answer_describe(&sweep, &answer->text);
    done = add_left(call, sweep.id, answer, error);
    answer_next(answer, "job_show with this job and wait_s 600, then run_report");
    answer_shows(answer, "/sweeps/%s", sweep.id);
    sweep_row_finish(&sweep);
    return done;
}

const struct tool tool_sweep_resume = {
    .name = "sweep_resume",
    .title = "Resume a benchmark",
    .help = "Continues a stopped, cancelled or failed sweep: measures only the missing cells.",
    .more = "Failed cells stay failed and are listed: retry_failed measures those in unfinished "
            "runs again, and sweep_start with `corrects` measures a finished run again. After a "
            "crash or restart of this server, there is nothing to do: sweeps continue by "
            "themselves. Answers at once with the new job.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .open_world = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO, /* it measures only cells of a plan that sweep_start admitted */
    .changes_resources = true,
    .grows = true,
    .run = run,
};
