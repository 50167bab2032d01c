/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of run_import, of run_export, and of imported runs in run_list, run_show, run_report and
 * the resources. */
#include "analysis/import/import.h"
#include "base/core/memory.h"
#include "handlers/resource.h"
#include "tests/unit/support/published.h"
#include "tests/unit/support/tool_sweeps.h"

/* The grid has two rows for the cell with 4 users. In the second row, the cell failed. */
#define GRID                                                                                       \
    "concurrency,context_len,success_rate,avg_latency_s,req_per_sec,colour\\n"                     \
    "1,64,1.0,0.5,2.0,red\\n4,64,0.9,1.0,4.0,red\\n4,64,0.0,0.0,0.0,red\\n"

static json_t *import_with(struct world *world, const char *more, char id[ID_SIZE])
{
    TEXT_AUTO arguments = { 0 };
    json_t *answer;

    text_addf(&arguments, "{\"text\":\"" GRID "\"%s}", more);
    answer = world_ok(world, "run_import", text_string(&arguments));
    snprintf(id, ID_SIZE, "%s", json_get_text(json_object_get(answer, "run"), "id", ""));
    return answer;
}

/* Imports the grid and discards the answer. */
static void import_silently(struct world *world, const char *more, char id[ID_SIZE])
{
    json_decref(import_with(world, more, id));
}

static json_t *call_with_run(struct world *world, const char *tool, const char *id,
                             const char *more)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"run\":\"%s\"%s}", id, more);
    return world_ok(world, tool, text_string(&arguments));
}

static void imports_a_file_and_says_how_it_was_read(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    json_auto_t *answer =
        import_with(world, ",\"name\":\"grid.csv\",\"hardware\":\"L4\",\"chips\":1", id);
    const json_t *run = json_object_get(answer, "run");
    const json_t *import = json_object_get(answer, "import");

    assert_true(json_get_boolean(run, "imported", false));
    assert_false(json_get_boolean(answer, "already_known", true));
    assert_int_equal(json_get_integer(run, "cells_total", 0), 3);
    assert_string_equal(json_get_text(json_object_get(run, "source"), "file", ""), "grid.csv");
    assert_string_equal(json_get_text(json_object_get(run, "source"), "principal", ""), "alice");
    assert_string_equal(json_get_text(json_object_get(import, "facts"), "hardware", ""), "L4");
    assert_int_equal(json_object_size(json_object_get(import, "facts")), 2);
    assert_string_equal(json_get_text(import, "input_unit", ""), "unknown");
    world_says(world, "not measured by opsbrain");
    world_says(world, "> columns not known here, kept as text: \"colour\"");
    world_says(world, "2 measured, 1 failed");
    world_audited(world, "run_import", "ok", id);
}

static void importing_a_file_again_returns_the_same_run(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], second[ID_SIZE];
    json_auto_t *two = NULL;

    import_silently(world, "", first);
    two = import_with(world, "", second);
    assert_string_equal(first, second);
    assert_true(json_get_boolean(two, "already_known", false));
    world_says(world, "imported before");
}

static void the_meaning_of_columns_can_be_stated_with_the_file(void **state)
{
    static const char first[] = "{\"text\":\"u,speed\\n1,2\\n4,6\\n\",\"columns\":"
                                "[\"u=concurrency\",\"speed=requests_per_s\"]}";
    static const char other[] = "{\"text\":\"u,speed\\n1,2\\n4,6\\n\",\"columns\":"
                                "[\"u=concurrency\",\"speed=output_tok_per_s\"]}";
    struct world *world = *state;
    json_auto_t *one = world_ok(world, "run_import", first);
    json_auto_t *again = world_ok(world, "run_import", first);
    json_auto_t *two = world_ok(world, "run_import", other);
    const json_t *run = json_object_get(two, "run");
    const char *id = json_get_text(json_object_get(one, "run"), "id", "");
    json_auto_t *shown = call_with_run(world, "run_show", id, "");
    const json_t *cell =
        json_array_get(json_object_get(json_object_get(shown, "import"), "cells"), 1);

    assert_true(json_get_number(cell, "request_throughput", 0) == 6);
    assert_true(json_get_boolean(again, "already_known", false));
    /* the same file, read in a different way, is a new run */
    assert_false(json_get_boolean(two, "already_known", true));
    assert_string_equal(json_get_text(json_object_get(run, "source"), "corrects", ""), id);
    world_refused(world, "run_import", "{\"run\":\"imp_x\",\"columns\":[\"a=rps\"]}", ERROR_INVALID,
                  "\"columns\" are for reading a file");
}

static void every_format_can_be_named(void **state)
{
    const struct param *param = tool_find("run_import")->params;
    size_t choices = 0, formats = 0;

    (void)state;
    while (strcmp(param->name, "format") != 0)
        param++;
    while (param->choices[choices] != NULL)
        choices++;
    for (; importers[formats].format != NULL; formats++)
        assert_true(formats < choices
                    && strcmp(importers[formats].format, param->choices[formats]) == 0);
    assert_int_equal(choices, formats);
}

static void facts_stated_later_make_a_new_run(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE];
    json_auto_t *two = NULL;
    const json_t *run;

    import_silently(world, ",\"hardware\":\"L4\"", first);
    two = call_with_run(world, "run_import", first, ",\"model\":\"toy/model\"");
    run = json_object_get(two, "run");
    assert_string_not_equal(json_get_text(run, "id", ""), first);
    assert_string_equal(json_get_text(json_object_get(run, "source"), "corrects", ""), first);
    assert_int_equal(json_object_size(json_object_get(json_object_get(two, "import"), "facts")), 2);
}

static void refuses_viewers_wrong_arguments_and_unreadable_files(void **state)
{
    struct world *world = *state;

    world_refused(world, "run_import", "{}", ERROR_INVALID, "needs \"text\"");
    world_refused(world, "run_import", "{\"text\":\"a,b\",\"run\":\"imp_x\"}", ERROR_INVALID,
                  "not both");
    world_refused(world, "run_import", "{\"run\":\"run_x\"}", ERROR_INVALID,
                  "\"run\" is \"run_x\": facts can be stated only about imported runs");
    world_refused(world, "run_import", "{\"run\":\"imp_x\"}", ERROR_NOT_FOUND, "imp_x");
    world_refused(world, "run_import", "{\"text\":\"hello\"}", ERROR_INVALID,
                  "none of the known formats");
    world_refused(world, "run_import", "{\"text\":\"hello\",\"format\":\"xml\"}", ERROR_INVALID,
                  "must be one of");
    world->role = ROLE_VIEWER;
    world_refused(world, "run_import", "{\"text\":\"a,b\"}", ERROR_FORBIDDEN, "operator");
}

static void lists_imported_runs_among_those_of_sweeps(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE], sweep[ID_SIZE];
    json_auto_t *list = NULL, *of_sweep = NULL;
    const json_t *runs;
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    import_silently(world, ",\"name\":\"grid.csv\"", id);
    list = world_ok(world, "run_list", "{}");
    runs = json_object_get(list, "runs");
    assert_int_equal(json_array_size(runs), 2);
    world_says(world, "imported: grid.csv");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", sweep);
    of_sweep = world_ok(world, "run_list", text_string(&arguments));
    assert_int_equal(json_array_size(json_object_get(of_sweep, "runs")), 1);
    assert_false(
        json_get_boolean(json_array_get(json_object_get(of_sweep, "runs"), 0), "imported", false));
}

static void paging_lists_every_imported_run(void **state)
{
    struct world *world = *state;
    TEXT_AUTO arguments = { 0 };
    size_t seen = 0, pages = 0;
    bool more = true;

    for (int i = 0; i < 5; i++) {
        text_clear(&arguments);
        text_addf(&arguments, "{\"text\":\"concurrency,rps\\n%d,2\\n\"}", i + 1);
        world_do(world, "run_import", text_string(&arguments));
    }
    text_clear(&arguments);
    text_add(&arguments, "{\"limit\":2}");
    for (; more && pages < 9; pages++) {
        json_auto_t *page = world_ok(world, "run_list", text_string(&arguments));
        const char *cursor = json_get_text(page, "next_cursor", NULL);

        seen += json_array_size(json_object_get(page, "runs"));
        text_clear(&arguments);
        text_addf(&arguments, "{\"limit\":2,\"cursor\":\"%s\"}", cursor == NULL ? "" : cursor);
        more = cursor != NULL;
    }
    assert_int_equal(seen, 5);
}

static void shows_rows_as_they_are_in_the_file(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    json_auto_t *page = NULL, *one = NULL;
    const json_t *import, *cells, *measurement;

    import_silently(world, ",\"notes\":\"by hand\"", id);
    page = call_with_run(world, "run_show", id, ",\"limit\":2");
    import = json_object_get(page, "import");
    cells = json_object_get(import, "cells");
    assert_int_equal(json_array_size(cells), 2);
    assert_string_equal(json_get_text(page, "next_cursor", ""), "2");
    assert_string_equal(json_get_text(import, "notes", ""), "by hand");
    assert_int_equal(json_get_integer(json_array_get(cells, 1), "row", 0), 3);
    assert_null(json_object_get(json_array_get(cells, 0), "ttft"));
    one = call_with_run(world, "run_show", id, ",\"cell\":2");
    measurement = json_object_get(json_object_get(one, "detail"), "measurement");
    assert_string_equal(json_get_text(measurement, "state", ""), "failed");
    assert_string_equal(
        json_get_text(json_object_get(measurement, "original"), "avg_latency_s", ""), "0.0");
    world_refused(world, "run_show", "{\"run\":\"imp_nobody\"}", ERROR_NOT_FOUND, "imp_nobody");
}

static void reports_only_what_is_known(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    json_auto_t *report = NULL;

    import_silently(world, ",\"name\":\"grid.csv\"", id);
    report = call_with_run(world, "run_report", id, "");
    world_says(world, "# Imported run imp_");
    world_says(world, "Not measured by this server");
    world_says(world, "### Requests per second");
    world_says(world, "4.00! / failed"); /* the cell that the file has twice */
    world_says(world, "## Not measured");
    assert_null(strstr(text_string(&world->text), "TTFT"));
    assert_null(json_object_get(report, "sweep"));
}

static void every_exported_page_is_a_complete_file(void **state)
{
    static const char *const pages[] = { ",\"limit\":1", ",\"limit\":1,\"cursor\":\"1\"",
                                         ",\"limit\":1,\"cursor\":\"2\"" };
    static const char *const next_cursors[] = { "1", "2", "" };
    struct world *world = *state;
    char id[ID_SIZE];
    json_auto_t *vllm = NULL;

    import_silently(world, "", id);
    for (int page = 0; page < 3; page++) {
        json_auto_t *table = call_with_run(world, "run_export", id, pages[page]);
        const char *content = json_get_text(table, "content", "");

        assert_memory_equal(content, "concurrency,context_len,", 24);
        content = strchr(content, '\n') + 1; /* the page's only row */
        assert_string_equal(strchr(content, '\n'), "\n");
        assert_string_equal(json_get_text(table, "next_cursor", ""), next_cursors[page]);
        assert_int_equal(json_get_integer(table, "cells_total", 0), 3);
    }
    vllm = call_with_run(world, "run_export", id, ",\"format\":\"vllm\"");
    assert_int_equal(json_array_size(json_object_get(vllm, "left_out")), 1);
    assert_null(json_object_get(vllm, "next_cursor"));
    assert_non_null(strstr(json_get_text(vllm, "content", ""), "\"request_throughput\":2"));
    world_refused(world, "run_export", "{\"run\":\"run_x\"}", ERROR_NOT_FOUND, "run_x");
}

static void exports_a_run_that_opsbrain_measured(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    json_auto_t *list = NULL, *report = NULL;
    const char *id;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    sweep_measured(world, sweep, 4, "completed", "");
    list = world_ok(world, "run_list", "{}");
    id = json_get_text(json_array_get(json_object_get(list, "runs"), 0), "id", "");
    report = call_with_run(world, "run_export", id, ",\"format\":\"serving-report\"");
    assert_int_equal(json_get_integer(report, "cells", 0), 4);
    assert_non_null(strstr(json_get_text(report, "content", ""), "\"schema_version\": \"1.1\""));
    assert_non_null(strstr(json_get_text(report, "content", ""), "simserve/toy"));
}

/* Exports the run and imports the exported file again. Takes the file from the answer's content
 * blocks, because some clients keep nothing else. */
static void assert_reads_back(struct world *world, const char *id, const char *format,
                              const char *extension)
{
    json_auto_t *exported = NULL, *arguments = NULL, *back = NULL;
    FREE_AUTO char *written = NULL;
    TEXT_AUTO more = { 0 };

    text_addf(&more, ",\"format\":\"%s\"", format);
    exported = call_with_run(world, "run_export", id, text_string(&more));
    assert_string_equal(strchr(json_get_text(exported, "file_name", "."), '.'), extension);
    assert_int_equal(json_array_size(world->content), 2);
    assert_string_equal(json_get_text(json_array_get(world->content, 0), "text", ""),
                        text_string(&world->text));
    arguments =
        json_pack("{s:O, s:O}", "text", json_object_get(json_array_get(world->content, 1), "text"),
                  "name", json_object_get(exported, "file_name"));
    assert_true(
        json_equal(json_object_get(arguments, "text"), json_object_get(exported, "content")));
    written = json_write(arguments);
    back = world_ok(world, "run_import", written);
    assert_string_equal(
        json_get_text(json_object_get(json_object_get(back, "run"), "source"), "format", ""),
        format);
    assert_int_equal(json_get_integer(json_object_get(back, "run"), "cells_total", 0), 4);
}

/* A run in which 9 of 10 requests fail at one load. */
#define BAD                                                                                        \
    "concurrency,input_len,output_len,attempted,succeeded,avg_latency_s,req_per_sec\\n"            \
    "1,64,64,200,200,0.5,2.0\\n4,64,64,200,20,1.0,4.0\\n"

static void a_bad_run_is_exported_with_its_warnings(void **state)
{
    static const char *const formats[] = { "vllm", "aiperf", "csv", "serving-report" };
    struct world *world = *state;
    json_auto_t *answer = world_ok(world, "run_import", "{\"text\":\"" BAD "\"}");
    const char *id = json_get_text(json_object_get(answer, "run"), "id", "");

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        json_auto_t *exported = NULL;
        TEXT_AUTO more = { 0 };
        EVIDENCE_AUTO again;
        const char *content;
        struct error error;

        text_addf(&more, ",\"format\":\"%s\"", formats[i]);
        exported = call_with_run(world, "run_export", id, text_string(&more));
        content = json_get_text(exported, "content", "");
        if (!import_read(content, strlen(content), NULL, &again, &error))
            fail_msg("%s", error.message);
        assert_true(evidence_has_warning(&again.cells[1], "low_success"));
        assert_false(evidence_has_warning(&again.cells[0], "low_success"));
        assert_int_equal(json_array_size(json_object_get(exported, "marked")), 1);
        world_says(world, "in the file with warnings (run_audit gives the reasons): 1");
    }
}

static void every_exported_file_can_be_imported_unchanged(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    json_auto_t *list = NULL;
    const char *id;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    sweep_measured(world, sweep, 4, "completed", "");
    list = world_ok(world, "run_list", "{}");
    id = json_get_text(json_array_get(json_object_get(list, "runs"), 0), "id", "");
    assert_reads_back(world, id, "csv", ".csv");
    assert_reads_back(world, id, "vllm", ".json");
    assert_reads_back(world, id, "aiperf", ".aiperf.jsonl");
    assert_reads_back(world, id, "serving-report", ".serving-report.json");
}

static void read_resource(struct world *world, const char *id, const char *end, const char *words)
{
    struct call call = { .services = &world->services, .principal = { .role = ROLE_VIEWER } };
    const struct resource *resource;
    TEXT_AUTO out = { 0 };
    char uri[RESOURCE_URI_SIZE];

    snprintf(uri, sizeof uri, "opsbrain://runs/%s%s", id, end);
    call.change.actor = (struct actor){ .client = "test/1", .request_id = "req_r" };
    if (!resource_read(resources, &call, uri, &resource, &out, &world->error))
        fail_msg("%s: %s", uri, world->error.message);
    if (strstr(text_string(&out), words) == NULL)
        fail_msg("%s does not say \"%s\":\n%s", uri, words, text_string(&out));
}

static void resources_show_imported_runs(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE], next[RESOURCE_CURSOR_SIZE];
    json_auto_t *page = NULL;
    FREE_AUTO char *listed = NULL;

    import_silently(world, "", id);
    read_resource(world, id, "", "\"imported\": true");
    read_resource(world, id, "/report", "# Imported run");
    read_resource(world, id, "/cells.csv", "concurrency,context_len");
    read_resource(world, id, "/export/vllm", "\"max_concurrency\":4");
    read_resource(world, id, "/export/aiperf", "variation_values");
    read_resource(world, id, "/export/csv", "concurrency,context_len");
    read_resource(world, id, "/export/serving-report", "\"schema_version\"");
    assert_true(resources_page(resources, &world->services, "", &page, next, &world->error));
    listed = json_dumps(page, 0);
    assert_non_null(strstr(listed, id));
    assert_null(strstr(listed, "/export/"));
}

static struct world *published_world; /* for import_and_report, a callback that gets no context */

static void import_and_report(const char *name, const struct text *bytes)
{
    json_auto_t *arguments =
        json_pack("{s:s#, s:s}", "text", bytes->data, (int)bytes->length, "name", name);
    FREE_AUTO char *written = json_dumps(arguments, 0);
    json_auto_t *answer = world_ok(published_world, "run_import", written);

    json_decref(call_with_run(published_world, "run_report",
                              json_get_text(json_object_get(answer, "run"), "id", ""), ""));
    assert_false(json_get_boolean(answer, "already_known", true));
}

static void imports_and_reports_every_published_file(void **state)
{
    char path[4096];
    const char *folder = published_folder(path);

    if (folder == NULL)
        skip();
    published_world = *state;
    published_each(folder, import_and_report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_a_file_and_says_how_it_was_read),
        cmocka_unit_test(importing_a_file_again_returns_the_same_run),
        cmocka_unit_test(the_meaning_of_columns_can_be_stated_with_the_file),
        cmocka_unit_test(every_format_can_be_named),
        cmocka_unit_test(facts_stated_later_make_a_new_run),
        cmocka_unit_test(refuses_viewers_wrong_arguments_and_unreadable_files),
        cmocka_unit_test(lists_imported_runs_among_those_of_sweeps),
        cmocka_unit_test(paging_lists_every_imported_run),
        cmocka_unit_test(shows_rows_as_they_are_in_the_file),
        cmocka_unit_test(reports_only_what_is_known),
        cmocka_unit_test(every_exported_page_is_a_complete_file),
        cmocka_unit_test(exports_a_run_that_opsbrain_measured),
        cmocka_unit_test(a_bad_run_is_exported_with_its_warnings),
        cmocka_unit_test(every_exported_file_can_be_imported_unchanged),
        cmocka_unit_test(resources_show_imported_runs),
        cmocka_unit_test(imports_and_reports_every_published_file),
    };

    return world_run(tests);
}
