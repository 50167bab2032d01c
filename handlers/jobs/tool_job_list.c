/* SPDX-License-Identifier: Apache-2.0 */
/* job_list: lists the jobs, newest first. */

#include <math.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/formats/table.h"
#include "handlers/answers/job_answer.h"
#include "handlers/period.h"

#define DOING_BYTES_MAX 80

static const char *const states[] = { "any",       "queued", "waiting",   "running",
                                      "completed", "failed", "cancelled", NULL };

static const struct param params[] = {
    { "state", VALUE_CHOICE, .choices = states, .initial = "\"any\"",
      .help = "Only jobs in this state." },
    { "principal", VALUE_TEXT, .low = 1, .high = 63, .help = "Only jobs of this principal." },
    PARAMS_PERIOD,
    PARAM_LIMIT,
    PARAM_CURSOR,
    { 0 },
};

static const struct field fields[] = {
    { "jobs", VALUE_LIST, .help = "Newest first.", .fields = job_answer_fields,
      .described_in = "job_show" },
    FIELD_NEXT_CURSOR,
    { 0 },
};

static void doing_cell(struct table *table, const struct job *job)
{
    TEXT_AUTO doing = { 0 };

    if (!job_is_over(job))
        text_add_printable(&doing, job->message, strlen(job->message), DOING_BYTES_MAX);
    table_cell(table, "%s", doing.length > 0 ? text_string(&doing) : "-");
}

static void write_table(const struct job *jobs, size_t count, struct text *out)
{
    struct table *table = table_create();
    char time[TIME_SHOWN_SIZE];

    table_column(table, "Job", false);
    table_column(table, "Kind", false);
    table_column(table, "Subject", false);
    table_column(table, "State", false);
    table_column(table, "Done", true);
    table_column(table, "By", false);
    table_column(table, "Created (UTC)", false);
    table_column(table, "Doing", false);
    for (size_t i = 0; i < count; i++) {
        table_cell(table, "%s", jobs[i].id);
        table_cell(table, "%s", jobs[i].kind);
        table_cell(table, "%s", jobs[i].subject);
        table_cell(table, "%s", job_state_name(jobs[i].state));
        if (jobs[i].progress_total > 0)
            table_cell(table, "%.0f/%.0f", floor(jobs[i].progress), jobs[i].progress_total);
        else
            table_cell(table, "-");
        table_cell(table, "%s", jobs[i].principal);
        table_cell(table, "%s", answer_time(jobs[i].created_ms, time));
        doing_cell(table, &jobs[i]);
    }
    table_render(table, out);
    table_destroy(table);
}

static int64_t created_ms(const void *rows, size_t index)
{
    return ((const struct job *)rows)[index].created_ms;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    FREE_AUTO struct job *jobs = NULL;
    struct job_filter filter = { .principal = call_text(call, "principal"), .state = -1 };
    struct period period;
    enum job_state state;
    size_t limit = answer_page_limit(call), count, shown;
    json_t *list;

    if (job_state_find(call_text(call, "state"), &state))
        filter.state = (int)state;
    if (!period_page(call, &period, error))
        return false;
    filter.before_ms = period.until_ms;
    if (!job_pool_list(call->services->jobs, &filter, limit + 1, &jobs, &count, error))
        return false;
    count = period_count(&period, count, created_ms, jobs);
    shown = answer_page_length(count, limit, created_ms, jobs);
    list = json_array();
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(list, job_answer_json(&jobs[i]));
    answer->structured = json_pack("{s:o}", "jobs", list);
    if (shown == 0)
        text_add(&answer->text, "No job matches.\n");
    else
        write_table(jobs, shown, &answer->text);
    answer_page_end_at(answer, count > shown, shown == 0 ? 0 : jobs[shown - 1].created_ms);
    return true;
}

const struct tool tool_job_list = {
    .name = "job_list",
    .title = "List the jobs",
    .help = "Lists jobs, such as sweeps, newest first: who started each, its state and progress.",
    .more = "job_show shows one in full.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
