/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of metrics_history. */
#include <math.h>

#include "base/core/clock.h"
#include "store/ledger/deployments.h"
#include "store/ledger/store.h"
#include "store/series/scrapes.h"
#include "tests/unit/support/tool_world.h"

static int64_t register_demo(struct world *world)
{
    struct deployment deployment;

    world_register(world, "demo");
    assert_true(deployment_find(world->services.store, "demo", &deployment, &world->error));
    return deployment.id;
}

/* Stores a scrape of a server that serves 2 requests/s and 50 tokens/s in total. Its mean TTFT is
 * 0.1 s. According to its buckets, which need not agree with the mean, half of the requests had a
 * TTFT from 0.04 to 0.08 s, and half had one from 0.08 to 0.1 s. */
static void store_scrape(struct world *world, int64_t deployment_id, int64_t at_ms,
                         double since_start_s, double running)
{
    const struct scrape_value values[] = {
        { "requests_running", "", "gauge", running },
        { "generation_tokens_total", "", "counter", since_start_s * 50 },
        { "ttft_sum_s", "", "counter", since_start_s * 0.2 },
        { "ttft_count", "", "counter", since_start_s * 2 },
        { "vllm:time_to_first_token_seconds_bucket", "le=\"0.04\"", "counter", 0 },
        { "vllm:time_to_first_token_seconds_bucket", "le=\"0.08\"", "counter", since_start_s },
        { "vllm:time_to_first_token_seconds_bucket", "le=\"0.1\"", "counter", since_start_s * 2 },
        { "vllm:time_to_first_token_seconds_bucket", "le=\"+Inf\"", "counter", since_start_s * 2 },
        { "vllm:request_success_total", "reason=\"stop\"", "counter", since_start_s * 1.5 },
        { "vllm:request_success_total", "reason=\"abort\"", "counter", since_start_s * 0.5 },
    };

    assert_true(scrape_add(world->services.store, deployment_id, at_ms, values,
                           sizeof values / sizeof *values, NULL, &world->error));
}

/* Stores a scrape every 10 s for two minutes. The server restarts right after the sixth
 * scrape. */
static void store_scrapes(struct world *world)
{
    int64_t id = register_demo(world), now_ms = clock_utc_ms();

    for (int i = 0; i <= 12; i++)
        store_scrape(world, id, now_ms - (12 - i) * 10000 - 1000, i < 6 ? i * 10 : (i - 5) * 10, i);
}

static const json_t *figure(const json_t *answer, const char *name)
{
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(answer, "figures"), i, row)
        if (strcmp(json_get_text(row, "metric", ""), name) == 0)
            return row;
    fail_msg("the answer has no figure %s", name);
    return NULL;
}

static double figure_of(const json_t *answer, const char *name, const char *member)
{
    return json_get_number(figure(answer, name), member, NAN);
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fabs(expected)))
        fail_msg("got %g, expected %g", value, expected);
}

static void shows_figures_across_a_restart(void **state)
{
    struct world *world = *state;
    json_auto_t *all = NULL, *one = NULL;

    store_scrapes(world);
    all = world_ok(world, "metrics_history", "{}");
    assert_near(figure_of(all, "requests_running", "high"), 12);
    assert_near(figure_of(all, "requests_running", "mean"), 6);
    assert_near(figure_of(all, "output_tokens_per_s", "low"), 50);
    assert_near(figure_of(all, "output_tokens_per_s", "high"), 50);
    assert_near(figure_of(all, "mean_ttft_ms", "mean"), 100);
    assert_near(figure_of(all, "ttft_ms", "high"), 80 + 20 * 0.98);
    assert_string_equal(json_get_text(figure(all, "ttft_ms"), "function", ""), "p99");
    assert_int_equal(json_array_size(json_object_get(all, "points")), 0);
    one = world_ok(world, "metrics_history",
                   "{\"metric\":\"output_tokens_per_s\",\"step_s\":1,\"points\":500}");
    assert_int_equal(json_array_size(json_object_get(one, "points")), 12);
    assert_int_equal(json_array_size(json_object_get(one, "figures")), 1);
}

static void applies_functions_to_figures_and_series(void **state)
{
    static const struct {
        const char *arguments, *metric, *function, *unit;
        double mean;
    } rows[] = {
        { "{\"metric\":\"requests_running\",\"function\":\"max\"}", "requests_running", "max",
          "requests", NAN },
        { "{\"metric\":\"ttft_ms\",\"percentile\":25}", "ttft_ms", "p25", "ms", 60 },
        { "{\"metric\":\"ttft_ms\",\"function\":\"mean\"}", "ttft_ms", "mean", "ms", 100 },
        { "{\"series\":\"vllm:request_success_total\"}", "vllm:request_success_total", "rate",
          "1/s", 2 },
        { "{\"series\":\"vllm:request_success_total\",\"labels\":{\"reason\":\"abort\"}}",
          "vllm:request_success_total", "rate", "1/s", 0.5 },
        { "{\"series\":\"vllm:time_to_first_token_seconds\",\"percentile\":50}",
          "vllm:time_to_first_token_seconds", "p50", "s", 0.08 },
    };
    struct world *world = *state;

    store_scrapes(world);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_auto_t *answer = world_ok(world, "metrics_history", rows[i].arguments);
        const json_t *row = figure(answer, rows[i].metric);

        assert_string_equal(json_get_text(row, "function", ""), rows[i].function);
        assert_string_equal(json_get_text(row, "unit", ""), rows[i].unit);
        if (!isnan(rows[i].mean))
            assert_near(figure_of(answer, rows[i].metric, "mean"), rows[i].mean);
    }
}

static void shows_the_bounds_between_which_a_percentile_lies(void **state)
{
    struct world *world = *state;
    const struct scrape_value before[] = {
        { "x_bucket", "le=\"0.5\"", "counter", 0 },
        { "x_bucket", "le=\"+Inf\"", "counter", 0 },
    };
    const struct scrape_value after[] = {
        { "x_bucket", "le=\"0.5\"", "counter", 60 },
        { "x_bucket", "le=\"+Inf\"", "counter", 100 },
    };
    int64_t id = register_demo(world), now_ms = clock_utc_ms();
    json_auto_t *inside = NULL, *beyond = NULL;
    const json_t *point;

    assert_true(
        scrape_add(world->services.store, id, now_ms - 15000, before, 2, NULL, &world->error));
    assert_true(scrape_add(world->services.store, id, now_ms - 1, after, 2, NULL, &world->error));
    inside = world_ok(world, "metrics_history", "{\"series\":\"x\",\"percentile\":30}");
    point = json_array_get(json_object_get(inside, "points"), 0);
    assert_near(json_get_number(point, "value", 0), 0.25);
    assert_near(json_get_number(point, "at_least", 1), 0);
    assert_near(json_get_number(point, "at_most", 0), 0.5);
    world_says(world, "0 to 0.5");
    beyond = world_ok(world, "metrics_history", "{\"series\":\"x\",\"percentile\":90}");
    point = json_array_get(json_object_get(beyond, "points"), 0);
    assert_near(json_get_number(point, "value", 0), 0.5);
    assert_null(json_object_get(point, "at_most"));
    world_says(world, "above 0.5");
}

/* One of two replicas runs a different version, whose histogram has different buckets. */
static void label_sets_with_different_buckets_have_no_joint_percentile(void **state)
{
    struct world *world = *state;
    struct scrape_value values[] = {
        { "x_bucket", "pod=\"a\",le=\"1\"", "counter", 0 },
        { "x_bucket", "pod=\"a\",le=\"10\"", "counter", 0 },
        { "x_bucket", "pod=\"a\",le=\"+Inf\"", "counter", 0 },
        { "x_bucket", "pod=\"b\",le=\"5\"", "counter", 0 },
        { "x_bucket", "pod=\"b\",le=\"+Inf\"", "counter", 0 },
    };
    int64_t id = register_demo(world), now_ms = clock_utc_ms();
    json_auto_t *both = NULL, *one = NULL;
    const json_t *point;

    assert_true(
        scrape_add(world->services.store, id, now_ms - 15000, values, 5, NULL, &world->error));
    for (size_t i = 1; i < 5; i++)
        values[i].value = 100;
    assert_true(scrape_add(world->services.store, id, now_ms - 1, values, 5, NULL, &world->error));
    both = world_ok(world, "metrics_history", "{\"series\":\"x\",\"percentile\":50}");
    point = json_array_get(json_object_get(both, "points"), 0);
    assert_null(json_object_get(point, "value"));
    assert_null(json_object_get(point, "at_least"));
    assert_non_null(strstr(json_get_text(both, "note", ""), "different buckets"));
    assert_null(json_object_get(figure(both, "x"), "mean"));
    world_says(world, "different buckets");
    one = world_ok(world, "metrics_history",
                   "{\"series\":\"x\",\"percentile\":50,\"labels\":{\"pod\":\"a\"}}");
    point = json_array_get(json_object_get(one, "points"), 0);
    assert_near(json_get_number(point, "value", 0), 5.5);
    assert_null(json_object_get(one, "note"));
}

/* The server is restarted with a different version, whose histogram has different buckets. */
static void buckets_from_before_a_restart_are_not_used_after_it(void **state)
{
    struct world *world = *state;
    const struct scrape_value old[] = {
        { "x_bucket", "le=\"5\"", "counter", 9 },
        { "x_bucket", "le=\"+Inf\"", "counter", 9 },
    };
    struct scrape_value new[] = {
        { "x_bucket", "le=\"1\"", "counter", 0 },
        { "x_bucket", "le=\"10\"", "counter", 0 },
        { "x_bucket", "le=\"+Inf\"", "counter", 0 },
    };
    int64_t id = register_demo(world), now_ms = clock_utc_ms();
    int64_t hour_ms = now_ms - now_ms % 3600000 - 3600000; /* the start of the last full hour */
    json_auto_t *fine = NULL, *coarse = NULL;
    const json_t *points;

    assert_true(scrape_add(world->services.store, id, hour_ms, old, 2, NULL, &world->error));
    assert_true(
        scrape_add(world->services.store, id, hour_ms + 45000, new, 3, NULL, &world->error));
    new[1].value = new[2].value = 100;
    assert_true(
        scrape_add(world->services.store, id, hour_ms + 90000, new, 3, NULL, &world->error));
    fine = world_ok(world, "metrics_history",
                    "{\"series\":\"x\",\"percentile\":50,\"minutes\":180,\"step_s\":30,"
                    "\"points\":500}");
    points = json_object_get(fine, "points");
    assert_int_equal(json_array_size(points), 1);
    assert_near(json_get_number(json_array_get(points, 0), "value", 0), 5.5);
    assert_near(json_get_number(json_array_get(points, 0), "at_least", 0), 1);
    coarse = world_ok(world, "metrics_history",
                      "{\"series\":\"x\",\"percentile\":50,\"minutes\":180,\"step_s\":3600}");
    points = json_object_get(coarse, "points");
    assert_null(json_object_get(json_array_get(points, 0), "value"));
    assert_non_null(strstr(json_get_text(coarse, "note", ""), "changed within a step"));
}

static void a_histogram_with_one_bucket_has_no_percentile(void **state)
{
    struct world *world = *state;
    struct scrape_value value = { "x_bucket", "le=\"+Inf\"", "counter", 0 };
    int64_t id = register_demo(world), now_ms = clock_utc_ms();
    json_auto_t *answer = NULL;

    assert_true(
        scrape_add(world->services.store, id, now_ms - 15000, &value, 1, NULL, &world->error));
    value.value = 100;
    assert_true(scrape_add(world->services.store, id, now_ms - 1, &value, 1, NULL, &world->error));
    answer = world_ok(world, "metrics_history", "{\"series\":\"x\",\"percentile\":50}");
    assert_null(json_object_get(json_array_get(json_object_get(answer, "points"), 0), "value"));
    assert_non_null(strstr(json_get_text(answer, "note", ""), "no bucket except +Inf"));
}

static void says_what_is_wrong_with_the_arguments(void **state)
{
    static const struct {
        const char *arguments, *words;
        enum error_kind kind;
    } rows[] = {
        { "{\"metric\":\"speed\"}", "\"metric\" is \"speed\": it must be one of", ERROR_INVALID },
        { "{\"metric\":\"ttft_ms\",\"series\":\"x\"}", "omit one of them", ERROR_INVALID },
        { "{\"metric\":\"mean_ttft_ms\",\"function\":\"percentile\"}", "the metrics ttft_ms",
          ERROR_INVALID },
        { "{\"metric\":\"requests_running\",\"function\":\"rate\"}",
          "is a gauge: ask for \"mean\", \"value\", \"min\", \"max\"", ERROR_INVALID },
        { "{\"function\":\"rate\"}", "neither \"metric\" nor \"series\"", ERROR_INVALID },
        { "{\"metric\":\"ttft_ms\",\"percentile\":100}", "above 0 and below 100", ERROR_INVALID },
        { "{\"metric\":\"ttft_ms\",\"cursor\":\"x\"}", "next_cursor of an earlier answer",
          ERROR_INVALID },
        { "{\"metric\":\"ttft_ms\",\"labels\":{\"a\":\"b\"}}", "without \"series\"",
          ERROR_INVALID },
        { "{\"series\":\"vllm:request_succ\"}", "such as: vllm:request_success_total",
          ERROR_NOT_FOUND },
    };
    struct world *world = *state;

    store_scrapes(world);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        world_refused(world, "metrics_history", rows[i].arguments, rows[i].kind, rows[i].words);
}

/* Stores one scrape per minute for a day, with a gap of two hours, and rolls the scrapes up. */
static void store_day(struct world *world)
{
    int64_t id = register_demo(world), now_ms = clock_utc_ms();

    for (int i = 1440; i >= 1; i--)
        if (i < 300 || i > 420)
            store_scrape(world, id, now_ms - i * 60000, (1441 - i) * 60, i % 7);
    assert_true(scrape_compact(world->services.store, now_ms, &world->error));
}

static void reads_long_ranges_from_rollups_page_by_page(void **state)
{
    struct world *world = *state;
    json_auto_t *day = NULL, *first = NULL, *second = NULL;
    char next[200];

    store_day(world);
    day =
        world_ok(world, "metrics_history", "{\"metric\":\"output_tokens_per_s\",\"minutes\":1440}");
    assert_string_equal(json_get_text(day, "resolution", ""), "1 min");
    assert_int_equal(json_get_integer(day, "step_s", 0), 1800);
    /* 48 points minus those in the gap */
    assert_in_range(json_array_size(json_object_get(day, "points")), 43, 47);
    assert_near(figure_of(day, "output_tokens_per_s", "low"), 50);
    assert_near(figure_of(day, "output_tokens_per_s", "high"), 50);
    first = world_ok(world, "metrics_history",
                     "{\"metric\":\"requests_running\",\"minutes\":240,\"step_s\":60}");
    assert_in_range(json_array_size(json_object_get(first, "points")), 58, 60);
    snprintf(next, sizeof next,
             "{\"metric\":\"requests_running\",\"minutes\":240,\"step_s\":60,\"cursor\":\"%s\"}",
             json_get_text(first, "next_cursor", ""));
    second = world_ok(world, "metrics_history", next);
    assert_string_equal(json_get_text(second, "to", "a"), json_get_text(first, "from", "b"));
    assert_int_equal(json_array_size(json_object_get(second, "points")), 60);
}

static void a_summary_covers_the_whole_requested_period(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    store_day(world);
    answer = world_ok(world, "metrics_history", "{\"minutes\":1380,\"step_s\":60}");
    assert_true(json_get_integer(answer, "step_s", 0) >= 1380);
    assert_true(figure_of(answer, "requests_running", "points") >= 40);
    world_says(world, "The period has more steps of 60 s than \"points\" allows (60)");
}

static void marks_the_step_that_is_not_over_yet(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;
    const json_t *points;
    size_t count;

    store_scrapes(world);
    answer = world_ok(world, "metrics_history",
                      "{\"metric\":\"requests_running\",\"minutes\":1440,\"step_s\":86400}");
    points = json_object_get(answer, "points");
    count = json_array_size(points);
    assert_true(json_get_boolean(json_array_get(points, count - 1), "partial", false));
    world_says(world, "not over yet");
}

static void says_when_steps_are_no_longer_kept(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    store_day(world);
    assert_true(store_apply_retention(
        world->services.store, &(struct retention){ .samples_days = 1, .samples_10s_days = 1 },
        clock_utc_ms() + 86400000 - 3600000, &world->error));
    answer = world_ok(world, "metrics_history",
                      "{\"metric\":\"requests_running\",\"minutes\":1400,\"step_s\":15}");
    assert_string_equal(json_get_text(answer, "resolution", ""), "1 min");
    assert_int_equal(json_get_integer(answer, "step_s", 0), 60);
    world_says(world, "Steps of 15 s are not kept that far back");
}

static void says_when_nothing_was_stored(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    answer = world_ok(world, "metrics_history", "{}");
    assert_int_equal(json_array_size(json_object_get(answer, "figures")), 0);
    world_says(world, "There are no values for this period");
    world_refused(world, "metrics_history", "{\"series\":\"x\"}", ERROR_NOT_FOUND,
                  "(series stored: 0): metrics_watch starts storing them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_figures_across_a_restart),
        cmocka_unit_test(applies_functions_to_figures_and_series),
        cmocka_unit_test(shows_the_bounds_between_which_a_percentile_lies),
        cmocka_unit_test(label_sets_with_different_buckets_have_no_joint_percentile),
        cmocka_unit_test(buckets_from_before_a_restart_are_not_used_after_it),
        cmocka_unit_test(a_histogram_with_one_bucket_has_no_percentile),
        cmocka_unit_test(says_what_is_wrong_with_the_arguments),
        cmocka_unit_test(reads_long_ranges_from_rollups_page_by_page),
        cmocka_unit_test(a_summary_covers_the_whole_requested_period),
        cmocka_unit_test(marks_the_step_that_is_not_over_yet),
        cmocka_unit_test(says_when_steps_are_no_longer_kept),
        cmocka_unit_test(says_when_nothing_was_stored),
    };

    return world_run(tests);
}
