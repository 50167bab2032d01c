/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of run_chart, which answers with a picture and a sentence. */
#include "handlers/charts/chart_request.h"
#include "store/series/scrapes.h"
#include "tests/unit/support/tool_sweeps.h"

#define PNG_BYTES_MAX 65536

static void import_grid(struct world *world, char out[ID_SIZE])
{
    json_auto_t *row =
        world_ok(world, "run_import",
                 "{\"name\":\"grid.csv\",\"text\":\"context_size,concurrency,req_per_sec,avg_"
                 "latency\\n128,1,2.0,0.5\\n128,16,10.0,1.0\\n128,64,9.0,6.0\\n\"}");

    text_copy(out, ID_SIZE, json_get_text(json_object_get(row, "run"), "id", ""));
}

/* Checks run_chart's answer: the first block is the picture, the second is the sentence. */
static void assert_chart(struct world *world, const char *arguments, const char *words)
{
    const json_t *image, *sentence;

    assert_null(world_call(world, "run_chart", arguments));
    if (world->error.kind != ERROR_NONE)
        fail_msg("%s: %s", arguments, world->error.message);
    assert_true(json_array_size(world->content) >= 2);
    image = json_array_get(world->content, 0);
    assert_string_equal(json_get_text(image, "type", ""), "image");
    assert_string_equal(json_get_text(image, "mimeType", ""), "image/png");
    assert_true(strncmp(json_get_text(image, "data", ""), "iVBORw0KGgo", 11) == 0);
    assert_true(json_string_length(json_object_get(image, "data")) < PNG_BYTES_MAX / 3 * 4);
    sentence = json_array_get(world->content, 1);
    assert_string_equal(json_get_text(sentence, "text", ""), text_string(&world->text));
    world_says(world, words);
}

static void assert_draws(struct world *world, const char *id, const char *more, const char *words)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"run\":\"%s\"%s}", id, more);
    assert_chart(world, text_string(&arguments), words);
}

static void draws_charts_of_an_import(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];

    import_grid(world, id);
    assert_draws(world, id, "", "The heat chart of imp_");
    assert_draws(world, id, ",\"plot\":\"latency\",\"options\":{\"quantity\":\"e2e\"}",
                 "latency chart");
    assert_draws(world, id, ",\"plot\":\"pareto\",\"options\":{\"dark\":true}", "pareto chart");
    assert_draws(world, id, ",\"plot\":\"load\"", "load chart");
    assert_draws(world, id, ",\"plot\":\"tail\"", "tail chart");
}

static bool has_text(const struct chart *chart, const char *words)
{
    for (size_t i = 0; i < chart->drawing.count; i++)
        if (chart->drawing.shapes[i].kind == SHAPE_TEXT
            && strstr(chart->drawing.shapes[i].string, words) != NULL)
            return true;
    return false;
}

/* For a cell that opsbrain measured, a histogram of all requests is stored, so the curve has many
 * more steps than a curve that is drawn from percentiles. */
static void a_tail_chart_uses_every_request(void **state)
{
    struct world *world = *state;
    struct call call = { .services = &world->services, .principal = { .role = ROLE_VIEWER } };
    struct histogram *histogram = histogram_create();
    struct cell_result result = { .state = CELL_MEASURED, .workload_digest = "abc" };
    struct cell_row *cells;
    struct claim claim;
    char sweep[ID_SIZE];
    json_auto_t *arguments = NULL;
    CHART_AUTO chart = { 0 };
    size_t count;
    int64_t attempt;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    claim = sweep_claimed(world, sweep);
    assert_stored(world,
                  cell_list(world->services.store, sweep, NULL, &cells, &count, &world->error));
    for (int64_t i = 1; i <= 1000; i++)
        histogram_record(histogram, i * 1000000);
    result.histograms[METRIC_TTFT] = histogram;
    result.measurement = (struct measurement){ .attempted = 1000, .succeeded = 1000 };
    assert_stored(world, attempt_begin(world->services.store, &claim, cells[0].id, clock_utc_ms(),
                                       &attempt, &world->error));
    assert_stored(world, attempt_end(world->services.store, &claim, attempt, &result,
                                     clock_utc_ms(), &world->error));
    arguments = json_pack("{s:s, s:s}", "run", sweep, "plot", "tail");
    assert_stored(world, chart_request_call(&call, arguments, &chart, &world->error));
    assert_true(chart_table_rows(&chart.table) > 30);
    assert_false(has_text(&chart, "known percentile"));
    assert_true(chart_table_at(&chart.table, 0, 4)->number == 1000);
    cell_rows_free(cells, count);
    histogram_destroy(histogram);
}

static void a_chart_that_cannot_be_drawn_is_refused(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    import_grid(world, id);
    text_addf(&arguments, "{\"run\":\"%s\",\"options\":{\"quantity\":\"speed\"}}", id);
    world_refused(world, "run_chart", text_string(&arguments), ERROR_INVALID,
                  "quantity is \"speed\", but must be one of requests_per_s, ");
    text_clear(&arguments);
    text_addf(&arguments, "{\"run\":\"%s\",\"plot\":\"tail\",\"options\":{\"quantity\":\"speed\"}}",
              id);
    world_refused(world, "run_chart", text_string(&arguments), ERROR_INVALID,
                  "quantity is \"speed\", but must be ttft, itl, tpot or e2e for tail");
    world_refused(world, "run_chart", "{\"run\":\"imp_nobody\"}", ERROR_NOT_FOUND, "imp_nobody");
    world_refused(world, "run_chart", "{\"run\":\"swp_nobody\"}", ERROR_NOT_FOUND, "swp_nobody");
}

/* ---- Charts of comparisons, of costs, and of a deployment ---- */

static void a_forest_chart_draws_a_comparison_and_needs_two_sides(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], second[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    sweep_started(world, ",\"repetitions\":2", first);
    sweep_measured(world, first, 8, "completed", "");
    sweep_started(world, ",\"repetitions\":2,\"seed\":7", second);
    sweep_measured(world, second, 8, "completed", "");
    text_addf(&arguments,
              ",\"plot\":\"forest\",\"options\":{\"candidate\":\"%s\",\"accept_unknown\":"
              "[\"workload\"]}",
              second);
    assert_draws(world, first, text_string(&arguments),
                 "from 5 rows of figures; run_compare gives them.");
    text_clear(&arguments);
    text_addf(&arguments,
              "{\"run\":\"%s\",\"plot\":\"forest\",\"options\":{\"candidate\":\"%s\","
              "\"quantity\":\"speed\"}}",
              first, second);
    world_refused(world, "run_chart", text_string(&arguments), ERROR_INVALID,
                  "quantity is \"speed\", but must be one of output_throughput, ");
    text_clear(&arguments);
    text_addf(&arguments, "{\"run\":\"%s\",\"plot\":\"forest\"}", first);
    world_refused(world, "run_chart", text_string(&arguments), ERROR_INVALID,
                  "has only one deployment, demo");
    world_refused(world, "run_chart", "{\"plot\":\"forest\"}", ERROR_INVALID,
                  "forest compares two sides: give \"run\" and \"candidate\"");
    world_refused(world, "run_chart", "{\"plot\":\"heat\"}", ERROR_INVALID,
                  "\"run\" is missing: heat draws a run");
}

static void a_cost_chart_needs_a_price(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    import_grid(world, id);
    assert_draws(world, id, ",\"plot\":\"cost\",\"options\":{\"usd_per_hour\":[2.5]}",
                 "The cost chart of imp_");
    text_addf(&arguments, "{\"run\":\"%s\",\"plot\":\"cost\"}", id);
    world_refused(world, "run_chart", text_string(&arguments), ERROR_INVALID,
                  "no price is known for imp_");
}

static void two_sides_with_the_same_name_are_distinguished(void **state)
{
    struct world *world = *state;
    struct call call = { .services = &world->services, .principal = { .role = ROLE_VIEWER } };
    json_auto_t *arguments = NULL;
    char id[ID_SIZE];
    CHART_AUTO chart = { 0 };

    import_grid(world, id);
    arguments = json_pack("{s:s, s:s, s:{s:s, s:[i, i]}}", "plot", "cost", "run", id, "options",
                          "candidate", id, "usd_per_hour", 1, 2);
    assert_stored(world, chart_request_call(&call, arguments, &chart, &world->error));
    assert_true(has_text(&chart, "(run): $1.00/h"));
    assert_true(has_text(&chart, "(candidate): $2.00/h"));
}

/* Stores 60 scrapes, 10 s apart; the server restarts after the first 30. */
static void scrape_with_restart(struct world *world, int64_t deployment, int64_t from_ms)
{
    for (int i = 0; i < 60; i++) {
        const int64_t at_ms = from_ms + i * 10000;
        const double started_s = (double)(i < 30 ? from_ms : from_ms + 295000) / 1000;
        const struct scrape_value values[] = {
            { "requests_running", "", "gauge", 3 + i % 4 },
            { "kv_cache_use", "", "gauge", 0.01 * i },
            { "process_start_s", "", "gauge", started_s },
        };

        assert_stored(world, scrape_add(world->services.store, deployment, at_ms, values, 3, NULL,
                                        &world->error));
    }
}

static void a_history_chart_shows_restarts_and_revisions(void **state)
{
    struct world *world = *state;
    struct deployment deployment;
    struct call call = { .services = &world->services, .principal = { .role = ROLE_VIEWER } };
    json_auto_t *arguments = json_loads("{\"plot\":\"history\",\"deployment\":\"demo\"}", 0, NULL);
    CHART_AUTO chart = { 0 };

    world_register(world, "demo");
    world_do(world, "deployment_update", "{\"hardware\":\"L4\"}");
    assert_stored(world,
                  deployment_find(world->services.store, "demo", &deployment, &world->error));
    scrape_with_restart(world, deployment.id, clock_utc_ms() - 600000);
    assert_chart(world, "{\"plot\":\"history\"}", "The history chart of demo, drawn from ");
    assert_stored(world, chart_request_call(&call, arguments, &chart, &world->error));
    assert_true(chart_table_rows(&chart.table) >= 78);
    assert_true(has_text(&chart, "dashed line: 1 restart"));
    assert_true(has_text(&chart, "1: revision 2"));
    assert_true(has_text(&chart, "no values to show in this period"));
}

static void an_unknown_run_and_an_unknown_plot_are_refused(void **state)
{
    struct world *world = *state;
    struct call call = { .services = &world->services, .principal = { .role = ROLE_VIEWER } };
    json_auto_t *unknown = json_loads("{\"run\":\"imp_nobody\"}", 0, NULL);
    json_auto_t *wrong = json_loads("{\"run\":\"x\",\"plot\":\"pie\"}", 0, NULL);
    CHART_AUTO chart = { 0 };

    assert_false(chart_request_call(&call, unknown, &chart, &world->error));
    assert_int_equal(world->error.kind, ERROR_NOT_FOUND);
    assert_false(chart_request_call(&call, wrong, &chart, &world->error));
    assert_int_equal(world->error.kind, ERROR_INVALID);
    assert_true(call.arguments == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_charts_of_an_import),
        cmocka_unit_test(a_tail_chart_uses_every_request),
        cmocka_unit_test(a_chart_that_cannot_be_drawn_is_refused),
        cmocka_unit_test(a_forest_chart_draws_a_comparison_and_needs_two_sides),
        cmocka_unit_test(a_cost_chart_needs_a_price),
        cmocka_unit_test(two_sides_with_the_same_name_are_distinguished),
        cmocka_unit_test(a_history_chart_shows_restarts_and_revisions),
        cmocka_unit_test(an_unknown_run_and_an_unknown_plot_are_refused),
    };

    return world_run(tests);
}
