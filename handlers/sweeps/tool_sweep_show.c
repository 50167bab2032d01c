/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_show: shows a sweep's progress, and the figures of its cells. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "handlers/answers/cell_answer.h"
#include "handlers/answers/job_answer.h"
#include "handlers/answers/sweep_answer.h"

#define REJECTED_MAX 8  /* maximum number of rejected attempts in the answer's text */
#define ATTEMPTS_MAX 50 /* maximum number of attempts in each list of the structured answer */

static const struct param params[] = {
    { "sweep", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Its id (swp_...)." },
    { "limit", VALUE_INTEGER, .low = 1, .high = 200, .initial = "30", .help = "Cells per page." },
    PARAM_CURSOR,
    PARAM_DETAIL,
    { 0 },
};

static const struct field attempt_fields[] = {
    { "concurrency", VALUE_INTEGER,
      .help = "Users at once; in an open loop, the limit on requests in flight." },
    { "request_rate", VALUE_NUMBER, .help = "Open loop: requests per second; 0: a closed loop." },
    { "input_tokens", VALUE_INTEGER, .help = "Prompt length." },
    { "output_tokens", VALUE_INTEGER, .help = "Answer length." },
    { "deployment", VALUE_TEXT, .help = "Deployment that was measured." },
    { "repetition", VALUE_INTEGER, .help = "Repetition, from 1." },
    { "attempt", VALUE_INTEGER, .help = "Number of this attempt at the cell, from 1." },
    { "reason", VALUE_TEXT, .optional = true, .help = "Why it does not count." },
    { "started_at", VALUE_TEXT, .optional = true, .help = "When it began, UTC." },
    { 0 },
};

static const struct field fields[] = {
    { "sweep", VALUE_OBJECT, .help = "The sweep.", .fields = sweep_answer_fields },
    { "job", VALUE_OBJECT, .optional = true,
      .help = "The sweep's job; missing: the sweep has ended.", .fields = job_answer_fields,
      .described_in = "job_show" },
    { "cells", VALUE_LIST, .help = "Cells in order of measurement.", .fields = cell_answer_fields },
    { "interrupted", VALUE_LIST,
      .help = "Newest attempts cut short (crash, restart, cancellation, time limit, error); they "
              "do not count.",
      .fields = attempt_fields },
    { "rejected", VALUE_LIST,
      .help =
          "Newest attempts that the server's own metrics invalidated (work for other clients, a "
          "restart, a different model), or that were repeated because they failed or ran "
          "unevenly; they do not count.",
      .fields = attempt_fields, .described_in = "interrupted" },
    { "findings", VALUE_LIST, .optional = true, .help = FINDINGS_HELP,
      .fields = sweep_answer_finding_fields },
    FIELD_NEXT_CURSOR,
    FIELD_NEXT_STEP,
    { 0 },
};

static const char *next_step(const struct sweep_row *sweep)
{
    if (sweep_answer_is_active(sweep))
        return "job_show with this sweep and wait_s 600";
    if (sweep->cells_done < sweep->cells_total)
        return "sweep_resume to measure what is missing, or run_report for what is there";
    return sweep->subject_count > 1 ? "run_compare with this sweep" : "run_report with this sweep";
}

/* Lists the newest ATTEMPTS_MAX of the attempts, which are sorted from oldest to newest. */
static json_t *attempts_json(const struct attempt_row *attempts, size_t count)
{
    json_t *list = json_array();

    for (size_t i = count > ATTEMPTS_MAX ? count - ATTEMPTS_MAX : 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:I, s:f, s:I, s:I, s:I, s:I, s:o, s:o}",
                                              "deployment", attempts[i].deployment, "concurrency",
                                              (json_int_t)attempts[i].concurrency, "request_rate",
                                              attempts[i].request_rate, "input_tokens",
                                              (json_int_t)attempts[i].input_tokens, "output_tokens",
                                              (json_int_t)attempts[i].output_tokens, "repetition",
                                              (json_int_t)attempts[i].repetition + 1, "attempt",
                                              (json_int_t)attempts[i].number, "reason",
                                              answer_json_text(attempts[i].reason), "started_at",
                                              answer_json_time(attempts[i].started_ms)));
    return list;
}

/* Everything that is shown about a sweep, read before the answer is written. */
struct view {
    struct sweep_row sweep;
    struct job job;
    struct cell_row *cells;
    size_t cell_count;
    struct attempt_row *interrupted, *rejected;
    size_t interrupted_count, rejected_count;
};

static CHECKED bool view_read(const struct call *call, const char *id, struct view *view,
                              struct error *error)
{
    struct store *store = call->services->store;

    return sweep_find(store, id, &view->sweep, error)
           && job_pool_show(call->services->jobs, view->sweep.job_id, &view->job, error)
           && cell_list(store, id, NULL, &view->cells, &view->cell_count, error)
           && cell_attempt_list(store, id, "interrupted", &view->interrupted,
                                &view->interrupted_count, error)
           && cell_attempt_list(store, id, "rejected", &view->rejected, &view->rejected_count,
                                error);
}

static void view_finish(struct view *view)
{
    sweep_row_finish(&view->sweep);
    cell_rows_free(view->cells, view->cell_count);
    free(view->interrupted);
    free(view->rejected);
}

static void write_rejected(const struct view *view, struct text *text)
{
    size_t count = view->rejected_count, first = count > REJECTED_MAX ? count - REJECTED_MAX : 0;
    char load[CELL_LOAD_SIZE];

    if (count > 0)
        text_addf(text, "Rejected attempts (they do not count): %zu%s\n", count,
                  first > 0 ? ", the newest:" : ".");
    for (size_t i = first; i < count; i++) {
        const struct attempt_row *attempt = &view->rejected[i];

        text_addf(text, "- %s x %" PRId64 " tokens, attempt %" PRId64 ": ",
                  cell_load_text(attempt->concurrency, attempt->request_rate, load),
                  attempt->input_tokens, attempt->number);
        text_add_printable(text, attempt->reason, strlen(attempt->reason), sizeof attempt->reason);
        text_add_char(text, '\n');
    }
}

static void write_answer(const struct view *view, size_t first, size_t count, struct answer *answer)
{
    struct text *text = &answer->text;
    size_t end = first + count;
    const struct report_input input = { .sweep = &view->sweep,
                                        .cells = view->cells,
                                        .cell_count = view->cell_count };
    const struct cell_page page = { view->cells, view->cell_count, first, count };

    answer->structured =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "sweep", sweep_answer_json(&view->sweep), "job",
                  sweep_answer_is_active(&view->sweep) ? job_answer_json(&view->job) : json_null(),
                  "cells", cell_answer_list(&page), "interrupted",
                  attempts_json(view->interrupted, view->interrupted_count), "rejected",
                  attempts_json(view->rejected, view->rejected_count));
    sweep_answer_describe(&view->sweep, text);
    if (sweep_answer_is_active(&view->sweep))
        job_answer_describe(&view->job, text);
    if (view->interrupted_count > 0)
        text_addf(text, "Interrupted attempts (they do not count): %zu.\n",
                  view->interrupted_count);
    write_rejected(view, text);
    if (view->sweep.subject_count == 1)
        sweep_answer_add_findings(&input, answer);
    text_add_char(text, '\n');
    if (count > 0)
        cell_answer_table(&page, text);
    text_add_char(text, '\n');
    answer_next(answer, next_step(&view->sweep));
    answer_shows(answer, "/sweeps/%s", view->sweep.id);
    answer_page_end_at(answer, end < view->cell_count, (int64_t)end);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct view view = { 0 };
    size_t limit = (size_t)call_integer(call, "limit", 30), first, count;
    int64_t cursor;
    bool done = answer_page_cursor(call, &cursor, error)
                && view_read(call, call_text(call, "sweep"), &view, error);

    if (done) {
        first = (size_t)cursor < view.cell_count ? (size_t)cursor : view.cell_count;
        count = view.cell_count - first < limit ? view.cell_count - first : limit;
        write_answer(&view, first, count, answer);
    }
    view_finish(&view);
    return done;
}

const struct tool tool_sweep_show = {
    .name = "sweep_show",
    .title = "Show a sweep's progress and cells",
    .help = "A sweep's state, and each cell's figures so far. To wait: job_show; for results: "
            "run_report.",
    .more = "One row per cell: time to first token, gap between tokens, throughput, failures. "
            "Except for A/B sweeps, also each context's saturation point and largest load within "
            "the limits.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
