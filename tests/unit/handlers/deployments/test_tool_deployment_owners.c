/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_register, _update, _list, _show, _remove. */
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
    world_says(world, "It answers: simserve/toy on vllm");
    world_audited(world, "deployment_register", "ok", "demo");
}

static void registers_the_same_again_without_a_change(void **state)
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
    world_says(world, "It does not answer as it should now");
}

static void refuses_urls_that_no_deployment_may_have(void **state)
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
                  ERROR_INVALID, "it may have letters");
    world_refused(world, "deployment_show", "{}", ERROR_NOT_FOUND, "no deployment is registered");
}

static void names_the_refused_name_or_url_without_a_secret_in_it(void **state)
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
                  ERROR_INVALID, "\"name\" is \"a b\": it may have letters");
    world_refused(world, "deployment_register",
                  "{\"name\":\"a\",\"url\":\"http://127.0.0.1\",\"labels\":{\"a b\":\"c\"}}",
                  ERROR_INVALID, "a name in \"labels\" is \"a b\": names are 1 to 63");
    world_refused(world, "dataset_import", "{\"name\":\"../a\",\"text\":\"x\"}", ERROR_INVALID,
                  "\"name\" is \"../a\": it must begin");
}

static void refuses_a_secrets_value_without_repeating_it(void **state)
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

/* ---- Secrets ---- */

#define LAB_AT(name, port)                                                                         \
    "{\"name\":\"" name "\",\"url\":\"http://127.0.0.1:" port "\",\"secret\":\"LAB\"}"

static void be(struct world *world, const char *principal, enum role role)
{
    world->principal = principal;
    world->role = role;
}

/* The four ways by which an operator got any secret before. */
static void sends_no_secret_where_no_admin_bound_it(void **state)
{
    struct world *world = *state;

    world_do(world, "deployment_register", LAB_AT("lab", "1"));
    world_says(world, "The secret LAB may now be sent to http://127.0.0.1:1.");
    be(world, "otto", ROLE_OPERATOR);
    world_refused(world, "deployment_register", LAB_AT("mine", "2"), ERROR_FORBIDDEN,
                  "LAB is not bound to http://127.0.0.1:2: an admin allows it with secret_bind");
    world_do(world, "deployment_register", LAB_AT("mine", "1"));
    world_refused(world, "deployment_update",
                  "{\"deployment\":\"mine\",\"url\":\"http://127.0.0.1:2\",\"secret\":\"LAB\","
                  "\"confirm\":\"mine\"}",
                  ERROR_FORBIDDEN, "not bound to http://127.0.0.1:2");
    world_refused(world, "deployment_update",
                  "{\"deployment\":\"mine\",\"url\":\"https://127.0.0.1:1\",\"confirm\":\"mine\"}",
                  ERROR_FORBIDDEN, "not bound to https://127.0.0.1:1");
    world_do(world, "deployment_update", "{\"deployment\":\"mine\",\"secret\":\"\"}");
    world_do(world, "deployment_update",
             "{\"deployment\":\"mine\",\"url\":\"http://127.0.0.1:2\",\"confirm\":\"mine\"}");
    world_refused(world, "deployment_update", "{\"deployment\":\"mine\",\"secret\":\"LAB\"}",
                  ERROR_FORBIDDEN, "not bound to http://127.0.0.1:2");
    world_refused(world, "deployment_update", "{\"deployment\":\"mine\",\"secret\":\"UNUSED\"}",
                  ERROR_FORBIDDEN, "UNUSED is not bound to http://127.0.0.1:2");
}

static void binds_what_an_admin_names(void **state)
{
    struct world *world = *state;
    json_auto_t *first = world_ok(world, "deployment_register", LAB_AT("lab", "1"));
    json_auto_t *again = world_ok(world, "deployment_register", LAB_AT("lab", "1"));
    json_auto_t *moved = NULL;

    assert_string_equal(json_get_text(first, "bound", ""), "http://127.0.0.1:1");
    assert_null(json_object_get(again, "bound"));
    assert_false(json_get_boolean(again, "changed", true));
    world_refused(world, "deployment_update",
                  "{\"url\":\"http://127.0.0.1:2\",\"confirm\":\"lab\"}", ERROR_FORBIDDEN,
                  "not bound to http://127.0.0.1:2"); /* the admin did not name the secret */
    moved = world_ok(world, "deployment_update",
                     "{\"url\":\"http://127.0.0.1:2\",\"secret\":\"LAB\",\"confirm\":\"lab\"}");
    assert_string_equal(json_get_text(moved, "bound", ""), "http://127.0.0.1:2");
    world_audited(world, "deployment_update", "ok", "lab");
}

/* As after an upgrade, or after a binding was removed. */
static void binds_what_is_registered_already(void **state)
{
    struct world *world = *state;
    json_auto_t *again = NULL, *updated = NULL;

    world_do(world, "deployment_register", LAB_AT("lab", "1"));
    world_do(world, "secret_bind",
             "{\"secret\":\"LAB\",\"origin\":\"http://127.0.0.1:1\",\"unbind\":true}");
    again = world_ok(world, "deployment_register", LAB_AT("lab", "1"));
    assert_string_equal(json_get_text(again, "bound", ""), "http://127.0.0.1:1");
    world_do(world, "secret_bind",
             "{\"secret\":\"LAB\",\"origin\":\"http://127.0.0.1:1\",\"unbind\":true}");
    updated = world_ok(world, "deployment_update", "{\"secret\":\"LAB\"}");
    assert_string_equal(json_get_text(updated, "bound", ""), "http://127.0.0.1:1");
    assert_int_equal(json_get_integer(json_object_get(updated, "deployment"), "revision", 0), 1);
}

static void binds_nothing_when_the_call_is_refused(void **state)
{
    struct world *world = *state;
    json_auto_t *listed = NULL;

    world_register(world, "lab");
    world_refused(world, "deployment_register", LAB_AT("lab", "1"), ERROR_CONFLICT, "lab");
    listed = world_ok(world, "secret_bind", "{}");
    assert_int_equal(json_array_size(json_object_get(listed, "secrets")), 0);
}

static void lists_secrets_their_origins_and_what_is_unbound(void **state)
{
    struct world *world = *state;
    json_auto_t *listed = NULL;
    const json_t *secret, *unbound;

    setenv("OPSBRAIN_SECRET_ANOTHER", "a-value-never-shown", 1);
    world_do(world, "deployment_register", LAB_AT("lab", "1"));
    world_do(world, "secret_bind",
             "{\"secret\":\"LAB\",\"origin\":\"http://127.0.0.1:1\",\"unbind\":true}");
    world_audited(world, "secret_bind", "ok", "LAB");
    listed = world_ok(world, "secret_bind",
                      "{\"secret\":\"LAB\",\"origin\":\"https://Lab.example.com/v1\"}");
    unsetenv("OPSBRAIN_SECRET_ANOTHER");
    assert_true(json_get_boolean(listed, "changed", false));
    secret = json_array_get(json_object_get(listed, "secrets"), 0);
    assert_string_equal(json_get_text(secret, "name", ""), "ANOTHER");
    assert_true(json_get_boolean(secret, "is_set", false));
    assert_int_equal(json_array_size(json_object_get(secret, "origins")), 0);
    secret = json_array_get(json_object_get(listed, "secrets"), 1);
    assert_string_equal(json_get_text(secret, "name", ""), "LAB");
    assert_false(json_get_boolean(secret, "is_set", true));
    assert_string_equal(json_string_value(json_array_get(json_object_get(secret, "origins"), 0)),
                        "https://lab.example.com");
    unbound = json_array_get(json_object_get(listed, "unbound"), 0);
    assert_string_equal(json_get_text(unbound, "deployment", ""), "lab");
    assert_string_equal(json_get_text(unbound, "origin", ""), "http://127.0.0.1:1");
    world_says(world, "lab is not called: its secret LAB is not bound to http://127.0.0.1:1.");
    assert_null(strstr(text_string(&world->text), "a-value-never-shown"));
}

static void binds_secrets_for_admins_alone(void **state)
{
    static const char bind[] = "{\"secret\":\"LAB\",\"origin\":\"http://127.0.0.1:1\"}";
    struct world *world = *state;
    char path[FOLDER_SIZE + 16];
    FILE *file;

    be(world, "otto", ROLE_OPERATOR);
    world_refused(world, "secret_bind", bind, ERROR_FORBIDDEN, "needs the role admin");
    world_refused(world, "secret_bind", "{}", ERROR_FORBIDDEN, "needs the role admin");
    be(world, "alice", ROLE_ADMIN);
    world_refused(world, "secret_bind", "{\"secret\":\"LAB\"}", ERROR_INVALID,
                  "\"origin\" is missing");
    world_refused(world, "secret_bind", "{\"secret\":\"LAB\",\"origin\":\"lab\"}", ERROR_INVALID,
                  "must begin with http");
    world_refused(world, "secret_bind", "{\"secret\":\"../x\",\"origin\":\"http://a\"}",
                  ERROR_INVALID, "a secret's name");
    snprintf(path, sizeof path, "%s/LAB.origins", world->secrets);
    file = fopen(path, "w");
    fputs("https://lab.example.com\n", file);
    fclose(file);
    world_refused(world, "secret_bind", bind, ERROR_FORBIDDEN, "LAB.origins");
    world_refused(world, "deployment_register", LAB_AT("lab", "1"), ERROR_FORBIDDEN, "LAB.origins");
}

/* ---- Owners ---- */

#define MOVED "{\"deployment\":\"demo\",\"url\":\"http://127.0.0.1:1\",\"confirm\":\"demo\"}"

static void belongs_to_the_principal_who_registered_it_first(void **state)
{
    static const char sentence[] =
        "demo belongs to otto: only otto or an admin may change its url or secret, or remove it";
    struct world *world = *state;
    json_auto_t *answer = NULL;

    be(world, "otto", ROLE_OPERATOR);
    world_register(world, "demo");
    be(world, "olga", ROLE_OPERATOR);
    world_refused(world, "deployment_update", MOVED, ERROR_FORBIDDEN, sentence);
    world_refused(world, "deployment_update", "{\"deployment\":\"demo\",\"secret\":\"LAB\"}",
                  ERROR_FORBIDDEN, sentence);
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"demo\"}",
                  ERROR_FORBIDDEN, sentence);
    answer = world_ok(world, "deployment_update", "{\"deployment\":\"demo\",\"region\":\"lab\"}");
    assert_string_equal(json_get_text(json_object_get(answer, "deployment"), "owner", ""), "otto");
    be(world, "otto", ROLE_OPERATOR);
    world_do(world, "deployment_update", MOVED);
    be(world, "alice", ROLE_ADMIN);
    world_do(world, "deployment_update",
             "{\"deployment\":\"demo\",\"url\":\"http://127.0.0.1:2\",\"confirm\":\"demo\"}");
    be(world, "otto", ROLE_OPERATOR);
    world_do(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"demo\"}");
}

static void is_handed_over_by_an_admin(void **state)
{
    static const uint8_t digest[DIGEST_BYTES] = { 1 };
    struct world *world = *state;
    struct api_key key;
    json_auto_t *answer = NULL;

    assert_true(api_key_add(world->services.store, "olga", ROLE_OPERATOR, "", digest, 0, NULL, &key,
                            &world->error));
    be(world, "otto", ROLE_OPERATOR);
    world_register(world, "demo");
    world_refused(world, "deployment_update", "{\"owner\":\"olga\"}", ERROR_FORBIDDEN,
                  "only an admin may hand demo over");
    be(world, "alice", ROLE_ADMIN);
    world_refused(world, "deployment_update", "{\"owner\":\"olag\"}", ERROR_NOT_FOUND,
                  "\"owner\" is \"olag\": no principal has that name");
    answer = world_ok(world, "deployment_update", "{\"owner\":\"olga\"}");
    assert_string_equal(json_get_text(json_object_get(answer, "deployment"), "owner", ""), "olga");
    be(world, "otto", ROLE_OPERATOR);
    world_refused(world, "deployment_update", MOVED, ERROR_FORBIDDEN, "demo belongs to olga");
    be(world, "olga", ROLE_OPERATOR);
    world_do(world, "deployment_update", MOVED);
}

static void keeps_its_owner_when_its_name_comes_back(void **state)
{
    struct world *world = *state;

    be(world, "otto", ROLE_OPERATOR);
    world_register(world, "demo");
    world_do(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"demo\"}");
    be(world, "olga", ROLE_OPERATOR);
    world_refused(world, "deployment_register",
                  "{\"name\":\"demo\",\"url\":\"http://127.0.0.1:1\"}", ERROR_FORBIDDEN,
                  "the name \"demo\" is that of a removed deployment of otto");
    be(world, "alice", ROLE_ADMIN);
    world_register(world, "demo");
    be(world, "otto", ROLE_OPERATOR);
    world_do(world, "deployment_update", MOVED);
}

/* ---- A new address ---- */

static void asks_the_person_before_it_points_elsewhere(void **state)
{
    static const char move[] = "{\"url\":\"http://127.0.0.1:1\"}";
    struct world *world = *state;

    world_register(world, "demo");
    world_refused(world, "deployment_update", move, ERROR_INVALID,
                  "This points \"demo\" to http://127.0.0.1:1, away from http://127.0.0.1:");
    world_refused(world, "deployment_update", move, ERROR_INVALID,
                  "call again with \"confirm\": \"demo\"");
    world_refused(world, "deployment_update",
                  "{\"url\":\"http://127.0.0.1:1\",\"confirm\":\"dem\"}", ERROR_INVALID,
                  "\"confirm\" must be the deployment's name again");
    world->says = "{\"action\":\"decline\"}";
    world_refused(world, "deployment_update", move, ERROR_CANCELLED, "demo stays at http");
    world->says = "{\"action\":\"accept\",\"content\":{\"move\":false}}";
    world_refused(world, "deployment_update", move, ERROR_CANCELLED, "demo stays at http");
    world->says = "{\"action\":\"accept\",\"content\":{\"move\":true}}";
    world_do(world, "deployment_update", move);
    world->says = "{\"action\":\"decline\"}";
    world_do(world, "deployment_update", move); /* it is there already */
    world_do(world, "deployment_update", "{\"region\":\"lab\"}");
}

static void points_nowhere_else_while_it_is_measured(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_register(world, "other");
    world_do(world, "sweep_start",
             "{\"deployment\":\"other\",\"candidate\":\"demo\",\"concurrency\":[1],"
             "\"input_tokens\":[8],\"output_tokens\":[4],\"window_s\":1}");
    world_refused(world, "deployment_update", MOVED, ERROR_CONFLICT, "is using demo");
    world_do(world, "deployment_update", "{\"deployment\":\"demo\",\"region\":\"lab\"}");
}

/* ---- Other settings ---- */

static void changes_only_what_is_named_as_a_new_revision(void **state)
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

static void refuses_a_change_of_a_revision_that_is_gone(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_do(world, "deployment_update", "{\"region\":\"a\",\"revision\":1}");
    world_do(world, "deployment_update", "{\"region\":\"a\",\"revision\":1}"); /* asked again */
    world_refused(world, "deployment_update", "{\"region\":\"b\",\"revision\":1}", ERROR_CONFLICT,
                  "demo is now at revision 2, not 1");
}

static void says_which_deployments_there_are(void **state)
{
    struct world *world = *state;

    world_refused(world, "deployment_show", "{}", ERROR_NOT_FOUND,
                  "no deployment is registered yet: call deployment_register");
    world_register(world, "one");
    world_register(world, "two");
    world_refused(world, "deployment_show", "{}", ERROR_INVALID,
                  "more than one is registered: name one (one, two)");
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
    world_refused(world, "deployment_list", "{\"cursor\":\"../etc\"}", ERROR_INVALID, "cursor");
}

static void shows_a_dashboard_that_ends_in_the_next_step(void **state)
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
    world_says(world, "Next: model_health; sweep_start alone");
}

static void shows_a_server_that_is_down_with_what_was_known_of_it(void **state)
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

static void removes_only_what_is_confirmed(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"dem\"}",
                  ERROR_INVALID, "\"confirm\" must be the deployment's name again (\"demo\")");
    world_do(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"demo\"}");
    world_audited(world, "deployment_remove", "ok", "demo");
    world_refused(world, "deployment_show", "{\"deployment\":\"demo\"}", ERROR_NOT_FOUND, "demo");
    world_register(world, "demo"); /* comes back as a new revision */
}

static void asks_the_person_where_the_removal_is_not_confirmed(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\"}", ERROR_INVALID,
                  "call again with \"confirm\": \"demo\"");
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\"}", ERROR_INVALID,
                  "Kept: its server");
    world->says = "{\"action\":\"decline\"}";
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\"}", ERROR_CANCELLED,
                  "demo stays registered");
    world->says = "{\"action\":\"accept\",\"content\":{\"remove\":false}}";
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\"}", ERROR_CANCELLED,
                  "demo stays registered");
    world->says = "{\"action\":\"accept\",\"content\":{\"remove\":true}}";
    world_do(world, "deployment_remove", "{\"deployment\":\"demo\"}");
    world_refused(world, "deployment_show", "{\"deployment\":\"demo\"}", ERROR_NOT_FOUND, "demo");
}

static void removes_no_deployment_that_is_being_measured(void **state)
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
        cmocka_unit_test(registers_the_same_again_without_a_change),
        cmocka_unit_test(registers_a_server_that_is_down_and_says_so),
        cmocka_unit_test(refuses_urls_that_no_deployment_may_have),
        cmocka_unit_test(names_the_refused_name_or_url_without_a_secret_in_it),
        cmocka_unit_test(refuses_a_secrets_value_without_repeating_it),
        cmocka_unit_test(sends_no_secret_where_no_admin_bound_it),
        cmocka_unit_test(binds_what_an_admin_names),
        cmocka_unit_test(binds_what_is_registered_already),
        cmocka_unit_test(binds_nothing_when_the_call_is_refused),
        cmocka_unit_test(lists_secrets_their_origins_and_what_is_unbound),
        cmocka_unit_test(binds_secrets_for_admins_alone),
        cmocka_unit_test(belongs_to_the_principal_who_registered_it_first),
        cmocka_unit_test(is_handed_over_by_an_admin),
        cmocka_unit_test(keeps_its_owner_when_its_name_comes_back),
        cmocka_unit_test(asks_the_person_before_it_points_elsewhere),
        cmocka_unit_test(points_nowhere_else_while_it_is_measured),
        cmocka_unit_test(changes_only_what_is_named_as_a_new_revision),
        cmocka_unit_test(refuses_a_change_of_a_revision_that_is_gone),
        cmocka_unit_test(says_which_deployments_there_are),
        cmocka_unit_test(lists_deployments_page_by_page),
        cmocka_unit_test(shows_a_dashboard_that_ends_in_the_next_step),
        cmocka_unit_test(shows_a_server_that_is_down_with_what_was_known_of_it),
        cmocka_unit_test(removes_only_what_is_confirmed),
        cmocka_unit_test(asks_the_person_where_the_removal_is_not_confirmed),
        cmocka_unit_test(removes_no_deployment_that_is_being_measured),
    };

    return world_run(tests);
}
