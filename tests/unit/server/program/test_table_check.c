/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of tools, resources, prompts, methods and routes are checked before the server starts:
 * an incomplete or contradictory row is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "handlers/consent.h"
#include "handlers/table_check.h"
#include "server/http/routes.h"
#include "server/mcp/mcp.h"
#include "server/mcp/methods.h"
#include "server/program/probes.h"
#include "tests/unit/support/served.h"

static void accepts_the_programs_own_tables(void **state)
{
    struct error error = { .kind = ERROR_NONE };

    (void)state;
    if (!table_check_tools(tools, &error) || !table_check_resources(resources, &error)
        || !table_check_prompts(prompts, &error) || !methods_check(methods, &error)
        || !routes_check(mcp_routes, &error) || !routes_check(upload_routes, &error)
        || !routes_check(probe_routes, &error))
        fail_msg("%s", error.message);
}

static void check_refused(struct tool tool, const char *problem)
{
    const struct tool *const table[] = { &tool, NULL };
    struct error error;

    assert_false(table_check_tools(table, &error));
    assert_int_equal(error.kind, ERROR_INTERNAL);
    assert_non_null(strstr(error.message, tool.name));
    assert_non_null(strstr(error.message, problem));
}

/* Checks that the tool is refused after this assignment to one of its members. */
#define REFUSED_AFTER(name, assignment, problem)                                                   \
    do {                                                                                           \
        struct tool copy = *tool_find(name);                                                       \
        copy.assignment;                                                                           \
        check_refused(copy, problem);                                                              \
    } while (0)

static void refuses_a_tool_without_a_role_or_placement(void **state)
{
    (void)state;
    REFUSED_AFTER("run_list", role = 0, "has no role");
    REFUSED_AFTER("run_list", placement = 0, "has no placement");
}

static void refuses_missing_or_contradictory_statements_about_what_a_tool_does(void **state)
{
    (void)state;
    REFUSED_AFTER("deployment_remove", destroys = 0, "does not state");
    REFUSED_AFTER("sweep_start", spends_money = 0, "does not state");
    REFUSED_AFTER("run_list", read_only = false, "does not state");
    REFUSED_AFTER("run_list", destroys = STATED_YES, "only reads");
    REFUSED_AFTER("run_list", spends_money = STATED_NO, "only reads");
}

static void refuses_a_missing_or_unnecessary_go_ahead(void **state)
{
    (void)state;
    REFUSED_AFTER("deployment_remove", go_ahead = NULL, "has no go_ahead()");
    REFUSED_AFTER("sweep_start", go_ahead = NULL, "has no go_ahead()");
    REFUSED_AFTER("deployment_remove", destroys = STATED_NO,
                  "neither destroys anything nor spends money");
}

static void refuses_arguments_and_members_without_a_type(void **state)
{
    static const struct param params[] = { { .name = "bare" }, { 0 } };
    static const struct field inner[] = { { .name = "bare" }, { 0 } };
    static const struct field outer[] = { { "outer", VALUE_OBJECT, .fields = inner }, { 0 } };

    (void)state;
    REFUSED_AFTER("run_list", params = params, "argument bare has no type");
    REFUSED_AFTER("run_list", fields = outer, "member bare has no type");
}

static void refuses_resources_without_a_role_or_placement_and_prompts_without_a_role(void **state)
{
    struct resource resource = *resources[0];
    struct prompt prompt = *prompts[0];
    const struct resource *const resource_table[] = { &resource, NULL };
    const struct prompt *const prompt_table[] = { &prompt, NULL };
    struct error error;

    (void)state;
    resource.role = 0;
    assert_false(table_check_resources(resource_table, &error));
    assert_non_null(strstr(error.message, "has no role"));
    resource = *resources[0];
    resource.placement = 0;
    assert_false(table_check_resources(resource_table, &error));
    assert_non_null(strstr(error.message, "has no placement"));
    prompt.role = 0;
    assert_false(table_check_prompts(prompt_table, &error));
    assert_non_null(strstr(error.message, "has no role"));
}

static void refuses_methods_without_a_placement_or_era_and_routes_with_unclear_access(void **state)
{
    static const struct method without_placement[] = { { "ping", ERA_LEGACY }, { 0 } };
    static const struct method without_era[] = { { "ping", .placement = PLACE_INLINE }, { 0 } };
    static const struct route without_role[] = { { "GET", "/secrets" }, { 0 } };
    static const struct route contradictory[] = {
        { "GET", "/secrets", .open = true, .role = ROLE_ADMIN }, { 0 }
    };
    struct error error;

    (void)state;
    assert_false(methods_check(without_placement, &error));
    assert_string_equal(error.message, "the method ping has no placement");
    assert_false(methods_check(without_era, &error));
    assert_string_equal(error.message, "the method ping has no era");
    assert_false(routes_check(without_role, &error));
    assert_string_equal(error.message, "the route GET /secrets must either be open or have a role");
    assert_false(routes_check(contradictory, &error));
}

static void read_settings(struct served *served, ...)
{
    va_list flags;

    va_start(flags, served);
    served_read_settings(served, flags);
    va_end(flags);
}

static void a_server_with_a_tool_without_a_role_does_not_start(void **state)
{
    const struct tool forgetful = { .name = "forgetful", .read_only = true };
    const struct tool *const table[] = { &forgetful, NULL };
    struct served served;
    struct error error;

    (void)state;
    served_create(&served);
    read_settings(&served, NULL);
    served.tools = table;
    assert_false(served_try(&served, &error));
    assert_string_equal(error.message, "the tool forgetful has no role");
    job_pool_destroy(served.services.jobs, 1000);
    store_close(served.services.store);
    folder_remove(served.folder);
}

static void a_row_without_a_role_admits_nobody(void **state)
{
    (void)state;
    assert_true(role_allows(ROLE_ADMIN, ROLE_VIEWER));
    assert_true(role_allows(ROLE_VIEWER, ROLE_VIEWER));
    assert_false(role_allows(ROLE_VIEWER, ROLE_OPERATOR));
    assert_false(role_allows(ROLE_NONE, ROLE_VIEWER));
    assert_false(role_allows(ROLE_ADMIN, ROLE_NONE));
    assert_false(role_allows(ROLE_NONE, ROLE_NONE));
    assert_false(role_find("none", &(enum role){ ROLE_NONE }));
}

static void consent_cannot_be_asked_for_outside_go_ahead(void **state)
{
    struct call call = { .change.tool = "sly" };
    const struct consent consent = { .name = "demo" };
    struct error error;

    (void)state;
    assert_false(consent_get(&call, &consent, &error));
    assert_int_equal(error.kind, ERROR_INTERNAL);
    assert_string_equal(error.message, "sly asks for consent outside its go_ahead()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_the_programs_own_tables),
        cmocka_unit_test(refuses_a_tool_without_a_role_or_placement),
        cmocka_unit_test(refuses_missing_or_contradictory_statements_about_what_a_tool_does),
        cmocka_unit_test(refuses_a_missing_or_unnecessary_go_ahead),
        cmocka_unit_test(refuses_arguments_and_members_without_a_type),
        cmocka_unit_test(refuses_resources_without_a_role_or_placement_and_prompts_without_a_role),
        cmocka_unit_test(refuses_methods_without_a_placement_or_era_and_routes_with_unclear_access),
        cmocka_unit_test(a_server_with_a_tool_without_a_role_does_not_start),
        cmocka_unit_test(a_row_without_a_role_admits_nobody),
        cmocka_unit_test(consent_cannot_be_asked_for_outside_go_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
