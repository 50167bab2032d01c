/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the server monitor against simulated model servers: its verdict on an attempt to measure
 * a cell, for example when other clients use the server at the same time. */
#include "fleet/server_monitor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/query.h"
#include "tests/simserve/harness/simserve.h"
#include "tests/unit/support/balancer.h"
#include "tests/unit/support/canned_server.h"

#define RUNNING "vllm:num_requests_running{engine=\"0\",model_name=\"simserve/toy\"} "
#define NEAR(a, b) assert_float_equal((a), (b), 1e-6)

static const char *const quick[] = { "--ttft-ms", "5", "--step-ms", "2", NULL };
static const char *const slow[] = { "--ttft-ms", "5", "--step-ms", "20", NULL };

/* An attempt, whose requests the test sends itself, and the cross-check of the attempt. */
struct scene {
    struct simserve server;
    struct endpoint endpoint;
    struct server_monitor *monitor;
    struct cell_result result;
    struct cross_check check;
    json_t *json;
};

static bool never_stops(void *context, const char *doing)
{
    (void)context;
    (void)doing;
    return false;
}

static bool is_stopped(void *context, const char *doing)
{
    (void)context;
    (void)doing;
    return true;
}

static void begin_watched(struct scene *scene, int port, int64_t instances,
                          const struct monitor_watch *watch)
{
    scene->endpoint = (struct endpoint){ .model = "simserve/toy" };
    snprintf(scene->endpoint.url, sizeof scene->endpoint.url, "http://127.0.0.1:%d", port);
    scene->result = (struct cell_result){ .state = CELL_MEASURED };
    scene->result.measurement.success_rate = 1;
    scene->result.measurement.window_start_ms = clock_utc_ms();
    scene->monitor = server_monitor_begin(&scene->endpoint, instances, watch);
}

static void begin_on(struct scene *scene, int port, int64_t instances)
{
    const struct monitor_watch watch = { never_stops, NULL };

    begin_watched(scene, port, instances, &watch);
}

static struct scene begin(const char *const *flags)
{
    struct scene scene = { .server = simserve_start(flags) };

    begin_on(&scene, scene.server.port, 0);
    return scene;
}

/* Sends one of the attempt's requests (`ours`), or a request from another client. */
static void ask(struct scene *scene, bool ours, int64_t max_tokens)
{
    const struct query query = { .prompt = "one two three",
                                 .max_tokens = max_tokens,
                                 .temperature = -1,
                                 .chat = true,
                                 .total_timeout_ms = 20000 };
    struct sent *sent = &scene->result.sent;
    struct query_result result;
    struct error error;

    if (!query_run(&scene->endpoint, &query, &result, &error))
        fail_msg("%s", error.message);
    if (ours) {
        sent->requests++;
        sent->input_tokens += result.prompt_tokens;
        sent->output_tokens += result.completion_tokens;
    }
    query_result_finish(&result);
}

static void end(struct scene *scene)
{
    struct measurement *measurement = &scene->result.measurement;

    measurement->window_s = (double)(clock_utc_ms() - measurement->window_start_ms) / 1000;
    server_monitor_end(scene->monitor, &scene->result, &scene->check);
    scene->json = json_loads(scene->check.json, 0, NULL);
    assert_non_null(scene->json);
}

static void leave(struct scene *scene)
{
    json_decref(scene->json);
    cross_check_finish(&scene->check);
    if (scene->server.pid != 0)
        simserve_stop(&scene->server);
}

static const char *text_of(const struct scene *scene, const char *name)
{
    return json_get_text(scene->json, name, "");
}

static const json_t *count_of(const struct scene *scene, const char *name)
{
    return json_object_get(json_object_get(scene->json, "counts"), name);
}

static void assert_clean(const struct scene *scene)
{
    if (scene->check.verdict != CROSS_CHECK_NOTHING || strcmp(text_of(scene, "state"), "full") != 0)
        fail_msg("%s", scene->check.json);
    assert_false(json_get_boolean(scene->json, "contaminated", true));
    assert_false(json_get_boolean(scene->json, "restarted", true));
}

static void the_counts_agree_to_the_token_with_what_was_sent(void **state)
{
    struct scene scene = begin(quick);

    (void)state;
    for (int i = 0; i < 5; i++)
        ask(&scene, true, 10);
    end(&scene);
    assert_clean(&scene);
    NEAR(json_get_number(count_of(&scene, "requests"), "server", -1), 5);
    NEAR(json_get_number(count_of(&scene, "requests"), "ours", -1), 5);
    NEAR(json_get_number(count_of(&scene, "output_tokens"), "server", -1), 50);
    NEAR(json_get_number(count_of(&scene, "input_tokens"), "ratio", -1), 1);
    NEAR(json_get_number(count_of(&scene, "requests"), "foreign", -1), 0);
    assert_string_equal(text_of(&scene, "model"), "simserve/toy (context 32768)");
    assert_string_equal(scene.check.served, "simserve/toy (context 32768)");
    leave(&scene);
}

static void one_request_from_another_client_is_detected(void **state)
{
    struct scene scene = begin(quick);

    (void)state;
    for (int i = 0; i < 20; i++)
        ask(&scene, true, 4);
    ask(&scene, false, 4);
    end(&scene);
    assert_int_equal(scene.check.verdict, CROSS_CHECK_CONTAMINATED);
    assert_non_null(strstr(scene.check.reason, "1 request"));
    assert_true(json_get_boolean(scene.json, "contaminated", false));
    NEAR(json_get_number(count_of(&scene, "requests"), "foreign", -1), 1);
    leave(&scene);
}

/* With lazy counters the server has no counters before its first request. */
static void counters_that_appear_during_the_attempt_count_from_zero(void **state)
{
    static const char *const lazy[] = { "--ttft-ms",       "5",    "--step-ms", "2",
                                        "--lazy-counters", "true", NULL };
    struct scene scene = begin(lazy);

    (void)state;
    for (int i = 0; i < 5; i++)
        ask(&scene, true, 10);
    end(&scene);
    assert_clean(&scene);
    NEAR(json_get_number(count_of(&scene, "requests"), "server", -1), 5);
    NEAR(json_get_number(count_of(&scene, "output_tokens"), "server", -1), 50);
    leave(&scene);
    scene = begin(lazy);
    ask(&scene, true, 4);
    ask(&scene, false, 4);
    end(&scene);
    assert_int_equal(scene.check.verdict, CROSS_CHECK_CONTAMINATED);
    NEAR(json_get_number(count_of(&scene, "requests"), "foreign", -1), 1);
    leave(&scene);
}

/* The server might or might not have counted requests of ours that were cut off, so an excess that
 * they can explain does not prove that there are other clients. */
static void requests_that_were_cut_off_explain_only_a_limited_excess(void **state)
{
    struct scene scene = begin(quick);

    (void)state;
    ask(&scene, true, 4);
    ask(&scene, false, 4); /* stands for one of ours that was cut off */
    scene.result.sent.more_requests = 1;
    scene.result.sent.more_input_tokens = 100;
    scene.result.sent.more_output_tokens = 4;
    end(&scene);
    assert_clean(&scene);
    leave(&scene);
    scene = begin(quick);
    ask(&scene, true, 4);
    ask(&scene, false, 4);
    ask(&scene, false, 4);
    scene.result.sent.more_requests = 1;
    scene.result.sent.more_input_tokens = 100;
    scene.result.sent.more_output_tokens = 4;
    end(&scene);
    assert_int_equal(scene.check.verdict, CROSS_CHECK_CONTAMINATED);
    leave(&scene);
}

static void *ask_long(void *context)
{
    struct scene other = *(struct scene *)context;

    ask(&other, false, 100); /* takes two seconds */
    return NULL;
}

/* If many of our requests were cut off, they can explain an excess in the counts, but not that
 * eight requests run at the same time. */
static void the_concurrency_shows_other_clients_even_if_the_counts_do_not(void **state)
{
    struct scene scene = begin(slow);
    pthread_t others[8];

    (void)state;
    scene.result.measurement.concurrency_max = 1;
    scene.result.sent.more_requests = 100;
    scene.result.sent.more_input_tokens = scene.result.sent.more_output_tokens = 100000;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&others[i], NULL, ask_long, &scene), 0);
    simserve_wait_metric(&scene.server, RUNNING, 8);
    scene.result.measurement.window_start_ms = clock_utc_ms();
    for (int i = 0; i < 8; i++)
        pthread_join(others[i], NULL);
    end(&scene);
    if (scene.check.verdict != CROSS_CHECK_CONTAMINATED)
        fail_msg("%s", scene.check.json);
    assert_non_null(strstr(scene.check.reason, "opsbrain never had more than 1 open"));
    leave(&scene);
}

static void waits_until_other_clients_are_done_before_it_begins(void **state)
{
    struct scene other = { .server = simserve_start(slow) }, scene = { 0 };
    pthread_t thread;

    (void)state;
    snprintf(other.endpoint.url, sizeof other.endpoint.url, "http://127.0.0.1:%d",
             other.server.port);
    snprintf(other.endpoint.model, sizeof other.endpoint.model, "simserve/toy");
    assert_int_equal(pthread_create(&thread, NULL, ask_long, &other), 0);
    simserve_wait_metric(&other.server, RUNNING, 1);
    begin_on(&scene, other.server.port, 0);
    pthread_join(thread, NULL);
    ask(&scene, true, 4);
    end(&scene);
    assert_clean(&scene);
    leave(&scene);
    simserve_stop(&other.server);
}

static void reports_the_windows_metrics_under_opsbrains_names(void **state)
{
    struct scene scene = begin(
        (const char *[]){ "--ttft-ms", "30", "--step-ms", "20", "--tokens-per-chunk", "3", NULL });
    json_auto_t *series = NULL;
    const json_t *positions;

    (void)state;
    for (int i = 0; i < 4; i++)
        ask(&scene, true, 61);
    scene.result.measurement.latency[METRIC_TTFT] =
        (struct latency_summary){ .count = 4, .mean_ms = 1000 };
    end(&scene);
    assert_clean(&scene);
    assert_string_equal(text_of(&scene, "of"), "window");
    assert_true(json_get_integer(scene.json, "scrapes", 0) >= 2);
    NEAR(json_get_number(scene.json, "requests_running_max", -1), 1);
    assert_true(json_get_number(scene.json, "requests_running_mean", -1) > 0);
    NEAR(json_get_number(scene.json, "requests_waiting_max", -1), 0);
    assert_true(json_get_number(scene.json, "kv_cache_use_max", -1) > 0);
    NEAR(json_get_number(scene.json, "preemptions", -1), 0);
    NEAR(json_get_number(scene.json, "acceptance_length", -1), 3);
    NEAR(json_get_number(scene.json, "acceptance_rate", -1), 1);
    positions = json_object_get(scene.json, "acceptance_by_position");
    assert_int_equal(json_array_size(positions), 2);
    NEAR(json_number_value(json_array_get(positions, 1)), 1);
    assert_true(json_get_number(scene.json, "mean_ttft_ms", 0) >= 29);
    NEAR(json_get_number(scene.json, "client_more_ttft_ms", 0),
         1000 - json_get_number(scene.json, "mean_ttft_ms", 0));
    assert_true(scene.check.series_scrapes >= 5);
    assert_non_null(scene.check.series);
    leave(&scene);
}

static void a_restart_is_reported_as_a_restart(void **state)
{
    struct scene scene = begin(quick);
    char address[32];

    (void)state;
    ask(&scene, true, 4);
    usleep(1100000); /* servers that start within a second of one another look like one */
    snprintf(address, sizeof address, "127.0.0.1:%d", scene.server.port);
    simserve_stop(&scene.server);
    scene.server = simserve_start((const char *[]){ "--listen", address, NULL });
    ask(&scene, true, 4);
    end(&scene);
    assert_int_equal(scene.check.verdict, CROSS_CHECK_RESTARTED);
    assert_true(json_get_boolean(scene.json, "restarted", false));
    assert_string_equal(text_of(&scene, "state"), "partial");
    assert_null(json_object_get(scene.json, "counts"));
    leave(&scene);
}

/* Copies `doing` to the string `context`, and stops the wait at the first `doing` that says that
 * there is no answer. The string then no longer changes. */
static bool stops_without_answer(void *context, const char *doing)
{
    if (strstr(context, "no answer") == NULL)
        text_copy(context, 128, doing);
    return strstr(context, "no answer") != NULL;
}

static void says_how_long_it_waits_for_a_server_to_return(void **state)
{
    static const struct {
        enum cell_state cell;
        const char *words;
    } rows[] = {
        { CELL_FAILED, "no answer, waiting up to 60 s for the model server" },
        { CELL_MEASURED, "no answer, waiting up to 2 s for the model server" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene scene = { .server = simserve_start(quick) };
        char doing[128] = "";
        const struct monitor_watch watch = { stops_without_answer, doing };

        begin_watched(&scene, scene.server.port, 0, &watch);
        assert_string_equal(doing, "waiting for the server to be idle");
        simserve_stop(&scene.server);
        scene.server.pid = 0;
        scene.result.state = rows[i].cell;
        server_monitor_end(scene.monitor, &scene.result, &scene.check);
        assert_string_equal(doing, rows[i].words);
        leave(&scene);
    }
}

static void configure(const struct scene *scene, const char *settings)
{
    json_decref(simserve_json(&scene->server, "POST", "/sim/config", settings, 200));
}

static void a_different_model_is_recognized_by_its_name_or_its_context(void **state)
{
    static const char *const changes[] = { "{\"model\":\"other/toy\"}", "{\"max_model_len\":99}" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct scene scene = begin(quick);

        ask(&scene, true, 4);
        configure(&scene, changes[i]);
        end(&scene);
        assert_int_equal(scene.check.verdict, CROSS_CHECK_OTHER_MODEL);
        assert_non_null(strstr(scene.check.reason, i == 0 ? "other/toy" : "(context 99)"));
        leave(&scene);
    }
}

static void without_metrics_the_check_is_absent_and_says_why(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models", .body = "{\"data\":[{\"id\":\"llama3\"}]}" }, { NULL }
    };
    struct canned_server server;
    struct scene scene = { 0 };

    (void)state;
    canned_start(&server, answers);
    begin_on(&scene, server.port, 0);
    scene.result.sent.requests = 7;
    end(&scene);
    assert_int_equal(scene.check.verdict, CROSS_CHECK_NOTHING);
    assert_string_equal(text_of(&scene, "state"), "absent");
    assert_non_null(strstr(text_of(&scene, "why"), "not_found"));
    assert_string_equal(scene.check.served, "llama3");
    assert_null(scene.check.series);
    leave(&scene);
    canned_stop(&server);
}

static void a_model_missing_from_a_list_of_several_is_reported(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models", .body = "{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"}]}" }, { NULL }
    };
    struct canned_server server;
    struct scene scene = { 0 };

    (void)state;
    canned_start(&server, answers);
    begin_on(&scene, server.port, 0);
    end(&scene);
    assert_int_equal(scene.check.verdict, CROSS_CHECK_NOTHING);
    assert_string_equal(scene.check.served, "simserve/toy (not listed)");
    leave(&scene);
    canned_stop(&server);
}

/* Two servers that answer in turn at one address. One of them has answered requests before. */
struct pool {
    struct simserve servers[2];
    struct balancer balancer;
    struct scene scene;
};

static void start_pool(struct pool *pool, const char *const *flags)
{
    struct scene *scene = &pool->scene;

    *pool = (struct pool){ .servers = { simserve_start(flags), simserve_start(flags) } };
    snprintf(scene->endpoint.url, sizeof scene->endpoint.url, "http://127.0.0.1:%d",
             pool->servers[0].port);
    snprintf(scene->endpoint.model, sizeof scene->endpoint.model, "simserve/toy");
    for (int i = 0; i < 4; i++) /* so that the two servers' counters differ */
        ask(scene, false, 4);
    balancer_start(&pool->balancer, pool->servers);
}

static void begin_behind_a_balancer(struct pool *pool)
{
    start_pool(pool, quick);
    begin_on(&pool->scene, pool->balancer.port, 0);
}

static void leave_pool(struct pool *pool)
{
    leave(&pool->scene);
    balancer_stop(&pool->balancer);
    simserve_stop(&pool->servers[0]);
    simserve_stop(&pool->servers[1]);
}

static void the_counters_of_all_instances_behind_a_balancer_are_added_up(void **state)
{
    struct pool pool;

    (void)state;
    begin_behind_a_balancer(&pool);
    for (int i = 0; i < 5; i++)
        ask(&pool.scene, true, 4);
    end(&pool.scene);
    assert_clean(&pool.scene);
    assert_int_equal(json_get_integer(pool.scene.json, "instances", 0), 2);
    NEAR(json_get_number(count_of(&pool.scene, "requests"), "server", -1), 5);
    NEAR(json_get_number(count_of(&pool.scene, "output_tokens"), "server", -1), 20);
    /* two scrapes can come from different servers, so no rates are reported */
    assert_null(json_object_get(pool.scene.json, "output_tokens_per_s"));
    leave_pool(&pool);
}

static void another_clients_request_behind_a_balancer_is_detected(void **state)
{
    struct pool pool;

    (void)state;
    begin_behind_a_balancer(&pool);
    for (int i = 0; i < 10; i++)
        ask(&pool.scene, true, 4);
    ask(&pool.scene, false, 4);
    end(&pool.scene);
    assert_int_equal(pool.scene.check.verdict, CROSS_CHECK_CONTAMINATED);
    NEAR(json_get_number(count_of(&pool.scene, "requests"), "foreign", -1), 1);
    leave_pool(&pool);
}

static void waits_until_all_instances_behind_a_balancer_are_idle(void **state)
{
    struct scene other = { 0 };
    struct pool pool;
    pthread_t thread;

    (void)state;
    start_pool(&pool, slow);
    other = pool.scene;
    assert_int_equal(pthread_create(&thread, NULL, ask_long, &other), 0);
    simserve_wait_metric(&pool.servers[0], RUNNING, 1);
    begin_on(&pool.scene, pool.balancer.port, 0);
    pthread_join(thread, NULL);
    ask(&pool.scene, true, 4);
    end(&pool.scene);
    assert_clean(&pool.scene);
    leave_pool(&pool);
}

static void a_replaced_instance_behind_a_balancer_makes_the_check_partial(void **state)
{
    struct pool pool;
    char address[32];

    (void)state;
    begin_behind_a_balancer(&pool);
    ask(&pool.scene, true, 4);
    usleep(1100000); /* servers that start within a second of one another look like one */
    snprintf(address, sizeof address, "127.0.0.1:%d", pool.servers[0].port);
    simserve_stop(&pool.servers[0]);
    pool.servers[0] = simserve_start((const char *[]){ "--listen", address, NULL });
    for (int i = 0; i < 4; i++)
        ask(&pool.scene, true, 4);
    end(&pool.scene);
    assert_int_equal(pool.scene.check.verdict, CROSS_CHECK_NOTHING);
    assert_string_equal(text_of(&pool.scene, "state"), "partial");
    assert_non_null(strstr(text_of(&pool.scene, "why"), "several instances answer in turn"));
    assert_null(json_object_get(pool.scene.json, "counts"));
    leave_pool(&pool);
}

static void an_excess_is_not_reported_if_there_might_be_more_instances(void **state)
{
    struct scene scene = { .server = simserve_start(quick) };

    (void)state;
    begin_on(&scene, scene.server.port, 3);
    ask(&scene, true, 4);
    ask(&scene, false, 4);
    end(&scene);
    assert_int_equal(scene.check.verdict, CROSS_CHECK_NOTHING);
    assert_string_equal(text_of(&scene, "state"), "partial");
    leave(&scene);
}

static void counters_from_only_some_instances_make_the_check_partial(void **state)
{
    struct scene scene = begin(quick);

    (void)state;
    for (int i = 0; i < 2; i++)
        ask(&scene, true, 4);
    scene.result.sent.requests += 4; /* these went to another instance */
    scene.result.sent.output_tokens += 16;
    end(&scene);
    assert_int_equal(scene.check.verdict, CROSS_CHECK_NOTHING);
    assert_string_equal(text_of(&scene, "state"), "partial");
    assert_non_null(strstr(text_of(&scene, "why"), "far less"));
    leave(&scene);
}

static void an_interrupted_attempt_reports_nothing(void **state)
{
    const struct monitor_watch watch = { is_stopped, NULL };
    struct scene scene = { .server = simserve_start(quick) };

    (void)state;
    snprintf(scene.endpoint.url, sizeof scene.endpoint.url, "http://127.0.0.1:%d",
             scene.server.port);
    scene.monitor = server_monitor_begin(&scene.endpoint, 0, &watch);
    server_monitor_end(scene.monitor, NULL, &scene.check);
    assert_null(scene.check.json);
    assert_int_equal(scene.check.verdict, CROSS_CHECK_NOTHING);
    leave(&scene);
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
        cmocka_unit_test(the_counts_agree_to_the_token_with_what_was_sent),
        cmocka_unit_test(one_request_from_another_client_is_detected),
        cmocka_unit_test(counters_that_appear_during_the_attempt_count_from_zero),
        cmocka_unit_test(requests_that_were_cut_off_explain_only_a_limited_excess),
        cmocka_unit_test(the_concurrency_shows_other_clients_even_if_the_counts_do_not),
        cmocka_unit_test(waits_until_other_clients_are_done_before_it_begins),
        cmocka_unit_test(reports_the_windows_metrics_under_opsbrains_names),
        cmocka_unit_test(a_restart_is_reported_as_a_restart),
        cmocka_unit_test(says_how_long_it_waits_for_a_server_to_return),
        cmocka_unit_test(a_different_model_is_recognized_by_its_name_or_its_context),
        cmocka_unit_test(without_metrics_the_check_is_absent_and_says_why),
        cmocka_unit_test(a_model_missing_from_a_list_of_several_is_reported),
        cmocka_unit_test(the_counters_of_all_instances_behind_a_balancer_are_added_up),
        cmocka_unit_test(another_clients_request_behind_a_balancer_is_detected),
        cmocka_unit_test(waits_until_all_instances_behind_a_balancer_are_idle),
        cmocka_unit_test(a_replaced_instance_behind_a_balancer_makes_the_check_partial),
        cmocka_unit_test(an_excess_is_not_reported_if_there_might_be_more_instances),
        cmocka_unit_test(counters_from_only_some_instances_make_the_check_partial),
        cmocka_unit_test(an_interrupted_attempt_reports_nothing),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
