/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what happens to a sweep's cells if the server also works for other clients, restarts,
 * changes its model or refuses requests. */
#include <pthread.h>
#include <stdatomic.h>

#include "fleet/engine_metrics.h"
#include "fleet/query.h"
#include "tests/unit/support/tool_sweeps.h"

#define PATIENCE_MS 60000
#define QUICK "\"input_tokens\":[16],\"output_tokens\":[16],\"window_s\":1,\"warmup_limit_s\":0"

static int set_up(void **state)
{
    static const char *const flags[] = { "--ttft-ms", "20", "--step-ms", "5", NULL };

    world_set_up_with(state, flags, job_kinds);
    return 0;
}

static void start_sweep(struct world *world, const char *concurrency, char sweep[ID_SIZE])
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    text_addf(&arguments, "{\"concurrency\":%s," QUICK "}", concurrency);
    answer = world_ok(world, "sweep_start", text_string(&arguments));
    snprintf(sweep, ID_SIZE, "%s", json_get_text(json_object_get(answer, "sweep"), "id", ""));
}

static void wait_for_sweep(struct world *world, const char *sweep)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"job\":\"%s\",\"wait_s\":50}", sweep);
    world_do(world, "job_show", text_string(&arguments));
}

static json_t *show_sweep(struct world *world, const char *sweep)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"sweep\":\"%s\",\"detail\":true}", sweep);
    return world_ok(world, "sweep_show", text_string(&arguments));
}

static struct endpoint endpoint_of(const struct world *world)
{
    struct endpoint endpoint = { .model = "simserve/toy" };

    text_copy(endpoint.url, sizeof endpoint.url, world->url);
    return endpoint;
}

/* Returns true if the server is running at least two requests. A cell is then being measured, since
 * opsbrain's other requests are sent one at a time. */
static bool is_at_work(const struct world *world)
{
    const struct endpoint endpoint = endpoint_of(world);
    struct engine_metrics_snapshot now;
    struct error ignored;

    return engine_metrics_scrape(&endpoint, &now, &ignored) && now.requests_running > 1;
}

static void wait_until_at_work(const struct world *world)
{
    int64_t until_ms = clock_utc_ms() + PATIENCE_MS;

    while (!is_at_work(world))
        assert_true(clock_utc_ms() < until_ms);
}

static void configure_server(const struct world *world, const char *settings)
{
    struct outbound_response response = { 0 };
    struct error error;
    char url[128];

    snprintf(url, sizeof url, "%s/sim/config", world->url);
    const struct outbound_request request = { .url = url,
                                              .body = settings,
                                              .body_length = strlen(settings) };
    if (!outbound_perform(&request, &response, &error))
        fail_msg("%s", error.message);
    outbound_response_finish(&response);
}

static const json_t *cell_at(const json_t *shown, size_t index)
{
    return json_array_get(json_object_get(shown, "cells"), index);
}

static const char *rejection_reason(const json_t *shown, size_t index)
{
    return json_get_text(json_array_get(json_object_get(shown, "rejected"), index), "reason", "");
}

static void assert_measured(const json_t *cell)
{
    assert_string_equal(json_get_text(cell, "state", ""), "measured");
    assert_true(json_get_number(cell, "success_rate", 0) == 1);
    assert_false(json_get_boolean(cell, "contaminated", false));
}

/* Returns the details of the first cell of the newest run, with at most `scrapes` scrapes. */
static json_t *detail(struct world *world, int scrapes)
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *runs = world_ok(world, "run_list", "{}"), *run = NULL;

    text_addf(&arguments, "{\"run\":\"%s\",\"cell\":0,\"scrapes\":%d}",
              json_get_text(json_array_get(json_object_get(runs, "runs"), 0), "id", ""), scrapes);
    run = world_ok(world, "run_show", text_string(&arguments));
    return json_incref(json_object_get(run, "detail"));
}

static void undisturbed_cells_are_not_marked_and_their_scrapes_are_kept(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    json_auto_t *shown = NULL, *all = NULL, *two = NULL;
    const json_t *counts, *series;

    start_sweep(world, "[1,4]", sweep);
    wait_for_sweep(world, sweep);
    shown = show_sweep(world, sweep);
    for (size_t i = 0; i < 2; i++) {
        assert_measured(cell_at(shown, i));
        assert_int_equal(json_get_integer(cell_at(shown, i), "attempts", 0), 1);
    }
    all = detail(world, 2000);
    counts = json_object_get(json_object_get(all, "witness"), "counts");
    assert_string_equal(json_get_text(json_object_get(all, "witness"), "state", ""), "full");
    assert_true(json_get_number(json_object_get(counts, "requests"), "ratio", 0) == 1);
    assert_true(json_get_number(json_object_get(counts, "output_tokens"), "ratio", 0) == 1);
    series = json_object_get(all, "series");
    assert_true(json_array_size(json_object_get(series, "at_ms")) >= 5);
    assert_int_equal(json_array_size(json_object_get(series, "requests_running")),
                     json_array_size(json_object_get(series, "at_ms")));
    world_says(world, "The server's metrics during this cell");
    two = detail(world, 2);
    series = json_object_get(two, "series");
    assert_int_equal(json_array_size(json_object_get(series, "at_ms")), 2);
    assert_true(json_equal(
        json_array_get(json_object_get(series, "at_ms"), 1),
        json_array_get(json_object_get(json_object_get(all, "series"), "at_ms"),
                       json_array_size(json_object_get(json_object_get(all, "series"), "at_ms"))
                           - 1)));
}

/* Another client, which sends one request after another while the server is busy. */
struct other_client {
    struct world *world;
    pthread_t thread;
    atomic_bool over;
};

static void *disturb(void *context)
{
    const struct query query = {
        .prompt = "one two", .max_tokens = 4, .temperature = -1, .total_timeout_ms = 20000
    };
    struct other_client *other = context;
    const struct endpoint endpoint = endpoint_of(other->world);
    struct query_result result;
    struct error ignored;

    for (; !atomic_load(&other->over); usleep(20000)) {
        if (!is_at_work(other->world))
            continue;
        /* whether the query succeeds does not matter */
        error_ignore(query_run(&endpoint, &query, &result, &ignored));
        query_result_finish(&result);
    }
    return NULL;
}

static void a_disturbed_cell_is_measured_again_without_the_disturbance(void **state)
{
    struct world *world = *state;
    struct other_client other = { .world = world };
    char sweep[ID_SIZE];
    json_auto_t *shown = NULL;

    start_sweep(world, "[2]", sweep);
    assert_int_equal(pthread_create(&other.thread, NULL, disturb, &other), 0);
    for (shown = show_sweep(world, sweep); rejection_reason(shown, 0)[0] == '\0'; usleep(50000)) {
        json_decref(shown);
        shown = show_sweep(world, sweep);
        assert_string_not_equal(json_get_text(cell_at(shown, 0), "state", ""), "measured");
    }
    atomic_store(&other.over, true);
    pthread_join(other.thread, NULL);
    wait_for_sweep(world, sweep);
    json_decref(shown);
    shown = show_sweep(world, sweep);
    assert_non_null(
        strstr(rejection_reason(shown, 0), "the server also worked for other clients: "));
    world_says(world, "Rejected attempts (they do not count): ");
    assert_measured(cell_at(shown, 0));
    assert_true(json_get_integer(cell_at(shown, 0), "attempts", 0) >= 2);
}

static void an_attempt_with_a_restart_is_rejected_and_the_cell_is_measured_again(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], address[32];
    json_auto_t *shown = NULL;

    snprintf(address, sizeof address, "127.0.0.1:%d", world->simserve.port);
    start_sweep(world, "[2]", sweep);
    wait_until_at_work(world);
    simserve_stop(&world->simserve);
    usleep(1100000); /* servers that start within one second cannot be told apart */
    world->simserve = simserve_start((const char *[]){ "--listen", address, NULL });
    wait_for_sweep(world, sweep);
    shown = show_sweep(world, sweep);
    assert_non_null(
        strstr(rejection_reason(shown, 0), "the server restarted during the measurement"));
    assert_measured(cell_at(shown, 0));
}

/* Checks that the job failed: no cell was measured, and none can be measured until somebody changes
 * the model back. */
static void assert_job_failed(struct world *world, const char *sweep)
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *shown = NULL;

    text_addf(&arguments, "{\"job\":\"%s\"}", sweep);
    shown = world_ok(world, "job_show", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(shown, "job"), "state", ""), "failed");
    world_says(world, "has failed, 0 of 2 cells: the model changed during the measurement");
}

static void a_model_change_during_a_cell_stops_the_sweep(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    json_auto_t *shown = NULL;

    start_sweep(world, "[2,4]", sweep);
    wait_until_at_work(world);
    configure_server(world, "{\"max_model_len\":4096}");
    wait_for_sweep(world, sweep);
    shown = show_sweep(world, sweep);
    assert_string_equal(json_get_text(json_object_get(shown, "sweep"), "state", ""), "stopped");
    world_says(world,
               "the model changed during the measurement: simserve/toy (context 32768), then "
               "simserve/toy (context 4096)");
    assert_job_failed(world, sweep);
    assert_string_equal(json_get_text(cell_at(shown, 0), "state", ""), "pending");
    assert_string_equal(json_get_text(cell_at(shown, 1), "state", ""), "pending");
}

static void a_cell_fails_or_has_a_lower_success_rate_if_the_server_refuses_requests(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    json_auto_t *shown = NULL;

    start_sweep(world, "[2]", sweep);
    wait_until_at_work(world);
    configure_server(world, "{\"faults\":{\"unavailable\":{\"probability\":1}}}");
    wait_for_sweep(world, sweep);
    shown = show_sweep(world, sweep);
    if (strcmp(json_get_text(cell_at(shown, 0), "state", ""), "measured") == 0)
        assert_true(json_get_number(cell_at(shown, 0), "success_rate", 1) < 0.99);
    else
        assert_non_null(strstr(json_get_text(cell_at(shown, 0), "reason", ""), "overloaded_503"));
    assert_false(json_get_boolean(cell_at(shown, 0), "contaminated", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undisturbed_cells_are_not_marked_and_their_scrapes_are_kept),
        cmocka_unit_test(a_disturbed_cell_is_measured_again_without_the_disturbance),
        cmocka_unit_test(an_attempt_with_a_restart_is_rejected_and_the_cell_is_measured_again),
        cmocka_unit_test(a_model_change_during_a_cell_stops_the_sweep),
        cmocka_unit_test(a_cell_fails_or_has_a_lower_success_rate_if_the_server_refuses_requests),
    };

    return world_run_all(tests, sizeof tests / sizeof tests[0], set_up);
}
