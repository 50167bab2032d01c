/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of deployment_register, _update, _list, _show and _remove. */
#include "tests/unit/support/asleep.h"
#include "tests/unit/support/canned_server.h"
#include "tests/unit/support/tool_world.h"

static json_t *register_as(struct world *world, const char *name, const char *more)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"name\":\"%s\",\"url\":\"%s/v1/\"%s}", name, world->url, more);
    return world_ok(world, "deployment_register", text_string(&arguments));
}

static void registers_a_server_and_says_what_it_serves(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = register_as(world, "demo",
                                      ",\"hardware\":\"1x L4\",\"labels\":{\"team\":\"search\"},"
                                      "\"max_running\":256");
    const json_t *deployment = json_object_get(answer, "deployment");

    assert_string_equal(json_get_text(deployment, "url", ""), world->url);
    assert_int_equal(json_get_integer(deployment, "revision", 0), 1);
    assert_int_equal(json_get_integer(json_object_get(deployment, "limits"), "max_running", 0),
                     256);
    assert_true(json_get_boolean(answer, "reachable", false));
    assert_true(json_get_boolean(answer, "changed", false));
    assert_string_equal(json_get_text(answer, "model", ""), "simserve/toy");
    assert_string_equal(json_get_text(answer, "engine", ""), "vllm");
    assert_int_equal(json_get_integer(answer, "context_tokens", 0), 32768);
    world_says(world, "The server is reachable and serves simserve/toy on vllm");
    world_audited(world, "deployment_register", "ok", "demo");
}

static void registering_again_changes_nothing_and_cannot_change_the_url(void **state)
{
    struct world *world = *state;
    json_auto_t *first = register_as(world, "demo", ",\"region\":\"lab\"");
    json_auto_t *again = register_as(world, "demo", ",\"region\":\"lab\"");

    assert_false(json_get_boolean(again, "changed", true));
    assert_int_equal(json_get_integer(json_object_get(again, "deployment"), "revision", 0), 1);
    world_refused(world, "deployment_register",
                  "{\"name\":\"demo\",\"url\":\"http://127.0.0.1:9\"}", ERROR_CONFLICT, "demo");
}

static void registers_a_server_that_is_down_and_says_so(void **state)
{
    struct world *world = *state;
    json_auto_t *answer =
        world_ok(world, "deployment_register", "{\"name\":\"off\",\"url\":\"http://127.0.0.1:1\"}");

    assert_false(json_get_boolean(answer, "reachable", true));
    assert_non_null(strstr(json_get_text(answer, "problem", ""), "connect_refused"));
    world_says(world, "Checking the server failed: ");
}

static void refuses_urls_and_names_that_are_not_allowed(void **state)
{
    static const struct {
        const char *url;
        enum error_kind kind;
    } urls[] = {
        { "http://169.254.169.254/latest", ERROR_FORBIDDEN },
        { "http://[fd00:ec2::254]/", ERROR_FORBIDDEN },
        { "ftp://127.0.0.1", ERROR_INVALID },
        { "127.0.0.1:8000", ERROR_INVALID },
        { "http://127.0.0.1/?a=b", ERROR_INVALID },
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        TEXT_AUTO arguments = { 0 };

        text_addf(&arguments, "{\"name\":\"a\",\"url\":\"%s\"}", urls[i].url);
        world_refused(world, "deployment_register", text_string(&arguments), urls[i].kind, "");
    }
    world_refused(world, "deployment_register", "{\"name\":\"a b\",\"url\":\"http://127.0.0.1\"}",
                  ERROR_INVALID, "it can contain only letters");
    world_refused(world, "deployment_show", "{}", ERROR_NOT_FOUND, "no deployment is registered");
}

static void repeats_the_refused_name_or_url_without_secrets(void **state)
{
    static const char *const urls[][2] = {
        { "ftp://gpu:8000", "\"url\" is \"ftp://gpu:8000\": the URL must begin with http" },
        { "gpu:8000/\\u0007", "\"url\" is \"gpu:8000/\xef\xbf\xbd\"" },
        { "http://gpu/?key=s3cr3t", "\"url\" is \"http://gpu/?(hidden)\"" },
        { "http://me:s3cr3t@gpu", "\"url\" is \"(hidden)\"" },
        { "me:s3cr3t@gpu", "\"url\" is \"(hidden)\"" },
        { "http://me:x?s3cr3t#@gpu", "\"url\" is \"(hidden)\"" },
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        TEXT_AUTO arguments = { 0 };

        text_addf(&arguments, "{\"name\":\"a\",\"url\":\"%s\"}", urls[i][0]);
        world_refused(world, "deployment_register", text_string(&arguments), ERROR_INVALID,
                      urls[i][1]);
        assert_null(strstr(world->error.message, "s3cr3t"));
    }
    world_refused(world, "deployment_register", "{\"name\":\"a b\",\"url\":\"http://127.0.0.1\"}",
                  ERROR_INVALID, "\"name\" is \"a b\": it can contain only letters");
    world_refused(world, "deployment_register",
                  "{\"name\":\"a\",\"url\":\"http://127.0.0.1\",\"labels\":{\"a b\":\"c\"}}",
                  ERROR_INVALID, "a name in \"labels\" is \"a b\": names have 1 to 63");
    world_refused(world, "dataset_import", "{\"name\":\"../a\",\"text\":\"x\"}", ERROR_INVALID,
                  "\"name\" is \"../a\": it must begin");
}

static void refuses_a_secret_value_without_repeating_it(void **state)
{
    struct world *world = *state;

    world_refused(world, "deployment_register",
                  "{\"name\":\"a\",\"url\":\"http://127.0.0.1:1\",\"secret\":\"s3cr3t-value\"}",
                  ERROR_INVALID, "\"secret\" is not the name of a secret");
    assert_null(strstr(world->error.message, "s3cr3t-value"));
    world_refused(world, "deployment_register",
                  "{\"name\":\"a\",\"url\":\"http://127.0.0.1:1\","
                  "\"secret\":\"AKIAIOSFODNN7EXAMPLE\"}",
                  ERROR_INVALID, "looks like a credential");
    assert_null(strstr(world->error.message, "AKIA"));
}

static void an_update_changes_only_what_it_names_and_makes_a_revision(void **state)
{
    struct world *world = *state;
    json_auto_t *first = register_as(world, "demo",
                                     ",\"hardware\":\"1x L4\",\"max_running\":256,"
                                     "\"max_instances\":3");
    json_auto_t *answer =
        world_ok(world, "deployment_update",
                 "{\"region\":\"lab\",\"max_running\":0,\"model_revision\":\"3f2a9c\","
                 "\"quantization\":\"fp8\",\"chips\":4}");
    const json_t *deployment = json_object_get(answer, "deployment");
    const json_t *limits = json_object_get(deployment, "limits");

    assert_int_equal(json_get_integer(deployment, "revision", 0), 2);
    assert_string_equal(json_get_text(deployment, "hardware", ""), "1x L4");
    assert_string_equal(json_get_text(deployment, "region", ""), "lab");
    assert_string_equal(json_get_text(deployment, "model_revision", ""), "3f2a9c");
    assert_string_equal(json_get_text(deployment, "quantization", ""), "fp8");
    assert_int_equal(json_get_integer(deployment, "chips", 0), 4);
    assert_null(json_object_get(limits, "max_running"));
    assert_int_equal(json_get_integer(limits, "max_instances", 0), 3);
    world_audited(world, "deployment_update", "ok", "demo");
}

static void refuses_an_update_of_an_outdated_revision(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_do(world, "deployment_update", "{\"region\":\"a\",\"revision\":1}");
    /* the same call again is not refused */
    world_do(world, "deployment_update", "{\"region\":\"a\",\"revision\":1}");
    world_refused(world, "deployment_update", "{\"region\":\"b\",\"revision\":1}", ERROR_CONFLICT,
                  "demo is now at revision 2, not 1");
}

static void refusals_name_the_registered_deployments(void **state)
{
    struct world *world = *state;

    world_refused(world, "deployment_show", "{}", ERROR_NOT_FOUND,
                  "no deployment is registered yet: call deployment_register");
    world_register(world, "one");
    world_register(world, "two");
    world_refused(world, "deployment_show", "{}", ERROR_INVALID,
                  "more than one deployment is registered: name one (one, two)");
    world_refused(world, "deployment_show", "{\"deployment\":\"tow\"}", ERROR_NOT_FOUND, "two");
}

static void lists_deployments_page_by_page(void **state)
{
    struct world *world = *state;
    json_auto_t *none = world_ok(world, "deployment_list", "{}");
    json_auto_t *first = NULL, *second = NULL;

    assert_int_equal(json_array_size(json_object_get(none, "deployments")), 0);
    world_says(world, "No deployment is registered");
    world_register(world, "a");
    world_register(world, "b");
    world_register(world, "c");
    first = world_ok(world, "deployment_list", "{\"limit\":2}");
    assert_int_equal(json_array_size(json_object_get(first, "deployments")), 2);
    assert_string_equal(json_get_text(first, "next_cursor", ""), "b");
    second = world_ok(world, "deployment_list", "{\"limit\":2,\"cursor\":\"b\"}");
    assert_int_equal(json_array_size(json_object_get(second, "deployments")), 1);
    assert_null(json_object_get(second, "next_cursor"));
    world_do(world, "deployment_list", "{\"cursor\":\"c\"}");
    world_says(world, "There are no more deployments to list after \"c\"");
    world_refused(world, "deployment_list", "{\"cursor\":\"../etc\"}", ERROR_INVALID, "cursor");
}

static void shows_a_dashboard_that_ends_with_the_next_step(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    world_do(world, "metrics_watch", "{\"interval_s\":3600}");
    answer = world_ok(world, "deployment_show", "{}");
    assert_string_equal(json_get_text(json_object_get(answer, "health"), "status", ""), "up");
    assert_string_equal(json_get_text(json_object_get(answer, "model"), "id", ""), "simserve/toy");
    assert_true(json_get_number(json_object_get(answer, "load"), "requests_running", -1) == 0);
    assert_true(json_get_number(json_object_get(answer, "watch"), "interval_s", 0) == 3600);
    assert_null(json_object_get(answer, "lease"));
    assert_null(json_object_get(answer, "last_sweep"));
    world_says(world, "Health     up");
    world_says(world, "stored every 3600 s");
    world_says(world, "Next: model_health; sweep_start with only the deployment's name");
}

static void shows_the_load_of_a_server_without_a_metric_for_running_requests(void **state)
{
    static const struct canned_answer answers[] = {
        { .path = "/v1/models", .body = "{\"data\":[{\"id\":\"toy\"}]}" },
        { .path = "/metrics",
          .type = "text/plain",
          .body = "vllm:num_requests_waiting 3\nvllm:kv_cache_usage_perc 0.25\n" },
        { 0 },
    };
    struct world *world = *state;
    struct canned_server server;

    canned_start(&server, answers);
    snprintf(world->url, sizeof world->url, "http://127.0.0.1:%d", server.port);
    world_register(world, "demo");
    world_do(world, "deployment_show", "{}");
    canned_stop(&server);
    world_says(world, "Load       3 waiting, KV cache 25 % in use\n");
}

static void shows_a_server_that_is_down_with_its_last_known_model(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    simserve_stop(&world->simserve);
    answer = world_ok(world, "deployment_show", "{}");
    assert_string_equal(json_get_text(json_object_get(answer, "health"), "status", ""), "down");
    assert_string_equal(json_get_text(json_object_get(answer, "model"), "id", ""), "simserve/toy");
    assert_null(json_object_get(answer, "load"));
    world_says(world, "DOWN:");
    world->simserve = simserve_start(NULL);
}

static void does_not_wake_a_server_that_scales_to_zero(void **state)
{
    static const struct canned_answer answers[] = {
        { .path = "/v1/models", .body = "{\"data\":[{\"id\":\"toy\"}]}" }, { 0 }
    };
    struct endpoint_lock lock = { .key = asleep_key, .sleeps = true };
    const struct access_locks locks = { &lock, asleep_find };
    struct world *world = *state;
    json_auto_t *answer = NULL;
    struct canned_server server;
    const json_t *health;
    size_t requests_before;

    canned_start(&server, answers);
    snprintf(world->url, sizeof world->url, "http://127.0.0.1:%d", server.port);
    world_register(world, "demo");
    requests_before = server.requests;
    world->services.access.locks = &locks;
    answer = world_ok(world, "deployment_show", "{}");
    world->services.access.locks = NULL;
    canned_stop(&server);
    assert_int_equal(server.requests, requests_before);
    health = json_object_get(answer, "health");
    assert_string_equal(json_get_text(health, "status", ""), "sleeps");
    assert_non_null(strstr(json_get_text(health, "problem", ""), "model_health queries it"));
    assert_null(json_object_get(health, "checked_at"));
    assert_string_equal(json_get_text(json_object_get(answer, "model"), "id", ""), "toy");
    world_says(world, "Health     sleeps; not queried, so as not to wake it; model_health");
}

static void removes_a_deployment_only_if_its_name_is_repeated(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"dem\"}",
                  ERROR_INVALID, "it must repeat the name \"demo\"");
    world_do(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"demo\"}");
    world_audited(world, "deployment_remove", "ok", "demo");
    world_refused(world, "deployment_show", "{\"deployment\":\"demo\"}", ERROR_NOT_FOUND, "demo");
    world_register(world, "demo"); /* the name can be registered again */
}

static void asks_the_user_when_the_call_does_not_confirm_the_removal(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\"}", ERROR_INVALID,
                  "call again with \"confirm\": \"demo\"");
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\"}", ERROR_INVALID,
                  "Its server is not touched");
    world->reply = "{\"action\":\"decline\"}";
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\"}", ERROR_CANCELLED,
                  "demo stays registered");
    world->reply = "{\"action\":\"accept\",\"content\":{\"remove\":false}}";
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\"}", ERROR_CANCELLED,
                  "demo stays registered");
    world->reply = "{\"action\":\"accept\",\"content\":{\"remove\":true}}";
    world_do(world, "deployment_remove", "{\"deployment\":\"demo\"}");
    world_refused(world, "deployment_show", "{\"deployment\":\"demo\"}", ERROR_NOT_FOUND, "demo");
}

static void does_not_remove_a_deployment_that_a_sweep_uses(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_do(world, "sweep_start",
             "{\"concurrency\":[1],\"input_tokens\":[8],\"output_tokens\":[4],\"window_s\":1}");
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"demo\"}",
                  ERROR_CONFLICT, "is using demo");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_a_server_and_says_what_it_serves),
        cmocka_unit_test(registering_again_changes_nothing_and_cannot_change_the_url),
        cmocka_unit_test(registers_a_server_that_is_down_and_says_so),
        cmocka_unit_test(refuses_urls_and_names_that_are_not_allowed),
        cmocka_unit_test(repeats_the_refused_name_or_url_without_secrets),
        cmocka_unit_test(refuses_a_secret_value_without_repeating_it),
        cmocka_unit_test(an_update_changes_only_what_it_names_and_makes_a_revision),
        cmocka_unit_test(refuses_an_update_of_an_outdated_revision),
        cmocka_unit_test(refusals_name_the_registered_deployments),
        cmocka_unit_test(lists_deployments_page_by_page),
        cmocka_unit_test(shows_a_dashboard_that_ends_with_the_next_step),
        cmocka_unit_test(shows_the_load_of_a_server_without_a_metric_for_running_requests),
        cmocka_unit_test(shows_a_server_that_is_down_with_its_last_known_model),
        cmocka_unit_test(does_not_wake_a_server_that_scales_to_zero),
        cmocka_unit_test(removes_a_deployment_only_if_its_name_is_repeated),
        cmocka_unit_test(asks_the_user_when_the_call_does_not_confirm_the_removal),
        cmocka_unit_test(does_not_remove_a_deployment_that_a_sweep_uses),
    };

    return world_run(tests);
}
