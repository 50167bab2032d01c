/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_show: shows the most important metrics that a server reports about itself, as of now. */

#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/formats/table.h"
#include "base/json/json.h"
#include "fleet/replicas.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/answers/deployment_endpoint.h"

/* The number of scrapes in a call with rates. The first and the last give the rates; all of them
 * together show whether it is always the same server that answers. */
#define SCRAPES 8

static const struct param params[] = {
    PARAM_DEPLOYMENT,
    { "interval_s", VALUE_NUMBER, .low = 0, .high = 30, .initial = "2",
      .help = "Seconds over which rates are computed; 0: no rates." },
    { 0 },
};

static const struct field now_fields[] = {
    { "at_ms", VALUE_INTEGER, .help = "Time of the scrape, UTC milliseconds." },
    { "requests_running", VALUE_NUMBER, .optional = true, .help = "Sequences being generated." },
    { "requests_waiting", VALUE_NUMBER, .optional = true, .help = "Requests in the queue." },
    { "kv_cache_use", VALUE_NUMBER, .optional = true, .help = "KV cache in use, 0 to 1." },
    { "prompt_tokens_total", VALUE_NUMBER, .optional = true, .help = "Since the server's start." },
    { "generation_tokens_total", VALUE_NUMBER, .optional = true, .help = "Since its start." },
    { "requests_total", VALUE_NUMBER, .optional = true,
      .help = "Requests finished since its start." },
    { "preemptions_total", VALUE_NUMBER, .optional = true,
      .help = "Sequences preempted for lack of KV cache." },
    { "prefix_queries_total", VALUE_NUMBER, .optional = true,
      .help = "Tokens looked up in the prefix cache." },
    { "prefix_hits_total", VALUE_NUMBER, .optional = true,
      .help = "Tokens found in the prefix cache." },
    { "prefill_tokens_total", VALUE_NUMBER, .optional = true,
      .help = "Prompt tokens computed, not cached." },
    { "prefill_sum_s", VALUE_NUMBER, .optional = true,
      .help = "Seconds spent on computing prompt tokens." },
    { "drafts_total", VALUE_NUMBER, .optional = true, .help = "Speculative drafts." },
    { "draft_tokens_total", VALUE_NUMBER, .optional = true, .help = "Tokens drafted." },
    { "accepted_tokens_total", VALUE_NUMBER, .optional = true, .help = "Drafted tokens accepted." },
    { "ttft_sum_s", VALUE_NUMBER, .optional = true, .help = "Sum of times to first token." },
    { "ttft_count", VALUE_NUMBER, .optional = true, .help = "Requests in that sum." },
    { "itl_sum_s", VALUE_NUMBER, .optional = true, .help = "Sum of gaps between tokens." },
    { "itl_count", VALUE_NUMBER, .optional = true, .help = "Gaps in that sum." },
    { "e2e_sum_s", VALUE_NUMBER, .optional = true, .help = "Sum of the times of whole requests." },
    { "e2e_count", VALUE_NUMBER, .optional = true, .help = "Requests in that sum." },
    { "queue_sum_s", VALUE_NUMBER, .optional = true, .help = "Sum of times in the queue." },
    { "queue_count", VALUE_NUMBER, .optional = true, .help = "Requests in that sum." },
    { "process_start_s", VALUE_NUMBER, .optional = true, .help = "Server's start, UTC seconds." },
    { 0 },
};

static const struct field between_fields[] = {
    { "seconds", VALUE_NUMBER, .optional = true, .help = "Time between the two scrapes." },
    { "restarted", VALUE_BOOLEAN, .help = "True: the server restarted in between; no rates." },
    { "requests", VALUE_NUMBER, .optional = true, .help = "Requests finished in between." },
    { "input_tokens", VALUE_NUMBER, .optional = true, .help = "Prompt tokens in between." },
    { "output_tokens", VALUE_NUMBER, .optional = true, .help = "Generated tokens in between." },
    { "preemptions", VALUE_NUMBER, .optional = true, .help = "Preemptions in between." },
    { "requests_per_s", VALUE_NUMBER, .optional = true, .help = "Requests finished per second." },
    { "input_tokens_per_s", VALUE_NUMBER, .optional = true, .help = "Prompt tokens per second." },
    { "output_tokens_per_s", VALUE_NUMBER, .optional = true,
      .help = "Generated tokens per second." },
    { "mean_ttft_ms", VALUE_NUMBER, .optional = true, .help = "Mean time to first token." },
    { "mean_itl_ms", VALUE_NUMBER, .optional = true, .help = "Mean gap between tokens." },
    { "mean_e2e_ms", VALUE_NUMBER, .optional = true, .help = "Mean time of a whole request." },
    { "mean_queue_ms", VALUE_NUMBER, .optional = true, .help = "Mean time in the queue." },
    { "prefill_tokens_per_s", VALUE_NUMBER, .optional = true,
      .help = "Prompt tokens computed per second of prefill." },
    { "prefix_hit_rate", VALUE_NUMBER, .optional = true,
      .help = "Share of prompt tokens from the prefix cache, 0 to 1." },
    { "acceptance_length", VALUE_NUMBER, .optional = true,
      .help = "Tokens per step of speculative decoding, the model's own included." },
    { "acceptance_rate", VALUE_NUMBER, .optional = true,
      .help = "Share of drafted tokens accepted, 0 to 1." },
    { 0 },
};

static const struct field fields[] = {
    { "deployment", VALUE_TEXT, .help = "The deployment that was scraped." },
    { "now", VALUE_OBJECT, .help = "Gauges, and counters since the server's start.",
      .fields = now_fields },
    { "rates", VALUE_OBJECT, .optional = true,
      .help = "Between the two scrapes; missing: interval_s is 0, or `note` says why.",
      .fields = between_fields },
    { "note", VALUE_TEXT, .optional = true, .help = "Why there are no rates." },
    { 0 },
};

/* Sleeps for `seconds`. CANCELLED: the call was cancelled meanwhile. */
static CHECKED bool pause_for(const struct call *call, double seconds, struct error *error)
{
    int64_t until_ns = clock_monotonic_ns() + (int64_t)(seconds * 1e9);

    while (clock_monotonic_ns() < until_ns) {
        const struct timespec step = { .tv_nsec = 50000000 };

        if (call->cancelled(call->host))
            return error_set(error, ERROR_CANCELLED, "cancelled between two scrapes");
        nanosleep(&step, NULL);
    }
    return true;
}

/* Returns false for sums, the counts that belong to them, and times. Those are for programs; people
 * see the means instead, among the rates. */
static bool is_for_people(const char *name)
{
    static const char *const endings[] = { "_sum_s", "_count", "_start_s", "seconds" };
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending_length = strlen(endings[i]);

        if (length >= ending_length && strcmp(name + length - ending_length, endings[i]) == 0)
            return false;
    }
    return true;
}

static void add_figures(struct table *table, const struct field *rows, const json_t *figures)
{
    for (const struct field *field = rows; field->name != NULL; field++) {
        const json_t *value = json_object_get(figures, field->name);

        if (!json_is_number(value) || field->type != VALUE_NUMBER || !is_for_people(field->name))
            continue;
        table_cell(table, "%s", field->name);
        table_cell(table, "%.6g", json_number_value(value));
        table_cell(table, "%s", field->help);
    }
}

static void write_text(const struct deployment *deployment, const json_t *now, const json_t *rates,
                       struct text *out)
{
    struct table *table = table_create();

    table_column(table, "Figure", false);
    table_column(table, "Value", true);
    table_column(table, "Meaning", false);
    add_figures(table, between_fields, rates);
    add_figures(table, now_fields, now);
    text_addf(out, "Metrics of %s, from the server itself\n\n", deployment->name);
    table_render(table, out);
    table_destroy(table);
    if (json_get_boolean(rates, "restarted", false))
        text_add(out, "\nNo rates: the server restarted between the two scrapes.\n");
}

struct scrapes {
    struct deployment deployment;
    struct engine_metrics_snapshot first, last;
    struct replicas instances; /* the servers that answered */
    bool has_rates;
};

static CHECKED bool scrape(struct call *call, struct scrapes *scrapes, struct error *error)
{
    double interval_s = call_number(call, "interval_s", 2);
    ENDPOINT_AUTO endpoint = { 0 };

    if (!secret_access_endpoint(&call->services->access, &scrapes->deployment, &endpoint, error)
        || !engine_metrics_scrape(&endpoint, &scrapes->first, error))
        return false;
    scrapes->last = scrapes->first;
    replicas_note(&scrapes->instances, &scrapes->first);
    for (int i = 1; i < SCRAPES && interval_s > 0; i++) {
        if (!pause_for(call, interval_s / (SCRAPES - 1), error)
            || !engine_metrics_scrape(&endpoint, &scrapes->last, error))
            return false;
        replicas_note(&scrapes->instances, &scrapes->last);
    }
    scrapes->has_rates = interval_s > 0 && !replicas_are_several(&scrapes->instances);
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct scrapes scrapes = { 0 };
    bool several;
    json_t *now, *rates;

    if (!deployment_argument(call, &scrapes.deployment, error) || !scrape(call, &scrapes, error))
        return false;
    several = replicas_are_several(&scrapes.instances);
    now = engine_metrics_to_json(&scrapes.last);
    rates = scrapes.has_rates ? engine_metrics_between(&scrapes.first, &scrapes.last) : json_null();
    write_text(&scrapes.deployment, now, rates, &answer->text);
    if (several)
        text_add(&answer->text, "\nNo rates: " REPLICAS_SEVERAL
                                ". The figures are from the instance that answered last.\n");
    answer->structured =
        json_pack("{s:s, s:o, s:o, s:o}", "deployment", scrapes.deployment.name, "now", now,
                  "rates", rates, "note", several ? json_string(REPLICAS_SEVERAL) : json_null());
    return true;
}

const struct tool tool_metrics_show = {
    .name = "metrics_show",
    .title = "Show a server's metrics now",
    .help = "A model server's own metrics now: requests running and waiting, KV cache, tokens/s, "
            "latencies.",
    .more =
        "It reads vLLM, SGLang, llama.cpp, TGI and JetStream, with one set of names; also prefix "
        "cache hits and speculative decoding. Rates come from two scrapes a few seconds apart. "
        "For the past: metrics_watch once, then metrics_history.",
    .sets = SET_FLEET,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .read_only = true,
    .idempotent = true,
    .open_world = true,
    .run = run,
};
