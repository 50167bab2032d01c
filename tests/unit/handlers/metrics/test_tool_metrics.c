/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of metrics_show and metrics_watch, and of what metrics_history and deployment_show say
 * about values that were not stored. */
#include "base/core/clock.h"
#include "store/ledger/store.h"
#include "store/series/scrapes.h"
#include "tests/unit/support/balancer.h"
#include "tests/unit/support/tool_world.h"

static void shows_current_figures_and_rates(void **state)
{
    struct world *world = *state;
    json_auto_t *one = NULL, *two = NULL;

    world_register(world, "demo");
    world_do(world, "model_query", "{\"prompt\":\"hello\",\"max_tokens\":8}");
    one = world_ok(world, "metrics_show", "{\"interval_s\":0}");
    assert_true(json_get_number(json_object_get(one, "now"), "generation_tokens_total", 0) == 8);
    assert_null(json_object_get(one, "rates"));
    two = world_ok(world, "metrics_show", "{\"interval_s\":0.2}");
    assert_true(json_get_number(json_object_get(two, "rates"), "seconds", 0) >= 0.2);
    assert_true(json_get_number(json_object_get(two, "rates"), "output_tokens_per_s", -1) == 0);
    world_says(world, "generation_tokens_total");
}

static void fails_while_the_server_is_down(void **state)
{
    struct world *world = *state;

    world_do(world, "deployment_register", "{\"name\":\"off\",\"url\":\"http://127.0.0.1:1\"}");
    world_refused(world, "metrics_show", "{}", ERROR_UPSTREAM, "connect_refused");
}

static void stops_waiting_for_the_second_scrape_when_cancelled(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world->cancel_after = 0;
    world_refused(world, "metrics_show", "{\"interval_s\":30}", ERROR_CANCELLED, "cancelled");
}

static struct scrape_target target(struct world *world)
{
    struct scrape_target *targets, found = { 0 };
    size_t count;

    assert_true(scrape_target_list(world->services.store, &targets, &count, &world->error));
    if (count > 0)
        found = targets[0];
    free(targets);
    return found;
}

static void metrics_watch_sets_the_scrape_interval(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    answer = world_ok(world, "metrics_watch", "{\"interval_s\":7}");
    assert_int_equal(json_get_integer(answer, "interval_s", 0), 7);
    assert_int_equal(target(world).interval_ms, 7000);
    world_audited(world, "metrics_watch", "ok", "demo");
    world_do(world, "metrics_watch", "{\"interval_s\":0}");
    assert_int_equal(target(world).interval_ms, 0);
    world_refused(world, "metrics_watch", "{\"interval_s\":-1}", ERROR_INVALID,
                  "\"interval_s\" is -1: it must be from 0 to 86400");
}

static void says_at_once_that_a_server_cannot_be_scraped(void **state)
{
    struct world *world = *state;
    json_auto_t *good = NULL, *off = NULL;

    world_register(world, "demo");
    good = world_ok(world, "metrics_watch", "{\"deployment\":\"demo\"}");
    assert_null(json_object_get(good, "problem"));
    world_do(world, "deployment_register", "{\"name\":\"off\",\"url\":\"http://127.0.0.1:1\"}");
    off = world_ok(world, "metrics_watch", "{\"deployment\":\"off\",\"interval_s\":7}");
    assert_int_equal(json_get_integer(off, "interval_s", 0), 7);
    assert_non_null(strstr(json_get_text(off, "problem", ""), "connect_refused"));
    world_says(world, "No metrics of off can be stored now: the server's metrics cannot be read");
    world_says(world, "Scraping is retried every 7 s.");
}

static void assert_note(struct world *world, const char *words)
{
    json_auto_t *answer = world_ok(world, "metrics_history", "{\"deployment\":\"off\"}");

    if (strstr(json_get_text(answer, "note", ""), words) == NULL)
        fail_msg("the note does not contain \"%s\": %s", words, json_get_text(answer, "note", ""));
    world_says(world, words);
    world_says(world, "There are no values for this period.");
}

static void says_why_nothing_was_stored(void **state)
{
    struct world *world = *state;

    world_do(world, "deployment_register", "{\"name\":\"off\",\"url\":\"http://127.0.0.1:1\"}");
    assert_note(world, "The deployment is not watched.");
    world_do(world, "metrics_watch", "{\"deployment\":\"off\",\"interval_s\":86400}");
    for (int i = 0; i < 500 && target(world).last_error[0] == '\0'; i++)
        usleep(10000); /* the first scrape is attempted at once */
    assert_note(world, "failed: the server's metrics cannot be read: 127.0.0.1:");
    world_do(world, "metrics_watch", "{\"deployment\":\"off\",\"interval_s\":0}");
    assert_note(world, "The deployment is not watched.");
}

/* A load balancer passes connections to two servers in turn. One query makes their counters
 * differ. */
static void shows_no_rates_when_several_instances_answer_in_turn(void **state)
{
    static const char *const quick[] = { "--ttft-ms", "5", "--step-ms", "2", NULL };
    struct world *world = *state;
    struct simserve servers[2] = { world->simserve, simserve_start(quick) };
    struct balancer balancer;
    json_auto_t *now = NULL, *watch = NULL;

    balancer_start(&balancer, servers);
    snprintf(world->url, sizeof world->url, "http://127.0.0.1:%d", balancer.port);
    world_register(world, "demo");
    world_do(world, "model_query", "{\"prompt\":\"hello\",\"max_tokens\":8}");
    now = world_ok(world, "metrics_show", "{\"interval_s\":0.2}");
    assert_null(json_object_get(now, "rates"));
    assert_non_null(strstr(json_get_text(now, "note", ""), "several instances answer in turn"));
    world_says(world, "No rates: several instances");
    watch = world_ok(world, "metrics_watch", "{}");
    if (strstr(json_get_text(watch, "problem", ""), "several instances") == NULL)
        fail_msg("%s", text_string(&world->text));
    balancer_stop(&balancer);
    simserve_stop(&servers[1]);
}

/* Waits up to 30 s for a scrape at `from_ms` or later; returns whether there was one. */
static bool wait_for_scrape(struct world *world, int64_t from_ms)
{
    int64_t deadline_ms = clock_utc_ms() + 30000;

    while (target(world).last_ms < from_ms && clock_utc_ms() < deadline_ms)
        usleep(10000);
    return target(world).last_ms >= from_ms;
}

static void says_how_many_series_are_not_stored_and_why(void **state)
{
    struct world *world = *state;
    const struct scrape_value value = { "requests_running", "", "gauge", 1 };
    struct scrape_left_out left_out = { .by_page = 12 };
    json_auto_t *history = NULL, *shown = NULL;
    int64_t at_ms;

    world_register(world, "demo");
    world_do(world, "metrics_watch", "{\"interval_s\":3600}");
    assert_true(wait_for_scrape(world, 1)); /* the next scrape is due in an hour */
    at_ms = target(world).last_ms + 1;
    assert_true(scrape_add(world->services.store, target(world).deployment_id, at_ms, &value, 1,
                           &left_out, &world->error));
    history = world_ok(world, "metrics_history", "{}");
    world_says(world,
               "12 series from a scrape are not stored: 12 beyond the first 2000 on the page.");
    assert_non_null(strstr(json_get_text(history, "note", ""), "beyond the first 2000"));
    assert_true(wait_for_scrape(world, at_ms));
    shown = world_ok(world, "deployment_show", "{}");
    assert_non_null(strstr(json_get_text(json_object_get(shown, "watch"), "left_out", ""),
                           "12 series from a scrape are not stored"));
    world_says(world, "; 12 series from a scrape are not stored");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_current_figures_and_rates),
        cmocka_unit_test(fails_while_the_server_is_down),
        cmocka_unit_test(stops_waiting_for_the_second_scrape_when_cancelled),
        cmocka_unit_test(metrics_watch_sets_the_scrape_interval),
        cmocka_unit_test(says_at_once_that_a_server_cannot_be_scraped),
        cmocka_unit_test(says_why_nothing_was_stored),
        cmocka_unit_test(shows_no_rates_when_several_instances_answer_in_turn),
        cmocka_unit_test(says_how_many_series_are_not_stored_and_why),
    };

    return world_run(tests);
}
