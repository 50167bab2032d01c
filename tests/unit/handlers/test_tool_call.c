/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what happens in every tool call: checks of the role and the arguments, audit, and what
 * is hidden from the caller. */
#include "tests/unit/support/tool_world.h"

static void a_call_needs_the_role_of_its_tool(void **state)
{
    struct world *world = *state;

    world->principal = "eve";
    world->role = ROLE_VIEWER;
    world_refused(world, "deployment_register", "{\"name\":\"a\",\"url\":\"http://127.0.0.1:1\"}",
                  ERROR_FORBIDDEN,
                  "deployment_register needs the role operator; eve has the role viewer");
    world->role = ROLE_OPERATOR;
    world_refused(world, "secret_bind", "{}", ERROR_FORBIDDEN, "secret_bind needs the role admin");
}

static void audits_a_refused_read_but_not_a_successful_one(void **state)
{
    struct world *world = *state;

    world_do(world, "deployment_list", "{}");
    assert_int_equal(world_audit_count(world), 0);
    world_refused(world, "deployment_list", "{\"limit\":1000}", ERROR_INVALID,
                  "\"limit\" is 1000: it must be from 1 to 100");
    assert_int_equal(world_audit_count(world), 1);
}

static void audits_a_write_that_changed_nothing(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_audited(world, "deployment_register", "ok", "demo");
    world_register(world, "demo");
    world_audited(world, "deployment_register", "ok", "");
}

static void records_when_a_model_query_began(void **state)
{
    struct world *world = *state;
    struct audit_filter filter = { .tool = "model_query" };
    struct audit_row *rows;
    size_t count;

    world_register(world, "demo");
    world_do(world, "model_query", "{\"prompt\":\"hello\",\"max_tokens\":4}");
    assert_true(audit_log_list(world->services.store, &filter, 10, &rows, &count, &world->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].phase, "outcome");
    assert_in_range(rows[0].began_ms, 1, rows[0].at_ms);
    audit_log_rows_free(rows, count);
}

static void keeps_credentials_out_of_the_audit_log_and_the_error(void **state)
{
    static const char token[] = "hf_AbCdEfGhIjKlMnOpQrStUvWx";
    struct world *world = *state;
    struct audit_filter filter = { .tool = "deployment_register" };
    struct audit_row *rows;
    size_t count;
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments,
              "{\"name\":\"a\",\"url\":\"http://joe:pass-word@127.0.0.1:1\",\"secret\":\"%s\","
              "\"labels\":{\"token\":\"%s\"},\"hardware\":\"use %s please\"}",
              token, token, token);
    assert_null(world_call(world, "deployment_register", text_string(&arguments)));
    assert_null(strstr(world->error.message, token));
    assert_null(strstr(world->error.message, "pass-word"));
    assert_true(audit_log_list(world->services.store, &filter, 1, &rows, &count, &world->error));
    assert_int_equal(count, 1);
    assert_null(strstr(rows[0].arguments, token));
    assert_null(strstr(rows[0].arguments, "pass-word"));
    assert_null(strstr(rows[0].detail, "pass-word"));
    assert_non_null(strstr(rows[0].arguments, "(hidden: not a secret's name)"));
    audit_log_rows_free(rows, count);
}

static void records_only_the_number_of_unknown_arguments(void **state)
{
    struct world *world = *state;
    struct audit_filter filter = { .tool = "job_list" };
    struct audit_row *rows;
    size_t count;

    world_refused(world, "job_list", "{\"password\":\"123456\"}", ERROR_INVALID,
                  "job_list takes no argument \"password\"");
    assert_true(audit_log_list(world->services.store, &filter, 1, &rows, &count, &world->error));
    assert_string_equal(rows[0].arguments, "{\"unknown arguments\":1}");
    audit_log_rows_free(rows, count);
}

static bool fail_internally(struct call *call, struct answer *answer, struct error *error)
{
    (void)call;
    (void)answer;
    return error_set(error, ERROR_INTERNAL, "the disk /dev/sda1 is on fire");
}

static bool answer_wrongly(struct call *call, struct answer *answer, struct error *error)
{
    (void)call;
    (void)error;
    answer->structured = json_pack("{s:i}", "surprise", 1);
    return true;
}

static const struct param no_params[] = { { 0 } };
static const struct field no_fields[] = { { 0 } };

static void expect_call_to_fail(struct world *world,
                                bool (*run)(struct call *call, struct answer *answer,
                                            struct error *error))
{
    const struct tool tool = { .name = "sample",
                               .params = no_params,
                               .fields = no_fields,
                               .role = ROLE_VIEWER,
                               .read_only = true,
                               .run = run };
    struct answer answer = { 0 };
    struct call call = { .services = &world->services,
                         .principal = { .name = "bob", .role = ROLE_VIEWER },
                         .change.actor.request_id = "req_77",
                         .host = world,
                         .progress = world_progress,
                         .cancelled = world_cancelled };

    assert_false(tool_call(&tool, &call, &answer, &world->error));
    assert_null(answer.structured);
}

static void internal_errors_show_callers_only_the_request_id(void **state)
{
    struct world *world = *state;
    struct audit_filter filter = { .tool = "sample" };
    struct audit_row *rows;
    size_t count;

    expect_call_to_fail(world, fail_internally);
    assert_int_equal(world->error.kind, ERROR_INTERNAL);
    assert_string_equal(world->error.message,
                        "internal error, see request req_77 in the server's log");
    assert_true(audit_log_list(world->services.store, &filter, 1, &rows, &count, &world->error));
    assert_string_equal(rows[0].outcome, "internal");
    audit_log_rows_free(rows, count);
}

static void an_answer_with_an_undeclared_member_becomes_an_internal_error(void **state)
{
    struct world *world = *state;

    expect_call_to_fail(world, answer_wrongly);
    assert_int_equal(world->error.kind, ERROR_INTERNAL);
}

static void suggests_similar_tools_if_a_tool_is_unknown(void **state)
{
    struct world *world = *state;
    struct call call = { .services = &world->services,
                         .principal = { .name = "bob", .role = ROLE_VIEWER },
                         .change.actor.request_id = "req_1" };
    struct audit_filter filter = { .principal = "bob" };
    struct audit_row *rows;
    size_t count;

    assert_false(tool_missing(&call, "sweep_begin", &world->error));
    assert_int_equal(world->error.kind, ERROR_NOT_FOUND);
    assert_string_equal(world->error.message,
                        "no tool is called \"sweep_begin\"; similar tools are sweep_cancel, "
                        "sweep_list, sweep_plan, sweep_resume, sweep_show, sweep_start");
    assert_false(tool_missing(&call, "deployment_lst", &world->error));
    assert_string_equal(world->error.message,
                        "no tool is called \"deployment_lst\": did you mean \"deployment_list\"?");
    assert_true(audit_log_list(world->services.store, &filter, 10, &rows, &count, &world->error));
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].outcome, "not_found");
    audit_log_rows_free(rows, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_needs_the_role_of_its_tool),
        cmocka_unit_test(audits_a_refused_read_but_not_a_successful_one),
        cmocka_unit_test(audits_a_write_that_changed_nothing),
        cmocka_unit_test(records_when_a_model_query_began),
        cmocka_unit_test(keeps_credentials_out_of_the_audit_log_and_the_error),
        cmocka_unit_test(records_only_the_number_of_unknown_arguments),
        cmocka_unit_test(internal_errors_show_callers_only_the_request_id),
        cmocka_unit_test(an_answer_with_an_undeclared_member_becomes_an_internal_error),
        cmocka_unit_test(suggests_similar_tools_if_a_tool_is_unknown),
    };

    return world_run(tests);
}
