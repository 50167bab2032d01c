/* SPDX-License-Identifier: Apache-2.0 */
/* Tests who is allowed to bind a secret, to change a deployment's secret, owner or URL, and to
 * remove a deployment. */
#include "tests/unit/support/tool_world.h"

/* ---- Secrets ---- */

#define LAB_AT(name, port)                                                                         \
    "{\"name\":\"" name "\",\"url\":\"http://127.0.0.1:" port "\",\"secret\":\"LAB\"}"

static void act_as(struct world *world, const char *principal, enum role role)
{
    world->principal = principal;
    world->role = role;
}

/* Each refused call is a way an operator could try to obtain a secret. */
static void an_operator_uses_a_secret_only_where_an_admin_bound_it(void **state)
{
    struct world *world = *state;

    world_do(world, "deployment_register", LAB_AT("lab", "1"));
    world_says(world, "The secret LAB may now be sent to http://127.0.0.1:1.");
    act_as(world, "otto", ROLE_OPERATOR);
    world_refused(world, "deployment_register", LAB_AT("mine", "2"), ERROR_FORBIDDEN,
                  "LAB is not bound to http://127.0.0.1:2: an admin can allow it with secret_bind");
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

static void binds_secrets_that_an_admin_names(void **state)
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

/* The test removes the binding. A secret can also be unbound after an upgrade. */
static void registering_or_updating_again_binds_an_unbound_secret(void **state)
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

static void lists_secrets_their_origins_and_deployments_without_a_binding(void **state)
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
    world_says(world, "opsbrain does not call lab, because its secret LAB may not be sent to "
                      "http://127.0.0.1:1.");
    assert_null(strstr(text_string(&world->text), "a-value-never-shown"));
}

/* The file LAB.origins lists where LAB is allowed to be sent, so no call can add an origin. */
static void refuses_operators_wrong_arguments_and_secrets_with_an_origins_file(void **state)
{
    static const char bind[] = "{\"secret\":\"LAB\",\"origin\":\"http://127.0.0.1:1\"}";
    struct world *world = *state;
    char path[FOLDER_SIZE + 16];
    FILE *file;

    act_as(world, "otto", ROLE_OPERATOR);
    world_refused(world, "secret_bind", bind, ERROR_FORBIDDEN, "needs the role admin");
    world_refused(world, "secret_bind", "{}", ERROR_FORBIDDEN, "needs the role admin");
    act_as(world, "alice", ROLE_ADMIN);
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

#define MOVE_DEMO "{\"deployment\":\"demo\",\"url\":\"http://127.0.0.1:1\",\"confirm\":\"demo\"}"

static void a_deployment_belongs_to_the_principal_who_registered_it_first(void **state)
{
    static const char refusal[] =
        "demo belongs to otto: only otto or an admin may change its url or secret, or remove it";
    struct world *world = *state;
    json_auto_t *answer = NULL;

    act_as(world, "otto", ROLE_OPERATOR);
    world_register(world, "demo");
    act_as(world, "olga", ROLE_OPERATOR);
    world_refused(world, "deployment_update", MOVE_DEMO, ERROR_FORBIDDEN, refusal);
    world_refused(world, "deployment_update", "{\"deployment\":\"demo\",\"secret\":\"LAB\"}",
                  ERROR_FORBIDDEN, refusal);
    world_refused(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"demo\"}",
                  ERROR_FORBIDDEN, refusal);
    answer = world_ok(world, "deployment_update", "{\"deployment\":\"demo\",\"region\":\"lab\"}");
    assert_string_equal(json_get_text(json_object_get(answer, "deployment"), "owner", ""), "otto");
    act_as(world, "otto", ROLE_OPERATOR);
    world_do(world, "deployment_update", MOVE_DEMO);
    act_as(world, "alice", ROLE_ADMIN);
    world_do(world, "deployment_update",
             "{\"deployment\":\"demo\",\"url\":\"http://127.0.0.1:2\",\"confirm\":\"demo\"}");
    act_as(world, "otto", ROLE_OPERATOR);
    world_do(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"demo\"}");
}

static void only_an_admin_hands_a_deployment_over(void **state)
{
    static const uint8_t digest[DIGEST_BYTES] = { 1 };
    struct world *world = *state;
    struct api_key key;
    json_auto_t *answer = NULL;

    assert_true(api_key_add(world->services.store, "olga", ROLE_OPERATOR, "", digest, 0, NULL, &key,
                            &world->error));
    act_as(world, "otto", ROLE_OPERATOR);
    world_register(world, "demo");
    world_refused(world, "deployment_update", "{\"owner\":\"olga\"}", ERROR_FORBIDDEN,
                  "only an admin may hand demo over");
    act_as(world, "alice", ROLE_ADMIN);
    world_refused(world, "deployment_update", "{\"owner\":\"olag\"}", ERROR_NOT_FOUND,
                  "\"owner\" is \"olag\": no principal has that name");
    answer = world_ok(world, "deployment_update", "{\"owner\":\"olga\"}");
    assert_string_equal(json_get_text(json_object_get(answer, "deployment"), "owner", ""), "olga");
    act_as(world, "otto", ROLE_OPERATOR);
    world_refused(world, "deployment_update", MOVE_DEMO, ERROR_FORBIDDEN, "demo belongs to olga");
    act_as(world, "olga", ROLE_OPERATOR);
    world_do(world, "deployment_update", MOVE_DEMO);
}

static void a_removed_deployment_keeps_its_owner(void **state)
{
    struct world *world = *state;

    act_as(world, "otto", ROLE_OPERATOR);
    world_register(world, "demo");
    world_do(world, "deployment_remove", "{\"deployment\":\"demo\",\"confirm\":\"demo\"}");
    act_as(world, "olga", ROLE_OPERATOR);
    world_refused(world, "deployment_register",
                  "{\"name\":\"demo\",\"url\":\"http://127.0.0.1:1\"}", ERROR_FORBIDDEN,
                  "the name \"demo\" belongs to a removed deployment of otto");
    act_as(world, "alice", ROLE_ADMIN);
    world_register(world, "demo");
    act_as(world, "otto", ROLE_OPERATOR);
    world_do(world, "deployment_update", MOVE_DEMO);
}

/* ---- A new URL ---- */

static void asks_the_user_before_a_deployment_gets_a_different_url(void **state)
{
    static const char move[] = "{\"url\":\"http://127.0.0.1:1\"}";
    struct world *world = *state;

    world_register(world, "demo");
    world_refused(world, "deployment_update", move, ERROR_INVALID,
                  "This points \"demo\" to http://127.0.0.1:1 instead of http://127.0.0.1:");
    world_refused(world, "deployment_update", move, ERROR_INVALID,
                  "call again with \"confirm\": \"demo\"");
    world_refused(world, "deployment_update",
                  "{\"url\":\"http://127.0.0.1:1\",\"confirm\":\"dem\"}", ERROR_INVALID,
                  "it must repeat the name");
    world->reply = "{\"action\":\"decline\"}";
    world_refused(world, "deployment_update", move, ERROR_CANCELLED, "demo stays at http");
    world->reply = "{\"action\":\"accept\",\"content\":{\"move\":false}}";
    world_refused(world, "deployment_update", move, ERROR_CANCELLED, "demo stays at http");
    world->reply = "{\"action\":\"accept\",\"content\":{\"move\":true}}";
    world_do(world, "deployment_update", move);
    world->reply = "{\"action\":\"decline\"}";
    world_do(world, "deployment_update", move); /* changes nothing, so the user is not asked */
    world_do(world, "deployment_update", "{\"region\":\"lab\"}");
}

static void a_deployment_keeps_its_url_while_a_sweep_uses_it(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_register(world, "other");
    world_do(world, "sweep_start",
             "{\"deployment\":\"other\",\"candidate\":\"demo\",\"concurrency\":[1],"
             "\"input_tokens\":[8],\"output_tokens\":[4],\"window_s\":1}");
    world_refused(world, "deployment_update", MOVE_DEMO, ERROR_CONFLICT, "is using demo");
    world_do(world, "deployment_update", "{\"deployment\":\"demo\",\"region\":\"lab\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operator_uses_a_secret_only_where_an_admin_bound_it),
        cmocka_unit_test(binds_secrets_that_an_admin_names),
        cmocka_unit_test(registering_or_updating_again_binds_an_unbound_secret),
        cmocka_unit_test(binds_nothing_when_the_call_is_refused),
        cmocka_unit_test(lists_secrets_their_origins_and_deployments_without_a_binding),
        cmocka_unit_test(refuses_operators_wrong_arguments_and_secrets_with_an_origins_file),
        cmocka_unit_test(a_deployment_belongs_to_the_principal_who_registered_it_first),
        cmocka_unit_test(only_an_admin_hands_a_deployment_over),
        cmocka_unit_test(a_removed_deployment_keeps_its_owner),
        cmocka_unit_test(asks_the_user_before_a_deployment_gets_a_different_url),
        cmocka_unit_test(a_deployment_keeps_its_url_while_a_sweep_uses_it),
    };

    return world_run(tests);
}
