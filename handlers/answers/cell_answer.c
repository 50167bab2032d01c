/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/cell_answer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/formats/table.h"
#include "base/json/json.h"

const struct field cell_answer_fields[] = {
    { "position", VALUE_INTEGER, .help = "Position in the plan, from 0." },
    { "deployment", VALUE_TEXT, .optional = true,
      .help = "Deployment that it is measured on; missing: the same for all cells." },
    { "repetition", VALUE_INTEGER, .optional = true,
      .help = "Repetition, from 1; missing: 1 for all cells." },
    { "concurrency", VALUE_INTEGER,
      .help = "Users at once; in an open loop, the limit on requests in flight." },
    { "request_rate", VALUE_NUMBER, .sparse = true,
      .help = "Open loop: requests per second; 0: closed loop." },
    { "input_tokens", VALUE_INTEGER, .help = "Prompt length requested." },
    { "output_tokens", VALUE_INTEGER, .help = "Answer length requested." },
    { "state", VALUE_TEXT,
      .help =
          "pending, measured, infeasible (too long for the server), failed, skipped, or inferred "
          "(an adaptive search did not need to measure it: it has no figures)." },
    { "reason", VALUE_TEXT, .optional = true,
      .help = "Why it was not measured, is uneven or was measured again; if inferred: why it did "
              "not need to be measured." },
    { "attempts", VALUE_INTEGER, .included = INCLUDED_IN_DETAIL,
      .help = "How many times it was attempted; at most one attempt counts." },
    { "success_rate", VALUE_NUMBER, .optional = true,
      .help = "Share of requests that succeeded, 0 to 1." },
    { "concurrency_actual", VALUE_NUMBER, .optional = true,
      .help = "Requests in flight, averaged over the window." },
    { "ttft_p50_ms", VALUE_NUMBER, .optional = true, .help = "Time to first token, median." },
    { "ttft_p99_ms", VALUE_NUMBER, .optional = true, .help = "Time to first token, p99." },
    { "itl_p50_ms", VALUE_NUMBER, .optional = true,
      .help = "Gap between tokens, median; missing if chunks have several tokens and the server "
              "does not report how many." },
    { "itl_p99_ms", VALUE_NUMBER, .optional = true, .help = "Gap between tokens, p99." },
    { "tokens_per_chunk", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Tokens per stream chunk; only if above 1, as with speculative decoding." },
    { "icl_p50_ms", VALUE_NUMBER, .optional = true,
      .help = "Gap between chunks, median; only if chunks are not single tokens." },
    { "icl_p99_ms", VALUE_NUMBER, .optional = true, .help = "Gap between chunks, p99." },
    { "ttfo_p50_ms", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Time to the first visible output, median; only if reasoning came first." },
    { "e2e_p50_ms", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Whole request, median." },
    { "e2e_p99_ms", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Whole request, p99." },
    { "requests_per_s", VALUE_NUMBER, .optional = true, .help = "Requests per second." },
    { "output_tokens_per_s", VALUE_NUMBER, .optional = true,
      .help = "Output tokens per second, all users together." },
    { "goodput_per_s", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Requests per second that met the plan's limits." },
    { "input_tokens_actual", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Prompt length by the server's count, mean." },
    { "output_tokens_actual", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Answer length by the server's count, mean." },
    { "lengths_differing", VALUE_INTEGER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Prompts and answers that did not have the requested length; missing: some did not, "
              "but were not counted." },
    { "cached_share", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Share of input tokens that the server's prefix cache held, 0 to 1; missing: the "
              "server does not report it." },
    { "shared_share", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help =
          "Share of input tokens in prefixes that prompts of the plan have in common, 0 to 1: at "
          "most this share can be cached." },
    { "censored", VALUE_BOOLEAN, .sparse = true,
      .help =
          "True: some requests timed out, or were unanswered at the end; a percentile that they "
          "affect is a lower bound." },
    { "client_limited", VALUE_BOOLEAN, .sparse = true,
      .help = "True: opsbrain itself was late or busy (lag, CPU); do not take this for the "
              "server's limit." },
    { "contaminated", VALUE_BOOLEAN, .sparse = true,
      .help =
          "True: by its own counters, the server also served other clients; run_compare skips the "
          "cell." },
    { "uneven", VALUE_BOOLEAN, .sparse = true,
      .help = "True: the server stalled, changed its speed or reported no metrics for a while: see "
              "`reason`." },
    { "overloaded", VALUE_BOOLEAN, .sparse = true,
      .help = "True: in an open loop, requests arrived faster than they were answered; there is no "
              "steady state, and latencies grow with the window's length." },
    { "unsettled", VALUE_BOOLEAN, .sparse = true,
      .help = "True: the warm-up ended at its limit, before the load had settled." },
    { "queue_growth_per_s", VALUE_NUMBER, .optional = true,
      .help = "Open loop: growth per second in the number of requests due but not answered." },
    { "unanswered", VALUE_INTEGER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Open loop: requests due in the window but unanswered when the cell ended; their "
              "latencies count as lower bounds." },
    { "waited_for_room", VALUE_INTEGER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Open loop: requests delayed because the limit on requests in flight was reached." },
    { "queue_p50_ms", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help =
          "Open loop: delay from when a request was due until it was sent, median; part of TTFT "
          "and E2E." },
    { "queue_p99_ms", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Open loop: the same delay, p99." },
    { "throughput_ci95_share", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Half the width of the 95 % confidence interval of output_tokens_per_s within the "
              "window, as a share of that figure: 0.03 is 3 %." },
    { "window_s", VALUE_NUMBER, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "Length of the window in seconds." },
    { "tokens_estimated", VALUE_BOOLEAN, .sparse = true,
      .help =
          "True: some or all answers did not report usage; their output is counted in chunks." },
    { 0 },
};

static void add_latency(json_t *json, const char *p50, const char *p99,
                        const struct latency_summary *latency)
{
    json_object_set_new(json, p50, json_number_or_null(latency->p50_ms));
    json_object_set_new(json, p99, json_number_or_null(latency->p99_ms));
}

/* Adds the figures for unusual streams: streams whose chunks have several tokens, or that begin
 * with reasoning. */
static void add_unusual(json_t *json, const struct measurement *measurement)
{
    const struct latency_summary *latency = measurement->latency;

    if (measurement_has_wide_chunks(measurement))
        json_object_set_new(json, "tokens_per_chunk",
                            json_number_or_null(measurement->tokens_per_chunk));
    if (measurement_has_wide_chunks(measurement) || latency[METRIC_ITL].count == 0)
        add_latency(json, "icl_p50_ms", "icl_p99_ms", &latency[METRIC_ICL]);
    if (latency[METRIC_TTFO].count > 0)
        json_object_set_new(json, "ttfo_p50_ms", json_number_or_null(latency[METRIC_TTFO].p50_ms));
}

static bool is_censored(const struct measurement *measurement)
{
    for (size_t i = 0; i < METRIC_COUNT; i++)
        if (measurement->latency[i].censored > 0)
            return true;
    return false;
}

static void add_arrivals(json_t *json, const struct measurement *measurement)
{
    json_object_set_new(json, "queue_growth_per_s", json_number_or_null(measurement->queue_growth));
    json_object_set_new(json, "unanswered", json_integer((json_int_t)measurement->unanswered));
    json_object_set_new(json, "waited_for_room",
                        json_integer((json_int_t)measurement->waited_for_room));
    add_latency(json, "queue_p50_ms", "queue_p99_ms", &measurement->latency[METRIC_QUEUE]);
}

static json_t *share(int64_t part, int64_t whole)
{
    return whole > 0 ? json_real((double)part / (double)whole) : json_null();
}

/* Returns null if the measurement does not say how many lengths differed: cells that earlier
 * versions stored have a negative number, which means only that some lengths did. */
static json_t *lengths_differing(const struct measurement *measurement)
{
    int64_t input = measurement->input_tokens_differing;
    int64_t output = measurement->output_tokens_differing;

    return input < 0 || output < 0 ? json_null()
                                   : json_integer((json_int_t)input + (json_int_t)output);
}

static void add_lengths(json_t *json, const struct measurement *measurement)
{
    int64_t input = measurement->cached_told > 0 ? measurement->input_tokens : 0;

    json_object_set_new(json, "input_tokens_actual",
                        json_number_or_null(measurement->input_tokens_mean));
    json_object_set_new(json, "output_tokens_actual",
                        json_number_or_null(measurement->output_tokens_mean));
    json_object_set_new(json, "lengths_differing", lengths_differing(measurement));
    json_object_set_new(json, "cached_share", share(measurement->cached_tokens, input));
    json_object_set_new(json, "shared_share",
                        share(measurement->shared_tokens, measurement->input_tokens));
}

static void add_figures(json_t *json, const struct measurement *measurement)
{
    if (measurement->attempted == 0)
        return;
    add_lengths(json, measurement);
    json_object_set_new(json, "success_rate", json_number_or_null(measurement->success_rate));
    json_object_set_new(json, "concurrency_actual",
                        json_number_or_null(measurement->concurrency_actual));
    add_latency(json, "ttft_p50_ms", "ttft_p99_ms", &measurement->latency[METRIC_TTFT]);
    add_latency(json, "itl_p50_ms", "itl_p99_ms", &measurement->latency[METRIC_ITL]);
    add_latency(json, "e2e_p50_ms", "e2e_p99_ms", &measurement->latency[METRIC_E2E]);
    add_unusual(json, measurement);
    json_object_set_new(json, "requests_per_s",
                        json_number_or_null(measurement->request_throughput));
    json_object_set_new(json, "output_tokens_per_s",
                        json_number_or_null(measurement->output_throughput));
    json_object_set_new(json, "goodput_per_s", json_number_or_null(measurement->goodput));
    json_object_set_new(json, "window_s", json_real(measurement->window_s));
    json_object_set_new(json, "throughput_ci95_share",
                        json_number_or_null(measurement->throughput_ci));
    if (measurement->request_rate_asked > 0)
        add_arrivals(json, measurement);
}

json_t *cell_answer_json(const struct cell_row *cell)
{
    json_t *json = json_pack(
        "{s:I, s:s, s:I, s:I, s:f, s:I, s:I, s:s, s:o, s:I, s:b, s:b, s:b, s:b, s:b, s:b, s:b}",
        "position", (json_int_t)cell->position, "deployment", cell->deployment, "repetition",
        (json_int_t)cell->repetition + 1, "concurrency", (json_int_t)cell->concurrency,
        "request_rate", cell->request_rate, "input_tokens", (json_int_t)cell->input_tokens,
        "output_tokens", (json_int_t)cell->output_tokens, "state", cell_state_name(cell->state),
        "reason", answer_json_text(cell->reason), "attempts", (json_int_t)cell->attempts,
        "censored", is_censored(&cell->measurement), "client_limited",
        cell->measurement.client_limited, "contaminated", cell->measurement.contaminated, "uneven",
        cell->measurement.uneven, "tokens_estimated", cell->measurement.tokens_estimated,
        "overloaded", cell->measurement.overloaded, "unsettled", cell->measurement.unsettled);

    add_figures(json, &cell->measurement);
    return json;
}

struct shape {
    bool many_deployments, many_repetitions;
};

static struct shape shape_of(const struct cell_page *page)
{
    const struct cell_row *cells = page->all;
    struct shape shape = { 0 };

    for (size_t i = 0; i < page->all_count; i++) {
        shape.many_deployments =
            shape.many_deployments || cells[i].deployment_id != cells[0].deployment_id;
        shape.many_repetitions = shape.many_repetitions || cells[i].repetition > 0;
    }
    return shape;
}

json_t *cell_answer_list(const struct cell_page *page)
{
    struct shape shape = shape_of(page);
    json_t *list = json_array();

    for (size_t i = 0; i < page->count; i++) {
        json_t *json = cell_answer_json(&page->all[page->first + i]);

        if (!shape.many_deployments)
            json_object_del(json, "deployment");
        if (!shape.many_repetitions)
            json_object_del(json, "repetition");
        json_array_append_new(list, json);
    }
    return list;
}

static void figure_cell(struct table *table, bool present, double value, bool at_least)
{
    if (!present || !isfinite(value))
        table_cell(table, "-");
    else
        table_cell(table, "%s%.*f", at_least ? ">=" : "", value < 100 ? 1 : 0, value);
}

static void success_cell(struct table *table, const struct measurement *measurement)
{
    if (measurement->attempted == 0 || !isfinite(measurement->success_rate))
        table_cell(table, "-");
    else
        table_cell(table, "%.3g %%", measurement->success_rate * 100);
}

/* Returns false if the ITL columns have to show the gaps between chunks instead. */
static bool has_token_gaps(const struct measurement *measurement)
{
    return measurement->latency[METRIC_ITL].count > 0
           || measurement->latency[METRIC_ICL].count == 0;
}

static const char *client_mark(const struct measurement *measurement)
{
    if (measurement->client_limited)
        return measurement->machine_busy ? ", client limited by other processes on its machine"
                                         : ", client limited";
    if (measurement->client_late)
        return measurement->machine_busy
                   ? ", p99 delayed by other processes on the client's machine"
                   : ", p99 delayed by the client";
    return "";
}

static void state_cell(struct table *table, const struct cell_row *cell)
{
    const struct measurement *measurement = &cell->measurement;

    TEXT_AUTO overload = { 0 };

    if (measurement->overloaded)
        text_addf(&overload, ", overloaded: the queue grew by %.3g/s", measurement->queue_growth);
    table_cell(table, "%s%s%s%s%s%s%s%s", cell_state_name(cell->state), text_string(&overload),
               measurement->uneven ? ", uneven" : "", client_mark(measurement),
               measurement->contaminated ? ", contaminated" : "",
               has_token_gaps(measurement) ? "" : ", ITL measured between chunks",
               measurement->tokens_estimated ? ", tokens estimated" : "",
               measurement->held > 0 ? ", requests pending during the entire window" : "");
}

static void cell_table_row(struct table *table, const struct cell_row *cell,
                           const struct shape *shape)
{
    const struct measurement *measurement = &cell->measurement;
    const struct latency_summary *ttft = &measurement->latency[METRIC_TTFT];
    const struct latency_summary *itl =
        &measurement->latency[has_token_gaps(measurement) ? METRIC_ITL : METRIC_ICL];
    bool present = measurement->attempted > 0;

    table_cell(table, "%" PRId64, cell->position);
    if (shape->many_deployments)
        table_cell(table, "%s", cell->deployment);
    if (shape->many_repetitions)
        table_cell(table, "%" PRId64, cell->repetition + 1);
    if (cell->request_rate > 0)
        table_cell(table, "%.10g/s", cell->request_rate);
    else
        table_cell(table, "%" PRId64, cell->concurrency);
    table_cell(table, "%" PRId64, cell->input_tokens);
    table_cell(table, "%" PRId64, cell->output_tokens);
    figure_cell(table, present, ttft->p50_ms, ttft->p50_censored);
    figure_cell(table, present, ttft->p99_ms, ttft->p99_censored);
    figure_cell(table, present, itl->p50_ms, itl->p50_censored);
    figure_cell(table, present, itl->p99_ms, itl->p99_censored);
    figure_cell(table, present, measurement->output_throughput, false);
    figure_cell(table, present, measurement->request_throughput, false);
    success_cell(table, measurement);
    state_cell(table, cell);
}

#define REASONS_SHOWN 12

static size_t count_alike(const struct cell_row *cells, size_t count, const struct cell_row *cell)
{
    size_t alike = 0;

    for (size_t i = 0; i < count; i++)
        alike += cells[i].state == cell->state && strcmp(cells[i].reason, cell->reason) == 0;
    return alike;
}

/* Adds the first REASONS_SHOWN different reasons that the cells state. A reason can contain text
 * from the server. */
static void add_reasons(const struct cell_row *cells, size_t count, struct text *out)
{
    char load[CELL_LOAD_SIZE];
    size_t shown = 0;

    for (size_t i = 0; i < count && shown < REASONS_SHOWN; i++) {
        const struct cell_row *cell = &cells[i];
        size_t alike = count_alike(cells + i, count - i, cell);

        if (cell->reason[0] == '\0' || count_alike(cells, i, cell) > 0)
            continue;
        text_addf(out, "%s- %s: ", shown++ == 0 ? "\n" : "", cell_state_name(cell->state));
        if (alike > 1)
            text_addf(out, "%zu cells, the first with ", alike);
        text_addf(out, "%s x %" PRId64 " tokens: ",
                  cell_load_text(cell->concurrency, cell->request_rate, load), cell->input_tokens);
        text_add_printable(out, cell->reason, strlen(cell->reason), sizeof cell->reason);
        text_add_char(out, '\n');
    }
}

void cell_answer_table(const struct cell_page *page, struct text *out)
{
    const struct cell_row *cells = page->all + page->first;
    size_t count = page->count;
    static const char *const headings[] = { "In",       "Out",        "TTFT p50 ms",
                                            "p99",      "ITL p50 ms", "p99",
                                            "Tokens/s", "Req/s",      "Success" };
    struct shape shape = shape_of(page);
    struct table *table = table_create();

    table_column(table, "Cell", true);
    if (shape.many_deployments)
        table_column(table, "Deployment", false);
    if (shape.many_repetitions)
        table_column(table, "Rep", true);
    table_column(table, count > 0 && cells[0].request_rate > 0 ? "Rate" : "Users", true);
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        table_column(table, headings[i], true);
    table_column(table, "State", false);
    for (size_t i = 0; i < count; i++)
        cell_table_row(table, &cells[i], &shape);
    table_render(table, out);
    table_destroy(table);
    add_reasons(cells, count, out);
}
