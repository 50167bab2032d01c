/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of resources: their URIs, their list and their contents. */
#include "handlers/resource.h"
#include "tests/unit/support/tool_sweeps.h"

static bool read_uri(struct world *world, const char *uri)
{
    struct call call = { .services = &world->services,
                         .principal = { .role = world->role },
                         .host = world,
                         .progress = world_progress,
                         .cancelled = world_cancelled };
    const struct resource *resource;

    snprintf(call.principal.name, sizeof call.principal.name, "%s", world->principal);
    call.change.actor = (struct actor){ .client = "test/1", .request_id = "req_r" };
    text_clear(&world->text);
    return resource_read(resources, &call, uri, &resource, &world->text, &world->error);
}

static json_t *read_json(struct world *world, const char *uri)
{
    json_t *json = NULL;

    if (!read_uri(world, uri)
        || !json_parse(world->text.data, world->text.length, &json, &world->error))
        fail_msg("%s: %s", uri, world->error.message);
    return json;
}

static void read_refused(struct world *world, const char *uri, enum error_kind kind,
                         const char *words)
{
    if (read_uri(world, uri))
        fail_msg("%s was read", uri);
    if (world->error.kind != kind || strstr(world->error.message, words) == NULL)
        fail_msg("%s: %s: %s", uri, error_kind_name(world->error.kind), world->error.message);
    assert_int_equal(world->text.length, 0);
    world_audited(world, "resources/read", error_kind_name(kind), "");
}

/* Lists every URI, page by page. Returns a new reference. */
static json_t *list_uris(struct world *world, size_t *pages)
{
    json_t *uris = json_array();
    char cursor[RESOURCE_CURSOR_SIZE] = "";

    *pages = 0;
    do {
        json_auto_t *page = NULL;
        char next[RESOURCE_CURSOR_SIZE];

        if (!resources_page(resources, &world->services, cursor, &page, next, &world->error))
            fail_msg("%s", world->error.message);
        for (size_t i = 0; i < json_array_size(page); i++)
            json_array_append(uris, json_object_get(json_array_get(page, i), "uri"));
        memcpy(cursor, next, sizeof cursor);
        ++*pages;
    } while (cursor[0] != '\0');
    return uris;
}

static bool has_uri(const json_t *uris, const char *uri)
{
    for (size_t i = 0; i < json_array_size(uris); i++)
        if (strcmp(json_string_value(json_array_get(uris, i)), uri) == 0)
            return true;
    return false;
}

static void measure_sweep(struct world *world, char sweep[ID_SIZE], char run[ID_SIZE],
                          char job[ID_SIZE])
{
    struct sweep_row row;
    struct run_row *runs;
    size_t count;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    sweep_measured(world, sweep, 4, "completed", "");
    assert_stored(world, sweep_find(world->services.store, sweep, &row, &world->error));
    text_copy(job, ID_SIZE, row.job_id);
    sweep_row_finish(&row);
    assert_stored(
        world, run_list(world->services.store, NULL, sweep, 0, 10, &runs, &count, &world->error));
    assert_int_equal(count, 1);
    text_copy(run, ID_SIZE, runs[0].id);
    run_rows_free(runs, count);
}

static void every_resource_has_a_help_text_and_a_valid_uri(void **state)
{
    (void)state;
    for (size_t i = 0; resources[i] != NULL; i++) {
        const struct resource *resource = resources[i];

        assert_true(strlen(resource->help) >= 60);
        assert_int_equal(resource->help[strlen(resource->help) - 1], '.');
        assert_true(strncmp(resource->uri, "opsbrain://", 11) == 0
                    || strncmp(resource->uri, "ui://opsbrain/", 14) == 0);
        assert_int_equal(resource->instances != NULL, resource_is_template(resource));
    }
}

static void parses_the_uris_it_makes(void **state)
{
    (void)state;
    for (size_t i = 0; resources[i] != NULL; i++) {
        char uri[RESOURCE_URI_SIZE], value[INSTANCE_VALUE_SIZE];
        const struct resource *found;
        struct error error;

        resource_uri(resources[i], "a.b-c_1", uri);
        assert_true(resource_match(resources, uri, &found, value, &error));
        assert_ptr_equal(found, resources[i]);
        assert_string_equal(value, resource_is_template(found) ? "a.b-c_1" : "");
    }
}

static void decodes_percent_escapes_and_refuses_unknown_uris(void **state)
{
    static const char *const wrong[] = {
        "",
        "opsbrain://",
        "opsbrain://Guide",
        "opsbrain://guide/",
        "opsbrain://runs",
        "opsbrain://runs/",
        "opsbrain://runs//report",
        "opsbrain://runs/a/b",
        "opsbrain://runs/a%2Fb",
        "opsbrain://runs/a%",
        "opsbrain://runs/a%4",
        "opsbrain://runs/a%zz",
        "opsbrain://runs/a%00",
        "opsbrain://runs/../guide",
        "opsbrain://runs/a?x=1",
        "opsbrain://runs/{id}",
        ("opsbrain://runs/"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        "http://guide",
    };
    char value[INSTANCE_VALUE_SIZE];
    const struct resource *found;
    struct error error;

    (void)state;
    assert_true(resource_match(resources, "opsbrain://runs/r%75n_1", &found, value, &error));
    assert_string_equal(value, "run_1");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (resource_match(resources, wrong[i], &found, value, &error))
            fail_msg("%s matches %s", wrong[i], found->uri);
        assert_int_equal(error.kind, ERROR_NOT_FOUND);
        assert_non_null(strstr(error.message, "opsbrain://"));
    }
}

static void lists_every_resource_except_unlisted_ones(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE], job[ID_SIZE], uri[RESOURCE_URI_SIZE];
    json_auto_t *uris = NULL, *again = NULL;
    size_t pages;

    measure_sweep(world, sweep, run, job);
    uris = list_uris(world, &pages);
    assert_int_equal(pages, 1);
    assert_int_equal(json_array_size(uris), 9);
    for (size_t i = 0; resources[i] != NULL; i++) {
        const struct resource_instances *instances = resources[i]->instances;

        resource_uri(resources[i],
                     instances == &deployment_instances ? "demo"
                     : instances == &sweep_instances    ? sweep
                     : instances == &run_instances      ? run
                     : instances == &job_instances      ? job
                                                        : "sweep_plan",
                     uri);
        assert_int_equal(has_uri(uris, uri), !resources[i]->unlisted);
        assert_true(resource_find(resources, &world->services, uri, &world->error));
    }
    again = list_uris(world, &pages);
    assert_true(json_equal(uris, again));
}

static void lists_several_pages_without_loss_or_repetition(void **state)
{
    struct world *world = *state;
    json_auto_t *uris = NULL, *seen = json_object();
    size_t pages;

    for (int i = 0; i < 130; i++) {
        char name[32];

        snprintf(name, sizeof name, "demo-%03d", i);
        world_register(world, name);
    }
    uris = list_uris(world, &pages);
    assert_int_equal(json_array_size(uris), 262);
    assert_in_range(pages, 3, 6);
    for (size_t i = 0; i < json_array_size(uris); i++)
        json_object_set_new(seen, json_string_value(json_array_get(uris, i)), json_true());
    assert_int_equal(json_object_size(seen), 262);
}

static void refuses_invalid_cursors(void **state)
{
    static const char *const wrong[] = { "x",
                                         "guide",
                                         "guide:1",
                                         ":",
                                         "sweep:x",
                                         "sweep:0",
                                         "sweep:-1",
                                         "run:1 ",
                                         "deployment:a/b",
                                         "job:99999999999999999999999999999999" };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        json_t *page = NULL;
        char next[RESOURCE_CURSOR_SIZE];

        if (resources_page(resources, &world->services, wrong[i], &page, next, &world->error))
            fail_msg("%s was accepted", wrong[i]);
        assert_int_equal(world->error.kind, ERROR_INVALID);
        assert_null(page);
    }
}

static void without_its_server_a_deployment_can_be_read_but_not_its_metrics(void **state)
{
    struct world *world = *state;
    json_auto_t *json = NULL;

    world_register(world, "demo");
    simserve_stop(&world->simserve);
    json = read_json(world, "opsbrain://deployments/demo");
    assert_string_equal(json_get_text(json_object_get(json, "deployment"), "url", ""), world->url);
    assert_true(json_is_null(json_object_get(json, "last_sweep")));
    read_refused(world, "opsbrain://deployments/demo/metrics", ERROR_UPSTREAM, "");
    world->simserve = simserve_start((const char *const[]){ NULL });
}

static void reads_the_current_metrics_of_a_server(void **state)
{
    struct world *world = *state;
    json_auto_t *json = NULL;

    world_register(world, "demo");
    json = read_json(world, "opsbrain://deployments/demo/metrics");
    assert_true(json_is_number(json_object_get(json_object_get(json, "now"), "requests_running")));
    assert_true(json_is_null(json_object_get(json, "rates")));
}

static void reads_a_sweep_a_run_its_report_and_a_job(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE], job[ID_SIZE], uri[RESOURCE_URI_SIZE];
    json_auto_t *of_sweep = NULL, *of_run = NULL, *of_job = NULL;

    measure_sweep(world, sweep, run, job);
    snprintf(uri, sizeof uri, "opsbrain://sweeps/%s", sweep);
    of_sweep = read_json(world, uri);
    assert_int_equal(json_array_size(json_object_get(of_sweep, "cells")), 4);
    snprintf(uri, sizeof uri, "opsbrain://runs/%s", run);
    of_run = read_json(world, uri);
    assert_string_equal(json_get_text(json_object_get(of_run, "run"), "sweep", ""), sweep);
    snprintf(uri, sizeof uri, "opsbrain://jobs/%s", job);
    of_job = read_json(world, uri);
    assert_string_equal(json_get_text(of_job, "state", ""), "completed");
    snprintf(uri, sizeof uri, "opsbrain://runs/%s/report", run);
    assert_true(read_uri(world, uri));
    world_says(world, "# ");
    world_says(world, "simserve/toy");
}

static void cells_csv_has_a_header_and_a_line_for_each_cell(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE], job[ID_SIZE], uri[RESOURCE_URI_SIZE];
    size_t lines = 0;

    measure_sweep(world, sweep, run, job);
    snprintf(uri, sizeof uri, "opsbrain://runs/%s/cells.csv", run);
    assert_true(read_uri(world, uri));
    for (const char *c = world->text.data; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 5);
    assert_true(strncmp(world->text.data, "position,deployment,repetition,concurrency,", 43) == 0);
    world_says(world, "\"measured\",,1,1.0,");
    world_says(world, ",20.0,30.0,2.0,3.0,");
}

static void the_guide_names_every_tool_and_resource(void **state)
{
    struct world *world = *state;

    assert_true(read_uri(world, "opsbrain://guide"));
    for (size_t i = 0; tools[i] != NULL; i++)
        world_says(world, tools[i]->name);
    for (size_t i = 0; resources[i] != NULL; i++)
        world_says(world, resources[i]->uri);
    world_says(world, "saturation");
}

static void explains_the_members_of_every_answer(void **state)
{
    struct world *world = *state;

    assert_true(read_uri(world, "opsbrain://answers"));
    for (size_t i = 0; tools[i] != NULL; i++)
        for (const struct field *field = tools[i]->fields; field != NULL && field->name != NULL;
             field++)
            world_says(world, field->help);
    world_says(world, "## sweep_show\n\n- `sweep`: The sweep.\n- `sweep.id`: Id of the sweep.");
    world_says(world, "missing: the sweep has ended. As in job_show.\n- `cells`: ");
    world_says(world, "- `cells.ttft_p99_ms`: Time to first token, p99.");
}

static void refuses_unknown_uris_and_audits_the_refusals(void **state)
{
    struct world *world = *state;
    size_t before;

    world_register(world, "demo");
    before = world_audit_count(world);
    assert_true(read_uri(world, "opsbrain://guide"));
    assert_int_equal(world_audit_count(world), before);
    read_refused(world, "opsbrain://deployments/other", ERROR_NOT_FOUND, "demo");
    read_refused(world, "opsbrain://runs/run_nobody", ERROR_NOT_FOUND, "run_nobody");
    read_refused(world, "opsbrain://sweeps/swp_nobody/cells.csv", ERROR_NOT_FOUND, "swp_nobody");
    read_refused(world, "opsbrain://sweeps/swp_nobody/x", ERROR_NOT_FOUND, "one of these forms");
    assert_false(
        resource_find(resources, &world->services, "opsbrain://jobs/job_x", &world->error));
}

static bool read_secret(struct call *call, const char *value, struct text *out, struct error *error)
{
    (void)call, (void)value, (void)error;
    text_add(out, "secret");
    return true;
}

static void refuses_readers_without_the_role_of_the_resource(void **state)
{
    static const struct resource guarded = { .name = "guarded",
                                             .uri = "opsbrain://guarded",
                                             .mime_type = "text/plain",
                                             .role = ROLE_OPERATOR,
                                             .read = read_secret };
    static const struct resource *const table[] = { &guarded, NULL };
    struct world *world = *state;
    struct call call = { .services = &world->services,
                         .principal = { .name = "bob", .role = ROLE_VIEWER } };
    const struct resource *resource;

    assert_false(resource_read(table, &call, guarded.uri, &resource, &world->text, &world->error));
    assert_int_equal(world->error.kind, ERROR_FORBIDDEN);
    assert_int_equal(world->text.length, 0);
    call.principal.role = ROLE_OPERATOR;
    assert_true(resource_read(table, &call, guarded.uri, &resource, &world->text, &world->error));
    assert_string_equal(text_string(&world->text), "secret");
}

/* The resources opsbrain://arguments/TOOL hold the details for which tools/list has no room. */
static void explains_the_arguments_of_every_tool(void **state)
{
    struct world *world = *state;
    char uri[RESOURCE_URI_SIZE];

    for (size_t i = 0; tools[i] != NULL; i++) {
        snprintf(uri, sizeof uri, "opsbrain://arguments/%s", tools[i]->name);
        assert_true(read_uri(world, uri));
        world_says(world, tools[i]->more);
        for (const struct param *param = tools[i]->params; param->name != NULL; param++)
            world_says(world, param->help);
    }
    assert_true(read_uri(world, "opsbrain://arguments/sweep_plan"));
    world_says(world, "- `window_s` (a number from 1 to 600): Measured seconds");
    world_says(world, "## Options\n");
    world_says(world, "- `api` (one of completions, chat; \"completions\" by default): ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_resource_has_a_help_text_and_a_valid_uri),
        cmocka_unit_test(parses_the_uris_it_makes),
        cmocka_unit_test(decodes_percent_escapes_and_refuses_unknown_uris),
        cmocka_unit_test(lists_every_resource_except_unlisted_ones),
        cmocka_unit_test(lists_several_pages_without_loss_or_repetition),
        cmocka_unit_test(refuses_invalid_cursors),
        cmocka_unit_test(without_its_server_a_deployment_can_be_read_but_not_its_metrics),
        cmocka_unit_test(reads_the_current_metrics_of_a_server),
        cmocka_unit_test(reads_a_sweep_a_run_its_report_and_a_job),
        cmocka_unit_test(cells_csv_has_a_header_and_a_line_for_each_cell),
        cmocka_unit_test(the_guide_names_every_tool_and_resource),
        cmocka_unit_test(explains_the_members_of_every_answer),
        cmocka_unit_test(explains_the_arguments_of_every_tool),
        cmocka_unit_test(refuses_unknown_uris_and_audits_the_refusals),
        cmocka_unit_test(refuses_readers_without_the_role_of_the_resource),
    };

    return world_run(tests);
}
