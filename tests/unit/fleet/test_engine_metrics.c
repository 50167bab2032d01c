/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/engine_metrics.h"
#include "fleet/metrics_map.h"
#include "fleet/query.h"
#include "tests/simserve/harness/simserve.h"
#include "tests/unit/support/canned_server.h"

#define NEAR(a, b) assert_float_equal((a), (b), 1e-9)

/* Returns the counters of a server that has worked for `seconds`, at 10 requests per second with
 * 100 input tokens and 20 output tokens each. */
static struct engine_metrics_snapshot busy_for(double seconds)
{
    struct engine_metrics_snapshot m;

    metrics_map_clear(&m);
    m.at_ns = (int64_t)(seconds * 1e9);
    m.requests_total = 10 * seconds;
    m.prompt_tokens_total = 1000 * seconds;
    m.generation_tokens_total = 200 * seconds;
    m.ttft_sum_s = 0.5 * seconds;
    m.ttft_count = 10 * seconds;
    m.prefix_queries_total = 1000 * seconds;
    m.prefix_hits_total = 250 * seconds;
    m.drafts_total = 50 * seconds;
    m.draft_tokens_total = 200 * seconds;
    m.accepted_tokens_total = 100 * seconds;
    m.process_start_s = 1.7e9;
    return m;
}

static void derives_the_rates_and_means_for_the_interval(void **state)
{
    const struct engine_metrics_snapshot first = busy_for(100), last = busy_for(104);
    json_auto_t *between = engine_metrics_between(&first, &last);

    (void)state;
    assert_false(json_get_boolean(between, "restarted", true));
    NEAR(json_get_number(between, "seconds", 0), 4);
    NEAR(json_get_number(between, "requests", 0), 40);
    NEAR(json_get_number(between, "requests_per_s", 0), 10);
    NEAR(json_get_number(between, "input_tokens_per_s", 0), 1000);
    NEAR(json_get_number(between, "output_tokens_per_s", 0), 200);
    NEAR(json_get_number(between, "mean_ttft_ms", 0), 50);
    NEAR(json_get_number(between, "prefix_hit_rate", 0), 0.25);
    NEAR(json_get_number(between, "acceptance_length", 0), 3);
    NEAR(json_get_number(between, "acceptance_rate", 0), 0.5);
    assert_null(json_object_get(between, "mean_itl_ms"));
    assert_null(json_object_get(between, "preemptions"));
}

static void reports_no_means_for_an_interval_without_requests(void **state)
{
    struct engine_metrics_snapshot first = busy_for(100), last = busy_for(100);
    json_auto_t *between = NULL;

    (void)state;
    last.at_ns += 1000000000;
    between = engine_metrics_between(&first, &last);
    NEAR(json_get_number(between, "requests_per_s", -1), 0);
    assert_null(json_object_get(between, "mean_ttft_ms"));
    assert_null(json_object_get(between, "prefix_hit_rate"));
}

static void reports_a_restart_instead_of_rates(void **state)
{
    struct engine_metrics_snapshot first = busy_for(100), fallen = busy_for(3),
                                   replaced = busy_for(200);
    json_auto_t *by_counter = NULL, *by_start = NULL;

    (void)state;
    fallen.at_ns = first.at_ns + 1;
    by_counter = engine_metrics_between(&first, &fallen);
    assert_true(json_get_boolean(by_counter, "restarted", false));
    assert_null(json_object_get(by_counter, "requests_per_s"));
    replaced.process_start_s += 60;
    by_start = engine_metrics_between(&first, &replaced);
    assert_true(json_get_boolean(by_start, "restarted", false));
}

static void a_counter_that_appears_counts_from_zero(void **state)
{
    struct engine_metrics_snapshot first = busy_for(100), last = busy_for(104);
    json_auto_t *between = NULL;

    (void)state;
    first.requests_total = first.ttft_sum_s = first.ttft_count = first.prefix_hits_total = NAN;
    first.prefix_queries_total = NAN;
    last.generation_tokens_total = NAN;
    first.generation_tokens_total = 0;
    between = engine_metrics_between(&first, &last);
    assert_false(json_get_boolean(between, "restarted", true));
    NEAR(json_get_number(between, "requests", 0), 1040);
    NEAR(json_get_number(between, "mean_ttft_ms", 0), 50);
    assert_null(json_object_get(between, "output_tokens"));
    assert_null(json_object_get(between, "prefix_hit_rate"));
}

static void a_counter_above_zero_that_disappears_shows_a_restart(void **state)
{
    const struct engine_metrics_snapshot all = busy_for(100), more = busy_for(104);
    struct engine_metrics_snapshot fewer = all;

    (void)state;
    fewer.requests_total = NAN;
    assert_true(engine_metrics_has_restarted(&all, &fewer));
    assert_false(engine_metrics_has_restarted(&fewer, &more));
}

static void writes_the_reported_figures_under_our_names(void **state)
{
    const struct engine_metrics_snapshot m = busy_for(1);
    struct scrape_value values[64];
    size_t count = engine_metrics_values(&m, values, 64);
    json_auto_t *json = engine_metrics_to_json(&m);

    (void)state;
    assert_int_equal(count, 11);
    assert_string_equal(values[0].name, "prompt_tokens_total");
    assert_string_equal(values[0].type, "counter");
    assert_string_equal(values[0].labels, "");
    NEAR(values[0].value, 1000);
    assert_int_equal(engine_metrics_values(&m, values, 3), 3);
    assert_int_equal(json_object_size(json), 12);
    NEAR(json_get_number(json, "generation_tokens_total", 0), 200);
    assert_null(json_object_get(json, "kv_cache_use"));
}

static bool scrape(const struct canned_answer *answers, struct engine_metrics_snapshot *out,
                   struct error *error)
{
    struct endpoint endpoint = { 0 };
    struct canned_server server;
    bool ok;

    canned_start(&server, answers);
    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", server.port);
    ok = engine_metrics_scrape(&endpoint, out, error);
    canned_stop(&server);
    return ok;
}

static void scrapes_a_server_or_reports_why_not(void **state)
{
    static const struct canned_answer known[] = {
        { "/metrics", .type = "text/plain", .body = "vllm:num_requests_running 4\n" }, { NULL }
    };
    static const struct canned_answer unknown[] = {
        { "/metrics", .type = "text/plain", .body = "node_load1 4\n" }, { NULL }
    };
    static const struct canned_answer missing[] = { { NULL } };
    struct engine_metrics_snapshot m;
    struct error error;

    (void)state;
    assert_true(scrape(known, &m, &error));
    NEAR(m.requests_running, 4);
    assert_true(m.at_ms > 1700000000000);
    assert_true(m.at_ns > 0);
    assert_false(scrape(unknown, &m, &error));
    assert_int_equal(error.kind, ERROR_UPSTREAM);
    assert_non_null(strstr(error.message, "no metrics from a known engine"));
    assert_false(scrape(missing, &m, &error));
    assert_non_null(strstr(error.message, "(not_found)"));
}

static void the_metrics_agree_with_what_a_client_received(void **state)
{
    struct simserve server =
        simserve_start((const char *[]){ "--ttft-ms", "30", "--step-ms", "4", NULL });
    const struct query query = { .prompt = "one two three",
                                 .max_tokens = 25,
                                 .temperature = -1,
                                 .chat = true,
                                 .total_timeout_ms = 10000 };
    struct endpoint endpoint = { .model = "simserve/toy" };
    struct engine_metrics_snapshot first, last;
    struct query_result result;
    json_auto_t *between = NULL;
    struct error error;

    (void)state;
    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", server.port);
    assert_true(engine_metrics_scrape(&endpoint, &first, &error));
    assert_true(query_run(&endpoint, &query, &result, &error));
    assert_true(engine_metrics_scrape(&endpoint, &last, &error));
    simserve_stop(&server);
    between = engine_metrics_between(&first, &last);
    assert_false(json_get_boolean(between, "restarted", true));
    NEAR(json_get_number(between, "requests", 0), 1);
    NEAR(json_get_number(between, "output_tokens", 0), 25);
    NEAR(json_get_number(between, "input_tokens", 0), (double)result.prompt_tokens);
    assert_in_range(json_get_number(between, "mean_ttft_ms", 0), 29, 29 + 200);
    assert_true(json_get_number(between, "mean_ttft_ms", 0) <= result.ttft_s * 1000 + 1);
    assert_in_range(json_get_number(between, "mean_itl_ms", 0), 3, 50);
    query_result_finish(&result);
}

static int start(void **state)
{
    struct error error;

    (void)state;
    return outbound_global_init(&error) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derives_the_rates_and_means_for_the_interval),
        cmocka_unit_test(reports_no_means_for_an_interval_without_requests),
        cmocka_unit_test(reports_a_restart_instead_of_rates),
        cmocka_unit_test(a_counter_that_appears_counts_from_zero),
        cmocka_unit_test(a_counter_above_zero_that_disappears_shows_a_restart),
        cmocka_unit_test(writes_the_reported_figures_under_our_names),
        cmocka_unit_test(scrapes_a_server_or_reports_why_not),
        cmocka_unit_test(the_metrics_agree_with_what_a_client_received),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
