/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of HTML reports on runs, sweeps and imports: of run_report with the format html, and of the
 * resources that serve the HTML file. */
#include <math.h>

#include "analysis/report/repetition_stats.h"
#include "base/core/memory.h"
#include "handlers/resource.h"
#include "tests/unit/support/html_check.h"
#include "tests/unit/support/tool_sweeps.h"

#define ANSWER_BYTES_MAX 600
#define GRID                                                                                       \
    "concurrency,context_len,success_rate,avg_latency_s,req_per_sec,status\\n"                     \
    "1,64,1.0,0.5,2.0,<script>\\n4,64,0.9,1.0,4.0,ok\\n16,64,0.0,0.0,0.0,javascript:alert(1)\\n"

static void read_html(struct world *world, const char *uri, struct text *out)
{
    struct call call = { .services = &world->services,
                         .principal = { .name = "alice", .role = ROLE_VIEWER },
                         .base_url = "http://127.0.0.1:8080" };
    const struct resource *resource;

    if (!resource_read(resources, &call, uri, &resource, out, &world->error))
        fail_msg("%s: %s", uri, world->error.message);
    assert_string_equal(resource->mime_type, "text/html");
    html_is_sound(uri, out);
}

/* Checks that run_report's answer is short and names the file, and then reads the file. */
static void read_report(struct world *world, const char *arguments, const char *uri,
                        struct text *out)
{
    json_auto_t *answer = world_ok(world, "run_report", arguments);

    assert_string_equal(json_get_text(answer, "resource", ""), uri);
    assert_null(json_object_get(answer, "report"));
    world_says(world, uri);
    assert_in_range(world->text.length, 1, ANSWER_BYTES_MAX);
    read_html(world, uri, out);
    assert_in_range(json_get_integer(answer, "bytes", 0), out->length - 250, out->length + 250);
}

static void assert_contains(const struct text *file, const char *words)
{
    if (strstr(text_string(file), words) == NULL)
        fail_msg("the file does not contain \"%s\"", words);
}

/* Checks that the row of the HTML table shows the figures that run_show returned for the cell. */
static void assert_row(const char *head, const char *row, const json_t *cell)
{
    static const char *const columns[][2] = {
        { "Requests/s", "requests_per_s" }, { "Output tokens/s", "output_tokens_per_s" },
        { "TTFT p50, ms", "ttft_p50_ms" },  { "TTFT p99, ms", "ttft_p99_ms" },
        { "ITL p50, ms", "itl_p50_ms" },    { "Users", "concurrency" }
    };

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        double value = json_get_number(cell, columns[i][1], NAN);
        char shown[256], expected[NUMBER_SIZE];

        html_cell_text(row, "<td", (size_t)html_column(head, columns[i][0]), shown);
        if (i == 5)
            snprintf(expected, sizeof expected, "%.0f", value);
        else
            repetition_stats_number(value, expected);
        assert_string_equal(shown, expected);
    }
}

static void assert_cells(struct world *world, const char *run, const struct text *file)
{
    FREE_AUTO char *head = html_between(file, "<thead>", "</thead>");
    FREE_AUTO char *body = html_between(file, "<tbody>", "</tbody>");
    const char *row = html_find(body, "<tr");
    json_auto_t *shown = NULL;
    TEXT_AUTO arguments = { 0 };
    const json_t *cell;
    size_t i;

    text_addf(&arguments, "{\"run\":\"%s\",\"limit\":200,\"detail\":true}", run);
    shown = world_ok(world, "run_show", text_string(&arguments));
    json_array_foreach(json_object_get(shown, "cells"), i, cell) {
        assert_non_null(row);
        assert_row(head, row, cell);
        row = html_find(row + 1, "<tr");
    }
    assert_null(row);
    assert_true(i > 0);
}

static void newest_run(struct world *world, char out[ID_SIZE])
{
    json_auto_t *list = world_ok(world, "run_list", "{}");

    snprintf(out, ID_SIZE, "%s",
             json_get_text(json_array_get(json_object_get(list, "runs"), 0), "id", ""));
}

static void the_file_of_a_run_has_the_figures_from_run_show(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE], uri[128];
    TEXT_AUTO arguments = { 0 };
    TEXT_AUTO file = { 0 };

    world_register(world, "demo");
    sweep_started(world, ",\"purpose\":\"<script>alert(1)</script>\"", sweep);
    sweep_measured(world, sweep, 4, "completed", "");
    newest_run(world, run);
    text_addf(&arguments, "{\"run\":\"%s\",\"format\":\"html\"}", run);
    snprintf(uri, sizeof uri, "opsbrain://runs/%s/report.html", run);
    read_report(world, text_string(&arguments), uri, &file);
    assert_cells(world, run, &file);
    assert_contains(&file, run);
    assert_contains(&file, "saturat");
    assert_contains(&file, "&lt;script&gt;alert(1)&lt;/script&gt;");
    text_clear(&arguments);
    text_addf(&arguments, "<a href=\"http://127.0.0.1:8080/runs/%s\">", run);
    assert_contains(&file, text_string(&arguments));
}

static void the_file_of_a_sweep_shows_its_repetitions(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], uri[128];
    TEXT_AUTO file = { 0 };

    world_register(world, "demo");
    sweep_started(world, ",\"repetitions\":2", sweep);
    sweep_measured(world, sweep, 8, "completed", "");
    snprintf(uri, sizeof uri, "opsbrain://sweeps/%s/report.html", sweep);
    read_report(world, "{\"format\":\"html\"}", uri, &file);
    assert_contains(&file, ">Repetition</th>");
    assert_contains(&file, "2 runs \xc2\xb7 8 cells");
}

static void the_file_of_a_sweep_over_two_deployments_says_if_they_cannot_be_compared(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], uri[128];
    TEXT_AUTO file = { 0 };

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, ",\"deployment\":\"demo\",\"candidate\":\"new\"", sweep);
    sweep_measured(world, sweep, 8, "completed", "");
    snprintf(uri, sizeof uri, "opsbrain://sweeps/%s/report.html", sweep);
    read_report(world, "{\"format\":\"html\"}", uri, &file);

    assert_contains(&file, "new cannot be compared with demo");
    assert_contains(&file, "<bdi>demo</bdi>");
    assert_contains(&file, "<bdi>new</bdi>");
}

static void the_file_of_an_unmeasured_sweep_says_that_nothing_was_measured(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], uri[128];
    TEXT_AUTO arguments = { 0 };
    TEXT_AUTO file = { 0 };

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    text_addf(&arguments, "{\"sweep\":\"%s\",\"format\":\"html\"}", sweep);
    snprintf(uri, sizeof uri, "opsbrain://sweeps/%s/report.html", sweep);
    read_report(world, text_string(&arguments), uri, &file);
    assert_contains(&file, "Nothing was measured");
}

static void markup_in_an_import_is_escaped_in_the_file(void **state)
{
    struct world *world = *state;
    TEXT_AUTO arguments = { 0 };
    TEXT_AUTO file = { 0 };
    json_auto_t *imported =
        world_ok(world, "run_import", "{\"text\":\"" GRID "\",\"name\":\"<b>.csv\"}");
    const char *id = json_get_text(json_object_get(imported, "run"), "id", "");
    char uri[128];

    text_addf(&arguments, "{\"run\":\"%s\",\"format\":\"html\"}", id);
    snprintf(uri, sizeof uri, "opsbrain://runs/%s/report.html", id);
    read_report(world, text_string(&arguments), uri, &file);
    assert_contains(&file, "&lt;b&gt;.csv");
    assert_contains(&file, "javascript:alert(1)");
}

static void refuses_unknown_ids_and_formats(void **state)
{
    struct world *world = *state;

    world_refused(world, "run_report", "{\"run\":\"imp_nothing\",\"format\":\"html\"}",
                  ERROR_NOT_FOUND, "imp_nothing");
    world_refused(world, "run_report", "{\"sweep\":\"swp_nothing\",\"format\":\"html\"}",
                  ERROR_NOT_FOUND, "swp_nothing");
    world_refused(world, "run_report", "{\"format\":\"pdf\"}", ERROR_INVALID, "format");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_file_of_a_run_has_the_figures_from_run_show),
        TEST(the_file_of_a_sweep_shows_its_repetitions),
        TEST(the_file_of_a_sweep_over_two_deployments_says_if_they_cannot_be_compared),
        TEST(the_file_of_an_unmeasured_sweep_says_that_nothing_was_measured),
        TEST(markup_in_an_import_is_escaped_in_the_file),
        TEST(refuses_unknown_ids_and_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
