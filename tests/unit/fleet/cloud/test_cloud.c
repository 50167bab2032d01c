/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/cloud/cloud.h"
#include "tests/clouds/fake_server.h"
#include "tests/unit/support/folder.h"

/* One server is Google's token endpoint, its metadata server, Cloud Run and a Kubernetes API. */
struct world {
    struct fake_server *server;
    struct cloud_endpoints *endpoints;
    char folder[FOLDER_SIZE];
    int tokens, identities, calls; /* how often each was asked for */
    int valid;                     /* the number of the only access token that is taken */
    int life_s;
    int status;     /* of calls; 0: 200 */
    int good_after; /* that many calls with `status`, then 200 */
    const char *answer, *type;
    bool breaks_off, without_flavor, token_down;
    char last_bearer[256], last_path[256], last_type[64], last_body[4096];
};

static int64_t test_now_ms;

static int64_t now_ms(void)
{
    return test_now_ms;
}

static void give_token(struct world *world, struct fake_reply *reply)
{
    world->tokens++;
    if (world->token_down)
        reply->status = 503;
    text_addf(&reply->body, "{\"access_token\":\"canary-token-%d\",\"expires_in\":%d}",
              world->tokens, world->life_s);
}

static void give_call(struct world *world, const struct fake_request *request,
                      struct fake_reply *reply)
{
    char valid[64];

    world->calls++;
    snprintf(valid, sizeof valid, "canary-token-%d", world->valid);
    snprintf(world->last_bearer, sizeof world->last_bearer, "%s", request->bearer);
    snprintf(world->last_path, sizeof world->last_path, "%s", request->path);
    snprintf(world->last_type, sizeof world->last_type, "%s", request->content_type);
    snprintf(world->last_body, sizeof world->last_body, "%s", request->body);
    reply->breaks_off = world->breaks_off;
    if (world->valid > 0 && strcmp(request->bearer, valid) != 0) {
        reply->status = 401;
        text_addf(&reply->body, "{\"error\":{\"code\":401,\"message\":\"bad %s\"}}",
                  request->bearer);
        return;
    }
    if (world->calls > world->good_after && world->good_after > 0)
        world->status = 0;
    reply->status = world->status;
    reply->type = world->type;
    text_add(&reply->body, world->answer != NULL ? world->answer : "{\"name\":\"x\"}");
}

static void answer(void *context, const struct fake_request *request, struct fake_reply *reply)
{
    static const char metadata[] = "/computeMetadata/v1/instance/service-accounts/default/";
    struct world *world = context;

    if (strncmp(request->path, metadata, strlen(metadata)) == 0) {
        if (strcmp(request->metadata_flavor, "Google") != 0)
            reply->status = 403;
        reply->header = world->without_flavor ? NULL : "Metadata-Flavor";
        reply->value = "Google";
        if (strcmp(request->path + strlen(metadata), "token") == 0) {
            give_token(world, reply);
            return;
        }
        world->identities++;
        reply->type = "text/html";
        text_add(&reply->body, "a.eyJleHAiOjIwMDB9.b\n"); /* exp 2000 */
    } else if (strcmp(request->path, "/token") == 0) {
        snprintf(world->last_body, sizeof world->last_body, "%s", request->body);
        give_token(world, reply);
    } else
        give_call(world, request, reply);
}

static void write_file(const struct world *world, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", world->folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_kubeconfig(const struct world *world)
{
    char text[1024];

    snprintf(text, sizeof text,
             "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
             "users: [{name: robot, user: {token: canary-token-1}}]\n"
             "contexts: [{name: x, context: {cluster: c, user: robot, namespace: llm}}]\n"
             "current-context: x\n",
             fake_server_port(world->server));
    write_file(world, "lab.yaml", text);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    char text[256];
    struct error error;
    int port;

    world->server = fake_server_start(answer, world);
    world->life_s = 3600;
    port = fake_server_port(world->server);
    snprintf(text, sizeof text,
             "run=http://127.0.0.1:%d, token=http://127.0.0.1:%d,metadata=http://127.0.0.1:%d",
             port, port, port);
    assert_true(cloud_endpoints_create(text, &world->endpoints, &error));
    folder_create(world->folder);
    write_kubeconfig(world);
    test_now_ms = 1000000;
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    fake_server_stop(world->server);
    cloud_endpoints_destroy(world->endpoints);
    folder_remove(world->folder);
    free(world);
    return 0;
}

static struct cloud *make(const struct world *world, enum cloud_kind kind, const char *file)
{
    struct cloud_credential credential = { .kind = kind };
    const struct cloud_config config = { .secrets_folder = world->folder,
                                         .endpoints = world->endpoints,
                                         .account_folder = world->folder,
                                         .now_ms = now_ms };
    struct cloud *cloud = NULL;
    struct error error = { 0 };

    snprintf(credential.file, sizeof credential.file, "%s", file);
    if (!cloud_create(&credential, &config, &cloud, &error))
        fail_msg("%s", error.message);
    return cloud;
}

#define RUN "https://run.googleapis.com/v2/projects/p"

static bool call(struct cloud *cloud, const char *method, const char *url, struct cloud_reply *out,
                 struct error *error)
{
    json_auto_t *body = strcmp(method, "GET") != 0 ? json_pack("{s:i}", "a", 1) : NULL;

    return cloud_call(cloud, method, url, NULL, body, out, error);
}

static void test_the_metadata_servers_token_is_fetched_once_and_early(void **state)
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
    test_now_ms += 2000; /* 299 s before its end */
    {
        CLOUD_REPLY_AUTO reply;

        assert_true(call(cloud, "GET", RUN, &reply, &error));
        assert_int_equal(world->tokens, 2);
        assert_string_equal(world->last_bearer, "canary-token-2");
    }
    cloud_destroy(cloud);
}

static void test_a_failed_renewal_keeps_the_token_until_its_end(void **state)
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

static void test_a_401_is_answered_by_one_new_token(void **state)
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
    test_now_ms = 1701000; /* it ends at 2000 s: 299 s before */
    assert_true(cloud_id_token(cloud, "https://a.run.app", token, &error));
    assert_int_equal(world->identities, 3);
    cloud_destroy(cloud);
}

static void test_each_of_many_servers_keeps_its_id_token(void **state)
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

static void test_a_service_account_signs_for_its_tokens(void **state)
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
    test_now_ms += 3600000;
    test_now_ms -= 3600000; /* the same second: the same assertion */
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

static void test_a_credential_goes_nowhere_else(void **state)
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
    world->valid = 2; /* a fixed token is not tried again */
    assert_false(call(cloud, "GET", "/apis/x", &reply, &error));
    assert_int_equal(world->calls, 2);
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_a_pods_token_is_read_again(void **state)
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
    assert_non_null(strstr(error.message, "no pod"));
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
    assert_false(call(cloud, "GET", "/apis", &reply, &error)); /* nobody listens there */
    assert_null(strstr(error.message, "canary"));
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
    unsetenv("KUBERNETES_SERVICE_HOST");
}

static void test_verdicts_of_calls(void **state)
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
    world->status = 0;
    world->type = "text/plain";
    world->answer = "a line\n";
    assert_true(cloud_call(cloud, "GET", "/log", CLOUD_TEXT, NULL, &reply, &error));
    assert_string_equal(reply.text, "a line\n");
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

/* A network that wants a login, or a proxy, answers 200 in the API's place. */
static void test_a_page_in_place_of_an_answer_is_none(void **state)
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
    world->type = "text/html"; /* nor is it a log */
    assert_false(cloud_call(cloud, "GET", "/log", CLOUD_TEXT, NULL, &reply, &error));
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_reads_are_repeated_and_changes_never(void **state)
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
    assert_false(cloud_read(cloud, "/apis", &reply, &error)); /* long waits are the caller's */
    assert_int_equal(world->calls, 4);
    cloud_reply_finish(&reply);
    cloud_destroy(cloud);
}

static void test_names_of_credentials(void **state)
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
    assert_false(secret_name_check("team-1.json", &error)); /* no deployment can name it */
    assert_true(cloud_credential_check(&(struct cloud_credential){ CLOUD_IN_CLUSTER, "" }, &error));
    assert_false(
        cloud_credential_check(&(struct cloud_credential){ CLOUD_IN_CLUSTER, "a.b" }, &error));
    assert_int_equal(cloud_kind_find("kubeconfig"), CLOUD_KUBECONFIG);
    assert_int_equal(cloud_kind_find("x"), 0);
    assert_string_equal(cloud_kind_name(CLOUD_NONE), "none");
}

static void test_endpoints_are_names_of_the_table(void **state)
{
    struct cloud_endpoints *endpoints = NULL;
    struct error error;

    (void)state;
    assert_false(cloud_endpoints_create("rnu=http://127.0.0.1:1", &endpoints, &error));
    assert_non_null(strstr(error.message, "run"));
    assert_false(cloud_endpoints_create("run", &endpoints, &error));
    assert_false(cloud_endpoints_create("run=ftp://x", &endpoints, &error));
    assert_true(cloud_endpoints_create("", &endpoints, &error));
    cloud_endpoints_destroy(endpoints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_metadata_servers_token_is_fetched_once_and_early,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_failed_renewal_keeps_the_token_until_its_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_401_is_answered_by_one_new_token, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_impostor_of_the_metadata_server_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_id_tokens_are_cached_by_audience, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_each_of_many_servers_keeps_its_id_token, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_service_account_signs_for_its_tokens, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_credential_goes_nowhere_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_kubeconfigs_token_goes_to_its_server, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_pods_token_is_read_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_verdicts_of_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_page_in_place_of_an_answer_is_none, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_reads_are_repeated_and_changes_never, set_up,
                                        tear_down),
        cmocka_unit_test(test_names_of_credentials),
        cmocka_unit_test(test_endpoints_are_names_of_the_table),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
