/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials: which file names are allowed, where each kind of credential gets its tokens for
 * calling a cloud, and how long a token is used. */
#include "tests/unit/support/cloud_world.h"

static void test_the_metadata_servers_token_is_cached_and_renewed_early(void **state)
{
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_WORKLOAD_IDENTITY, "");
    struct error error;

    for (int i = 0; i < 3; i++) {
        CLOUD_REPLY_AUTO reply;

        assert_true(call(cloud, "GET", RUN, &reply, &error));
        assert_int_equal(reply.verdict, CLOUD_DONE);
        assert_string_equal(json_get_text(reply.body, "name", ""), "x");
    }
    assert_int_equal(world->tokens, 1);
    assert_string_equal(world->last_path, "/v2/projects/p");
    assert_string_equal(world->last_bearer, "canary-token-1");
    test_now_ms += 3600000 - 301000;
    {
        CLOUD_REPLY_AUTO reply;

        assert_true(call(cloud, "GET", RUN, &reply, &error));
        assert_int_equal(world->tokens, 1);
    }
    test_now_ms += 2000; /* 299 s before the token expires */
    {
        CLOUD_REPLY_AUTO reply;

        assert_true(call(cloud, "GET", RUN, &reply, &error));
        assert_int_equal(world->tokens, 2);
        assert_string_equal(world->last_bearer, "canary-token-2");
    }
    cloud_destroy(cloud);
}

static void test_after_a_failed_renewal_the_token_is_used_until_it_expires(void **state)
{
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_WORKLOAD_IDENTITY, "");
    struct cloud_reply reply;
    struct error error;

    assert_true(call(cloud, "GET", RUN, &reply, &error));
    cloud_reply_finish(&reply);
    world->token_down = true;
    test_now_ms += 3590000;
    assert_true(call(cloud, "GET", RUN, &reply, &error));
    cloud_reply_finish(&reply);
    test_now_ms += 11000;
    assert_false(call(cloud, "GET", RUN, &reply, &error));
    assert_int_equal(reply.verdict, CLOUD_AGAIN);
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_an_impostor_of_the_metadata_server_is_refused(void **state)
{
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_WORKLOAD_IDENTITY, "");
    struct cloud_reply reply;
    struct error error;

    world->without_flavor = true;
    assert_false(call(cloud, "GET", RUN, &reply, &error));
    assert_int_equal(reply.verdict, CLOUD_REFUSED);
    assert_non_null(strstr(error.message, "Metadata-Flavor"));
    assert_int_equal(world->calls, 0);
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_id_tokens_are_cached_by_audience(void **state)
{
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_WORKLOAD_IDENTITY, "");
    char token[SECRET_VALUE_SIZE];
    struct error error;

    assert_true(cloud_id_token(cloud, "https://a.run.app", token, &error));
    assert_string_equal(token, "a.eyJleHAiOjIwMDB9.b");
    assert_true(cloud_id_token(cloud, "https://a.run.app", token, &error));
    assert_int_equal(world->identities, 1);
    assert_true(cloud_id_token(cloud, "https://b.run.app", token, &error));
    assert_int_equal(world->identities, 2);
    test_now_ms = 1701000; /* 299 s before the token expires */
    assert_true(cloud_id_token(cloud, "https://a.run.app", token, &error));
    assert_int_equal(world->identities, 3);
    cloud_destroy(cloud);
}

static void test_the_id_tokens_for_100_servers_are_cached(void **state)
{
    enum { SERVERS = 100 };
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_WORKLOAD_IDENTITY, "");
    char token[SECRET_VALUE_SIZE], audience[64];
    struct error error;

    for (int i = 0; i < 2 * SERVERS; i++) {
        snprintf(audience, sizeof audience, "https://model-%d.run.app", i % SERVERS);
        assert_true(cloud_id_token(cloud, audience, token, &error));
    }
    assert_int_equal(world->identities, SERVERS);
    cloud_destroy(cloud);
}

static void test_a_service_account_signs_its_requests_for_tokens(void **state)
{
    struct world *world = *state;
    struct cloud *cloud;
    struct cloud_reply reply;
    struct error error;
    json_auto_t *account =
        json_load_file(SOURCE_DIR "/tests/data/clouds/service-account.json", 0, NULL);
    char *text = json_dumps(account, 0);
    FILE *golden = fopen(SOURCE_DIR "/tests/data/clouds/assertion.jwt", "r");
    char line[2048] = "";

    write_file(world, "team.json", text);
    free(text);
    cloud = make(world, CLOUD_SERVICE_ACCOUNT_FILE, "team.json");
    assert_string_equal(cloud_identity(cloud), "robot@made-up.iam.gserviceaccount.com");
    test_now_ms = INT64_C(1764000000000);
    assert_true(call(cloud, "GET", RUN, &reply, &error));
    cloud_reply_finish(&reply);
    assert_string_equal(world->last_bearer, "canary-token-1");
    world->last_body[0] = '\0';
    cloud_destroy(cloud);
    cloud = make(world, CLOUD_SERVICE_ACCOUNT_FILE, "team.json");
    world->token_down = true;
    assert_false(call(cloud, "GET", RUN, &reply, &error));
    assert_non_null(fgets(line, sizeof line, golden));
    fclose(golden);
    line[strcspn(line, "\n")] = '\0';
    assert_non_null(strstr(world->last_body, line));
    assert_non_null(strstr(world->last_body, "grant_type=urn%3Aietf"));
    assert_null(strstr(error.message, line));
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_a_kubeconfigs_token_goes_to_its_server(void **state)
{
    struct world *world = *state;
    struct cloud *cloud = make(world, CLOUD_KUBECONFIG, "lab.yaml");
    json_auto_t *body = json_pack("{s:s}", "kind", "Deployment");
    struct cloud_reply reply;
    struct error error;
    char token[SECRET_VALUE_SIZE];

    assert_string_equal(cloud_namespace(cloud), "llm");
    assert_true(cloud_call(cloud, "PATCH", "/apis/x?dryRun=All", "application/apply-patch+yaml",
                           body, &reply, &error));
    cloud_reply_finish(&reply);
    assert_string_equal(world->last_path, "/apis/x");
    assert_string_equal(world->last_type, "application/apply-patch+yaml");
    assert_string_equal(world->last_body, "{\"kind\":\"Deployment\"}");
    assert_string_equal(world->last_bearer, "canary-token-1");
    assert_false(cloud_id_token(cloud, "https://a", token, &error));
    world->valid = 2; /* the server refuses the kubeconfig's only token */
    assert_false(call(cloud, "GET", "/apis/x", &reply, &error));
    assert_int_equal(world->calls, 2);
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_a_pods_token_can_appear_after_the_first_call(void **state)
{
    struct world *world = *state;
    struct cloud *cloud;
    struct cloud_reply reply;
    struct error error;
    struct cloud_credential credential = { .kind = CLOUD_IN_CLUSTER };
    const struct cloud_config config = { .secrets_folder = "",
                                         .endpoints = world->endpoints,
                                         .account_folder = world->folder,
                                         .now_ms = now_ms };

    unsetenv("KUBERNETES_SERVICE_HOST");
    assert_false(cloud_create(&credential, &config, &cloud, &error));
    assert_non_null(strstr(error.message, "not a pod"));
    setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT_HTTPS", "1", 1);
    write_file(world, "ca.crt", "-----BEGIN CERTIFICATE-----\n");
    write_file(world, "namespace", "llm\n");
    cloud = make(world, CLOUD_IN_CLUSTER, "");
    assert_string_equal(cloud_namespace(cloud), "llm");
    assert_false(call(cloud, "GET", "/apis", &reply, &error));
    assert_non_null(strstr(error.message, "token"));
    cloud_reply_finish(&reply);
    write_file(world, "token", "canary-token-1\n");
    assert_false(call(cloud, "GET", "/apis", &reply, &error)); /* nothing listens on port 1 */
    assert_null(strstr(error.message, "not a pod"));
    assert_null(strstr(error.message, "canary"));
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
    unsetenv("KUBERNETES_SERVICE_HOST");
}

static void test_file_names_of_credentials_are_checked(void **state)
{
    static const char *const wrong[] = { "",         "TEAM",  "team",    "../a.json", "/etc/a.json",
                                         "a/b.json", ".json", "-a.json", "a.origins", "Team.json",
                                         "a b.json" };
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct cloud_credential credential = { .kind = CLOUD_KUBECONFIG };

        snprintf(credential.file, sizeof credential.file, "%s", wrong[i]);
        assert_false(cloud_credential_check(&credential, &error));
    }
    assert_true(cloud_credential_check(
        &(struct cloud_credential){ CLOUD_SERVICE_ACCOUNT_FILE, "team-1.json" }, &error));
    /* a deployment cannot name the file as a secret */
    assert_false(secret_name_check("team-1.json", &error));
    assert_true(cloud_credential_check(&(struct cloud_credential){ CLOUD_IN_CLUSTER, "" }, &error));
    assert_false(
        cloud_credential_check(&(struct cloud_credential){ CLOUD_IN_CLUSTER, "a.b" }, &error));
}

static void test_kinds_of_credentials_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(cloud_kind_find("kubeconfig"), CLOUD_KUBECONFIG);
    assert_int_equal(cloud_kind_find("x"), 0);
    assert_string_equal(cloud_kind_name(CLOUD_NONE), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_metadata_servers_token_is_cached_and_renewed_early,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_after_a_failed_renewal_the_token_is_used_until_it_expires, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_impostor_of_the_metadata_server_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_id_tokens_are_cached_by_audience, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_id_tokens_for_100_servers_are_cached, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_service_account_signs_its_requests_for_tokens,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_kubeconfigs_token_goes_to_its_server, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_pods_token_can_appear_after_the_first_call, set_up,
                                        tear_down),
        cmocka_unit_test(test_file_names_of_credentials_are_checked),
        cmocka_unit_test(test_kinds_of_credentials_are_found_by_name),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
