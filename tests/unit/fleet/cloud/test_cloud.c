/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses can be called with a cloud's credential, how the answers are judged, and which
 * calls are repeated. */
#include "tests/unit/support/cloud_world.h"

static void test_after_a_401_one_new_token_is_tried(void **state)
{
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_WORKLOAD_IDENTITY, "");
    struct cloud_reply reply;
    struct error error;

    world->valid = 2;
    assert_true(call(cloud, "POST", RUN, &reply, &error));
    cloud_reply_finish(&reply);
    assert_int_equal(world->tokens, 2);
    assert_int_equal(world->calls, 2);
    world->valid = 99;
    assert_false(call(cloud, "POST", RUN, &reply, &error));
    assert_int_equal(reply.verdict, CLOUD_REFUSED);
    assert_int_equal(reply.status, 401);
    assert_int_equal(world->calls, 4);
    assert_null(strstr(error.message, "canary"));
    assert_null(strstr(reply.message, "canary"));
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_a_credential_goes_only_to_its_own_services(void **state)
{
    static const char *const urls[] = {
        "https://evil.example/v2",
        "https://run.googleapis.com.evil.example/v2",
        "https://run.googleapis.com@evil.example/",
        "https://run.googleapis.com",
        "http://run.googleapis.com/v2",
        "http://169.254.169.254/computeMetadata/v1/",
        "https://oauth2.googleapis.com/token",
        "/v2/x",
        "https://run.googleapis.com/a/../b",
        "https://run.googleapis.com/a b",
        "https://run.googleapis.com/a\r\nX: y",
    };
    struct world *world = *state;
    struct cloud *google = make(world, CLOUD_WORKLOAD_IDENTITY, "");
    struct cloud *kubernetes = make(world, CLOUD_KUBECONFIG, "lab.yaml");
    struct cloud *none = make(world, CLOUD_NONE, "");
    struct cloud_reply reply;
    struct error error;

    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        assert_false(call(google, "GET", urls[i], &reply, &error));
        assert_int_equal(reply.verdict, CLOUD_REFUSED);
        cloud_reply_finish(&reply);
    }
    assert_false(call(kubernetes, "GET", RUN, &reply, &error));
    assert_false(call(kubernetes, "GET", "//evil.example/x", &reply, &error));
    assert_false(call(kubernetes, "GET", "/api/../x", &reply, &error));
    assert_false(call(none, "GET", RUN, &reply, &error));
    assert_int_equal(world->calls + world->tokens, 0);
    cloud_destroy(google);
    cloud_destroy(kubernetes);
    cloud_destroy(none);
}

static void test_a_change_without_a_usable_answer_counts_as_possibly_made(void **state)
{
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_KUBECONFIG, "lab.yaml");
    struct cloud_reply reply;
    struct error error;

    world->breaks_off = true;
    assert_false(call(cloud, "POST", "/apis", &reply, &error));
    assert_int_equal(reply.verdict, CLOUD_LOST);
    assert_int_equal(reply.status, 0);
    cloud_reply_finish(&reply);
    assert_false(call(cloud, "GET", "/apis", &reply, &error));
    assert_int_equal(reply.verdict, CLOUD_AGAIN);
    cloud_reply_finish(&reply);
    world->breaks_off = false;
    world->answer = "{\"cut\":";
    assert_false(call(cloud, "POST", "/apis", &reply, &error));
    assert_int_equal(reply.verdict, CLOUD_LOST);
    cloud_reply_finish(&reply);
    world->answer = "<html><title>Bad gateway</title>";
    world->type = "text/html";
    world->status = 502;
    assert_false(call(cloud, "POST", "/apis", &reply, &error));
    assert_int_equal(reply.verdict, CLOUD_LOST);
    assert_non_null(strstr(reply.message, "Bad gateway"));
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_text_is_read_if_the_call_accepts_text(void **state)
{
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_KUBECONFIG, "lab.yaml");
    struct cloud_reply reply;
    struct error error;

    world->type = "text/plain";
    world->answer = "a line\n";
    assert_true(cloud_call(cloud, "GET", "/log", CLOUD_TEXT, NULL, &reply, &error));
    assert_string_equal(reply.text, "a line\n");
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

/* A proxy, or a network that requires a login, can answer 200 instead of the API. */
static void test_a_200_without_json_is_not_accepted_as_an_answer(void **state)
{
    static const struct {
        const char *method, *type, *answer;
        enum cloud_verdict verdict;
    } rows[] = {
        { "POST", "text/html", "<title>Log in</title>", CLOUD_LOST },
        { "POST", "text/plain", "ok", CLOUD_LOST },
        { "PATCH", "application/json", "", CLOUD_LOST },
        { "DELETE", "text/plain", "", CLOUD_LOST },
        { "GET", "text/html", "<title>Log in</title>", CLOUD_AGAIN },
        { "GET", "text/plain", "ok", CLOUD_AGAIN },
    };
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_KUBECONFIG, "lab.yaml");
    struct cloud_reply reply;
    struct error error;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        world->type = rows[i].type;
        world->answer = rows[i].answer;
        assert_false(call(cloud, rows[i].method, "/apis", &reply, &error));
        assert_int_equal(reply.verdict, rows[i].verdict);
        assert_non_null(strstr(reply.message, "200 with a body that is not JSON"));
        cloud_reply_finish(&reply);
    }
    world->type = "text/html"; /* refused even if the call accepts text */
    assert_false(cloud_call(cloud, "GET", "/log", CLOUD_TEXT, NULL, &reply, &error));
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_after_a_429_only_reads_with_a_short_wait_are_repeated(void **state)
{
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_KUBECONFIG, "lab.yaml");
    struct cloud_reply reply;
    struct error error;

    world->status = 429;
    world->answer = "{\"kind\":\"Status\",\"reason\":\"TooManyRequests\",\"details\":"
                    "{\"retryAfterSeconds\":1}}";
    world->good_after = 1;
    assert_true(cloud_read(cloud, "/apis", &reply, &error));
    assert_int_equal(world->calls, 2);
    cloud_reply_finish(&reply);
    world->good_after = 0;
    world->status = 429;
    assert_false(call(cloud, "POST", "/apis", &reply, &error));
    assert_int_equal(world->calls, 3);
    assert_int_equal(reply.retry_after_s, 1);
    assert_string_equal(reply.kind, "TooManyRequests");
    cloud_reply_finish(&reply);
    world->answer = "{\"kind\":\"Status\",\"reason\":\"x\",\"details\":{\"retryAfterSeconds\":99}}";
    assert_false(cloud_read(cloud, "/apis", &reply, &error)); /* 99 s is too long to wait */
    assert_int_equal(world->calls, 4);
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_endpoints_with_unknown_names_or_without_http_urls_are_refused(void **state)
{
    struct cloud_endpoints *endpoints = NULL;
    struct error error;

    (void)state;
    assert_false(cloud_endpoints_create("rnu=http://127.0.0.1:1", &endpoints, &error));
    assert_non_null(strstr(error.message, "run"));
    assert_false(cloud_endpoints_create("run", &endpoints, &error));
    assert_false(cloud_endpoints_create("run=ftp://x", &endpoints, &error));
    assert_false(cloud_endpoints_create("run=http://a token=http://b", &endpoints, &error));
    assert_true(cloud_endpoints_create(" run=http://a , token=http://b ", &endpoints, &error));
    cloud_endpoints_destroy(endpoints);
    assert_true(cloud_endpoints_create("", &endpoints, &error));
    cloud_endpoints_destroy(endpoints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_after_a_401_one_new_token_is_tried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_credential_goes_only_to_its_own_services, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_change_without_a_usable_answer_counts_as_possibly_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_text_is_read_if_the_call_accepts_text, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_200_without_json_is_not_accepted_as_an_answer,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_after_a_429_only_reads_with_a_short_wait_are_repeated,
                                        set_up, tear_down),
        cmocka_unit_test(test_endpoints_with_unknown_names_or_without_http_urls_are_refused),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
