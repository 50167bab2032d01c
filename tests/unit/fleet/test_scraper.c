/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/net/outbound.h"
#include "fleet/scraper.h"
#include "store/ledger/deployments.h"
#include "store/ledger/store.h"
#include "tests/unit/support/asleep.h"
#include "tests/unit/support/balancer.h"
#include "tests/unit/support/canned_server.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/scraped.h"
#include "tests/unit/support/test_database.h"

#define DEADLINE_MS 10000

struct fixture {
    char folder[FOLDER_SIZE];
    struct store *store;
    struct access access;
    struct scraper *scraper;
    struct error error;
};

static const struct canned_answer quick[] = {
    { "/metrics", .type = "text/plain",
      .body = "vllm:num_requests_running 4\nvllm:generation_tokens_total 100\n"
              "vllm:e2e_bucket{le=\"+Inf\"} 7\nvllm:odd NaN\n" },
    { NULL },
};
static const struct canned_answer stalled[] = {
    { "/metrics", .type = "text/plain", .body = "vllm:num_requests_running 1\n", .pause_ms = 1500 },
    { NULL },
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    folder_create(f->folder);
    assert_true(store_open(f->folder, test_database(f->folder), 4, &f->store, &f->error));
    f->access = (struct access){ .store = f->store, .secrets_folder = "" };
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    scraper_destroy(f->scraper);
    store_close(f->store);
    folder_remove(f->folder);
    free(f);
    return 0;
}

static int64_t watch(struct fixture *f, const char *name, int port, int64_t interval_ms)
{
    struct deployment deployment = { .labels = "{}", .limits = "{}" }, added;

    snprintf(deployment.name, sizeof deployment.name, "%s", name);
    snprintf(deployment.url, sizeof deployment.url, "http://127.0.0.1:%d", port);
    if (!deployment_add(f->store, &deployment, clock_utc_ms(), NULL, &added, &f->error)
        || !scrape_target_set(f->store, added.id, interval_ms, NULL, &f->error))
        fail_msg("%s", f->error.message);
    return added.id;
}

static struct scraped *read_series(struct fixture *f, int64_t deployment_id, const char *name,
                                   size_t *count)
{
    const struct scrape_range range = { deployment_id, name, 0, INT64_MAX, 1 };
    struct scraped *series = NULL;

    if (!scraped_read(f->store, &range, SCRAPE_RAW, &series, count, &f->error))
        fail_msg("%s", f->error.message);
    return series;
}

static size_t count_points(struct fixture *f, int64_t deployment_id)
{
    size_t count = 0, points = 0;
    struct scraped *series = read_series(f, deployment_id, "requests_running", &count);

    for (size_t i = 0; i < count; i++)
        points += series[i].count;
    scraped_free(series, count);
    return points;
}

static bool wait_for_points(struct fixture *f, int64_t deployment_id, size_t wanted)
{
    int64_t deadline = clock_utc_ms() + DEADLINE_MS;

    while (count_points(f, deployment_id) < wanted) {
        if (clock_utc_ms() > deadline)
            return false;
        usleep(10000);
    }
    return true;
}

static struct scrape_target target_of(struct fixture *f, int64_t deployment_id)
{
    struct scrape_target *targets = NULL, found = { 0 };
    size_t count = 0;

    assert_true(scrape_target_list(f->store, &targets, &count, &f->error));
    for (size_t i = 0; i < count; i++)
        if (targets[i].deployment_id == deployment_id)
            found = targets[i];
    free(targets);
    return found;
}

/* The two instances are distinguished by their start times. */
static void stores_nothing_from_several_instances_that_answer_in_turn(void **state)
{
    static const char *const flags[] = { NULL };
    struct simserve servers[2] = { simserve_start(flags), { 0 } };
    struct fixture *f = *state;
    struct balancer balancer;
    int64_t id, until_ms = clock_utc_ms() + DEADLINE_MS;

    usleep(1100000); /* servers that start within a second of one another look like one */
    servers[1] = simserve_start(flags);
    balancer_start(&balancer, servers);
    id = watch(f, "pool", balancer.port, 100);
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    while (target_of(f, id).last_ms == 0)
        assert_true(clock_utc_ms() < until_ms);
    assert_non_null(strstr(target_of(f, id).last_error, "not stored: several instances"));
    usleep(300000); /* time for further scrapes */
    assert_int_equal(count_points(f, id), 0);
    balancer_stop(&balancer);
    simserve_stop(&servers[0]);
    simserve_stop(&servers[1]);
}

static void stores_what_a_server_reports_at_the_deployments_interval(void **state)
{
    struct fixture *f = *state;
    struct scraped *series = NULL;
    struct canned_server server;
    int64_t id, span_ms;
    size_t count = 0;

    canned_start(&server, quick);
    id = watch(f, "quick", server.port, 100);
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    assert_true(wait_for_points(f, id, 11));
    series = read_series(f, id, "generation_tokens_total", &count);
    assert_int_equal(count, 1);
    assert_float_equal(series[0].points[0].last, 100, 1e-9);
    assert_string_equal(series[0].type, "counter");
    span_ms = series[0].points[10].at_ms - series[0].points[0].at_ms;
    /* 10 intervals of 100 ms: shorter if the first scrape was late, longer on a slow machine */
    assert_in_range(span_ms, 500, 5000);
    scraped_free(series, count);
    assert_string_equal(target_of(f, id).last_error, "");
    series = read_series(f, id, "vllm:e2e_bucket", &count); /* a series from the page itself */
    assert_int_equal(count, 1);
    assert_string_equal(series[0].labels, "le=\"+Inf\"");
    assert_string_equal(series[0].type, "counter");
    scraped_free(series, count);
    canned_stop(&server);
}

static void says_why_a_server_cannot_be_scraped(void **state)
{
    struct fixture *f = *state;
    static const struct canned_answer none[] = { { NULL } };
    struct canned_server server;
    int64_t id, deadline = clock_utc_ms() + DEADLINE_MS;

    canned_start(&server, none);
    id = watch(f, "bare", server.port, 100);
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    while (target_of(f, id).last_error[0] == '\0' && clock_utc_ms() < deadline)
        usleep(10000);
    assert_non_null(strstr(target_of(f, id).last_error, "not_found"));
    assert_int_equal(count_points(f, id), 0);
    canned_stop(&server);
}

static void stores_scrapes_even_if_the_store_has_later_ones(void **state)
{
    struct fixture *f = *state;
    const struct scrape_value value = { "x", "", "gauge", 1 };
    int64_t id, now_ms = clock_utc_ms();
    struct canned_server server;

    canned_start(&server, quick);
    id = watch(f, "ahead", server.port, 100);
    assert_true(scrape_add(f->store, id, now_ms + 7200000, &value, 1, NULL, &f->error));
    assert_true(scrape_compact(f->store, now_ms + 5 * 3600000, &f->error));
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    assert_true(wait_for_points(f, id, 3));
    assert_string_equal(target_of(f, id).last_error, "");
    canned_stop(&server);
}

static void our_figures_are_stored_even_if_the_pages_series_do_not_fit(void **state)
{
    struct fixture *f = *state;
    struct scrape_value *values = calloc(SCRAPE_SERIES_LIMIT, sizeof *values);
    char(*labels)[24] = calloc(SCRAPE_SERIES_LIMIT, sizeof *labels);
    struct scrape_left_out left_out;
    struct scraped *series;
    struct canned_server server;
    size_t count;
    int64_t id;

    canned_start(&server, quick);
    id = watch(f, "full", server.port, 100);
    for (int i = 0; i < SCRAPE_SERIES_LIMIT; i++) {
        snprintf(labels[i], sizeof *labels, "n=\"%d\"", i);
        values[i] = (struct scrape_value){ "x", labels[i], "gauge", i };
    }
    assert_true(scrape_add(f->store, id, 1, values, SCRAPE_SERIES_LIMIT - 2, NULL, &f->error));
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    assert_true(wait_for_points(f, id, 1));
    series = read_series(f, id, "generation_tokens_total", &count);
    assert_int_equal(count, 1);
    scraped_free(series, count);
    assert_true(scrape_left_out_read(f->store, &(struct scrape_range){ id, NULL, 0, INT64_MAX, 1 },
                                     SCRAPE_RAW, &left_out, &f->error));
    assert_int_equal(left_out.by_deployment, 3); /* the series from the page */
    free(values);
    free(labels);
    canned_stop(&server);
}

static void scrapes_the_others_while_one_stalls(void **state)
{
    struct fixture *f = *state;
    struct canned_server slow, fast;
    int64_t slow_id, fast_id;

    canned_start(&slow, stalled);
    canned_start(&fast, quick);
    slow_id = watch(f, "a-slow", slow.port, 100);
    fast_id = watch(f, "b-fast", fast.port, 100);
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    assert_true(wait_for_points(f, slow_id, 1)); /* late, but within its timeout */
    assert_true(count_points(f, fast_id) >= 5);
    scraper_destroy(f->scraper);
    f->scraper = NULL;
    canned_stop(&slow);
    canned_stop(&fast);
}

static void scrapes_new_targets_when_it_is_woken(void **state)
{
    struct fixture *f = *state;
    struct canned_server server;
    int64_t id;

    canned_start(&server, quick);
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    id = watch(f, "late", server.port, 100);
    scraper_wake(f->scraper);
    assert_true(wait_for_points(f, id, 2));
    canned_stop(&server);
}

static void stops_scraping_a_deployment_that_is_retired_or_whose_interval_is_zero(void **state)
{
    struct fixture *f = *state;
    struct canned_server server;
    int64_t first, second;
    size_t asked;

    canned_start(&server, quick);
    first = watch(f, "first", server.port, 100);
    second = watch(f, "second", server.port, 100);
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    assert_true(wait_for_points(f, first, 1) && wait_for_points(f, second, 1));
    assert_true(scrape_target_set(f->store, first, 0, NULL, &f->error));
    assert_true(deployment_retire(f->store, "second", clock_utc_ms(), NULL, &f->error));
    scraper_wake(f->scraper);
    usleep(300000); /* time for scrapes in progress to end */
    asked = canned_count(&server, "/metrics");
    usleep(500000);
    assert_int_equal(canned_count(&server, "/metrics"), asked);
    canned_stop(&server);
}

static void does_not_wake_a_server_that_scales_to_zero(void **state)
{
    struct endpoint_lock lock = { .key = asleep_key, .sleeps = true };
    const struct access_locks locks = { &lock, asleep_find };
    struct fixture *f = *state;
    struct canned_server server;
    int64_t id, deadline = clock_utc_ms() + DEADLINE_MS;

    canned_start(&server, quick);
    f->access.locks = &locks;
    id = watch(f, "asleep", server.port, 100);
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    while (target_of(f, id).last_ms == 0 && clock_utc_ms() < deadline)
        usleep(1000);
    assert_non_null(strstr(target_of(f, id).last_error, "the server scales to zero"));
    assert_int_equal(canned_count(&server, "/metrics"), 0);
    scraper_destroy(f->scraper); /* it uses the locks, which are local variables here */
    f->scraper = NULL;
    canned_stop(&server);
}

static bool fail_to_read_the_key(const struct endpoint_lock *lock, char out[SECRET_VALUE_SIZE],
                                 struct error *error)
{
    (void)lock, (void)out;
    return error_set(error, ERROR_INTERNAL, "the disk is broken");
}

static void logs_why_a_scrape_failed_on_our_side(void **state)
{
    struct endpoint_lock lock = { .key = fail_to_read_the_key };
    const struct access_locks locks = { &lock, asleep_find };
    struct fixture *f = *state;
    int64_t id, deadline = clock_utc_ms() + DEADLINE_MS;
    char logged[1024] = "";
    FILE *file = tmpfile();
    int real = dup(STDERR_FILENO);

    f->access.locks = &locks;
    id = watch(f, "broken", 1, 100);
    dup2(fileno(file), STDERR_FILENO);
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    while (target_of(f, id).last_ms == 0 && clock_utc_ms() < deadline)
        usleep(1000);
    scraper_destroy(f->scraper); /* it uses the locks, which are local variables here */
    f->scraper = NULL;
    dup2(real, STDERR_FILENO);
    close(real);
    rewind(file);
    logged[fread(logged, 1, sizeof logged - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(target_of(f, id).last_error, "not stored: the log says why");
    assert_non_null(strstr(logged, "metrics of broken are not stored: the disk is broken"));
}

static void is_destroyed_promptly_while_a_server_stalls(void **state)
{
    struct fixture *f = *state;
    struct canned_server server;
    int64_t began_ms, deadline = clock_utc_ms() + DEADLINE_MS;

    canned_start(&server, stalled);
    watch(f, "stalled", server.port, 100);
    assert_true(scraper_create(&f->access, &f->scraper, &f->error));
    while (canned_count(&server, "/metrics") == 0 && clock_utc_ms() < deadline)
        usleep(1000);
    began_ms = clock_utc_ms();
    scraper_destroy(f->scraper);
    f->scraper = NULL;
    assert_in_range(clock_utc_ms() - began_ms, 0, 1000);
    canned_stop(&server);
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
        cmocka_unit_test_setup_teardown(stores_nothing_from_several_instances_that_answer_in_turn,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(stores_what_a_server_reports_at_the_deployments_interval,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_why_a_server_cannot_be_scraped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stores_scrapes_even_if_the_store_has_later_ones, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(our_figures_are_stored_even_if_the_pages_series_do_not_fit,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(scrapes_the_others_while_one_stalls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scrapes_new_targets_when_it_is_woken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            stops_scraping_a_deployment_that_is_retired_or_whose_interval_is_zero, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(does_not_wake_a_server_that_scales_to_zero, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(logs_why_a_scrape_failed_on_our_side, set_up, tear_down),
        cmocka_unit_test_setup_teardown(is_destroyed_promptly_while_a_server_stalls, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
