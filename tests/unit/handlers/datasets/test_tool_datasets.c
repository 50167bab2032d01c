/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of dataset_import, of dataset_list, and of plans with a dataset. */
#include "tests/unit/support/tool_world.h"

#define CHATS                                                                                      \
    "[{\\\"conversations\\\":[{\\\"from\\\":\\\"human\\\",\\\"value\\\":\\\"Why is the sky "       \
    "blue?\\\"},"                                                                                  \
    "{\\\"from\\\":\\\"gpt\\\",\\\"value\\\":\\\"Because of the air, which scatters.\\\"}]},"      \
    "{\\\"conversations\\\":[{\\\"from\\\":\\\"human\\\",\\\"value\\\":\\\"Hello\\\"}]},{}]"
#define IMPORT_CHATS "{\"name\":\"chats\",\"text\":\"" CHATS "\"}"

static void keeps_a_dataset_and_describes_it(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = world_ok(world, "dataset_import", IMPORT_CHATS), *list = NULL;
    json_t *dataset = json_object_get(answer, "dataset");

    assert_string_equal(json_get_text(dataset, "kind", ""), "prompts");
    assert_int_equal(json_get_integer(dataset, "count", 0), 2);
    assert_int_equal(json_get_integer(dataset, "skipped", 0), 1);
    assert_int_equal(strlen(json_get_text(dataset, "digest", "")), 64);
    world_says(world, "chats: 2 prompts, input tokens");
    world_says(world, "1 unusable record was skipped");
    world_audited(world, "dataset_import", "ok", "chats");
    list = world_ok(world, "dataset_list", "{}");
    json_object_del(dataset, "digest"); /* dataset_list omits it */
    assert_true(json_equal(json_array_get(json_object_get(list, "datasets"), 0), dataset));
}

static void a_dataset_never_changes(void **state)
{
    struct world *world = *state;
    json_auto_t *first = world_ok(world, "dataset_import", IMPORT_CHATS);
    json_auto_t *again = world_ok(world, "dataset_import", IMPORT_CHATS);

    assert_false(json_get_boolean(first, "already_known", true));
    assert_true(json_get_boolean(again, "already_known", false));
    world_refused(world, "dataset_import",
                  "{\"name\":\"chats\",\"text\":\"[{\\\"prompt\\\":\\\"x\\\"}]\"}", ERROR_CONFLICT,
                  "give this one another name");
}

static void refuses_invalid_imports_and_imports_by_viewers(void **state)
{
    struct world *world = *state;

    world_refused(world, "dataset_import", "{\"name\":\"a\"}", ERROR_INVALID, "needs \"text\"");
    world_refused(world, "dataset_import", "{\"name\":\"../a\",\"text\":\"x\"}", ERROR_INVALID,
                  "it must begin with a letter or digit");
    world_refused(world, "dataset_import", "{\"name\":\"a\",\"text\":\"x\"}", ERROR_INVALID,
                  "this is not a dataset");
    world->role = ROLE_VIEWER;
    world_refused(world, "dataset_import", IMPORT_CHATS, ERROR_FORBIDDEN, "operator");
}

static void a_plan_takes_its_lengths_from_the_dataset(void **state)
{
    struct world *world = *state;
    json_auto_t *answer = NULL;
    const json_t *plan;

    world_register(world, "demo");
    json_decref(world_ok(world, "dataset_import", IMPORT_CHATS));
    answer = world_ok(world, "sweep_plan",
                      "{\"concurrency\":[1],\"dataset\":\"chats\","
                      "\"output_distribution\":\"dataset\"}");
    plan = json_object_get(answer, "plan");
    assert_string_equal(json_get_text(plan, "input_distribution", ""), "dataset");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(plan, "input_tokens"), 0)),
                     4); /* the rounded mean of 5 and 2 tokens, estimated from the prompts' bytes */
    assert_int_equal(json_integer_value(json_array_get(json_object_get(plan, "output_tokens"), 0)),
                     9);
    assert_int_equal(strlen(json_get_text(plan, "dataset_digest", "")), 64);
}

static void a_plan_refuses_an_unknown_dataset_and_arguments_that_contradict_one(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    json_decref(world_ok(world, "dataset_import",
                         "{\"name\":\"asks\",\"text\":\"{\\\"prompt\\\":\\\"x\\\"}\"}"));
    world_refused(world, "sweep_plan", "{\"concurrency\":[1],\"dataset\":\"none\"}",
                  ERROR_NOT_FOUND, "there is no dataset \"none\"");
    world_refused(world, "sweep_plan",
                  "{\"concurrency\":[1],\"dataset\":\"asks\",\"input_tokens\":[5]}", ERROR_INVALID,
                  "omit \"input_tokens\"");
    world_refused(world, "sweep_plan",
                  "{\"concurrency\":[1],\"dataset\":\"asks\",\"input_distribution\":\"uniform\"}",
                  ERROR_INVALID, "omit \"input_distribution\", which is uniform");
    world_refused(world, "sweep_plan",
                  "{\"concurrency\":[1],\"dataset\":\"asks\",\"output_tokens\":[64],"
                  "\"output_distribution\":\"dataset\"}",
                  ERROR_INVALID, "omit \"output_tokens\" or \"output_distribution\"");
    world_refused(world, "sweep_plan",
                  "{\"concurrency\":[1],\"dataset\":\"asks\",\"output_distribution\":\"dataset\"}",
                  ERROR_INVALID, "has no answer lengths");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_a_dataset_and_describes_it),
        cmocka_unit_test(a_dataset_never_changes),
        cmocka_unit_test(refuses_invalid_imports_and_imports_by_viewers),
        cmocka_unit_test(a_plan_takes_its_lengths_from_the_dataset),
        cmocka_unit_test(a_plan_refuses_an_unknown_dataset_and_arguments_that_contradict_one),
    };

    return world_run(tests);
}
