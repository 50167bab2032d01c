/* metrics_show, metrics_watch, metrics_history. */
#include <math.h>

#include "base/clock.h"
#include "store/deployments.h"
#include "store/scrapes.h"
#include "tests/unit/tool_world.h"

static void shows_the_figures_that_matter_now(void **state)
{
    struct world *world = *state;
    json_auto_t *one = NULL, *two = NULL;

    world_register(world, "demo");
    world_do(world, "model_query", "{\"prompt\":\"hello\",\"max_tokens\":8}");
    one = world_ok(world, "metrics_show", "{\"interval_s\":0}");
    assert_true(json_get_number(json_object_get(one, "now"), "generation_tokens_total", 0) == 8);
    assert_true(json_is_null(json_object_get(one, "rates")));
    two = world_ok(world, "metrics_show", "{\"interval_s\":0.2}");
    assert_true(json_get_number(json_object_get(two, "rates"), "seconds", 0) >= 0.2);
    assert_true(json_get_number(json_object_get(two, "rates"), "output_tokens_per_s", -1) == 0);
    world_says(world, "generation_tokens_total");
}

static void says_that_a_server_that_is_down_tells_no_metrics(void **state)
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

static void watches_from_now_on_and_returns_at_once(void **state)
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

/* A scrape every 10 s for two minutes: 50 tokens/s; the server restarts in the middle. */
static void store_scrapes(struct world *world, int64_t now_ms)
{
    struct deployment deployment;

    assert_true(deployment_find(world->services.store, "demo", &deployment, &world->error));
    for (int i = 0; i <= 12; i++) {
        double since_start_s = i < 6 ? i * 10 : (i - 6) * 10;
        const struct scrape_value values[] = {
            { "requests_running", "", "gauge", i },
            { "generation_tokens_total", "", "counter", since_start_s * 50 },
            { "ttft_sum_s", "", "counter", since_start_s * 0.2 },
            { "ttft_count", "", "counter", since_start_s * 2 },
        };

        assert_true(scrape_add(world->services.store, deployment.id,
                               now_ms - (12 - i) * 10000 - 1000, values, 4, NULL, &world->error));
    }
}

static const json_t *figure(const json_t *answer, const char *name)
{
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(answer, "figures"), i,
                       row) if (strcmp(json_get_text(row, "metric", ""), name) == 0) return row;
    fail_msg("no figure %s", name);
    return NULL;
}

static void tells_how_figures_went_over_a_restart(void **state)
{
    struct world *world = *state;
    json_auto_t *all = NULL, *one = NULL;

    world_register(world, "demo");
    store_scrapes(world, clock_utc_ms());
    all = world_ok(world, "metrics_history", "{}");
    assert_true(json_get_number(figure(all, "requests_running"), "high", 0) == 12);
    assert_true(json_get_number(figure(all, "requests_running"), "mean", 0) == 6);
    assert_true(fabs(json_get_number(figure(all, "output_tokens_per_s"), "low", 0) - 50) < 1e-6);
    assert_true(fabs(json_get_number(figure(all, "output_tokens_per_s"), "high", 0) - 50) < 1e-6);
    assert_true(fabs(json_get_number(figure(all, "mean_ttft_ms"), "mean", 0) - 100) < 1e-6);
    assert_int_equal(json_array_size(json_object_get(all, "points")), 0);
    one = world_ok(world, "metrics_history", "{\"metric\":\"output_tokens_per_s\"}");
    assert_int_equal(json_array_size(json_object_get(one, "points")), 11); /* 12 less the restart */
    assert_int_equal(json_array_size(json_object_get(one, "figures")), 1);
}

static void thins_what_is_more_than_asked_for(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    store_scrapes(world, clock_utc_ms());
    answer = world_ok(world, "metrics_history", "{\"metric\":\"requests_running\",\"points\":3}");
    assert_true(json_array_size(json_object_get(answer, "points")) <= 4);
    assert_true(json_get_number(figure(answer, "requests_running"), "latest", 0) == 12);
}

static void says_when_nothing_was_stored(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    answer = world_ok(world, "metrics_history", "{}");
    assert_int_equal(json_array_size(json_object_get(answer, "figures")), 0);
    world_says(world, "Nothing was stored in this time");
    world_refused(world, "metrics_history", "{\"metric\":\"speed\"}", ERROR_INVALID,
                  "\"metric\" is \"speed\": it must be one of \"requests_running\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_the_figures_that_matter_now),
        cmocka_unit_test(says_that_a_server_that_is_down_tells_no_metrics),
        cmocka_unit_test(stops_waiting_for_the_second_scrape_when_cancelled),
        cmocka_unit_test(watches_from_now_on_and_returns_at_once),
        cmocka_unit_test(tells_how_figures_went_over_a_restart),
        cmocka_unit_test(thins_what_is_more_than_asked_for),
        cmocka_unit_test(says_when_nothing_was_stored),
    };

    return world_run(tests);
}
