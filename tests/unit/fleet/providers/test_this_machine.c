/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the provider "local", which runs servers on this machine: the requests for the
 * catalogue's recipes, what is refused, and a simulated model server (simserve) from creation to
 * destruction, with a real watchdog. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/memory.h"
#include "base/net/outbound.h"
#include "fleet/recipes/recipe_book.h"
#include "tests/clouds/fake_server.h"
#include "tests/clouds/machine_world.h"
#include "tests/clouds/provider_life.h"

#define IMAGE "sha256:1111111111111111111111111111111111111111111111111111111111111111"

static const struct fleet_target target = { .name = "here",
                                            .provider = "local",
                                            .credential = { .kind = CLOUD_NONE } };

struct world {
    struct machine_world machine;
    struct cloud_endpoints *endpoints;
    struct recipe_book *book;
    struct recipe recipe; /* starts simserve */
    struct life life;
};

static void open_cloud(struct world *world, const struct cloud_machine *machine)
{
    struct cloud_config config = { .secrets_folder = "",
                                   .endpoints = world->endpoints,
                                   .machine = machine };

    cloud_destroy(world->life.cloud);
    if (!cloud_create(&target.credential, &config, &world->life.cloud, &world->machine.error))
        fail_msg("%s", world->machine.error.message);
}

static int free_port(void)
{
    struct fake_server *probe = fake_server_start(NULL, NULL);
    int port = fake_server_port(probe);

    fake_server_stop(probe);
    return port;
}

static void read_recipe(struct world *world, const char *program)
{
    TEXT_AUTO json = { 0 };
    struct error error;
    int port = free_port();

    text_addf(&json,
              "{\"name\":\"local-simserve\",\"revision\":1,\"title\":\"A simulated server\","
              "\"provider\":\"local\",\"engine\":\"simserve\",\"model\":\"simulated\","
              "\"program\":\"%s\",\"arguments\":{\"--listen\":\"127.0.0.1:%d\"},\"port\":%d,"
              "\"weights\":{\"from\":\"hub\",\"repository\":\"none/none\"},"
              "\"licence\":{\"name\":\"none\"},\"status\":\"reported\",\"source\":\"made up\","
              "\"as_of\":\"2026-01-01\",\"cost\":[]}",
              program, port, port);
    if (!recipe_parse(text_string(&json), json.length, &world->recipe, &error))
        fail_msg("%s", error.message);
    world->recipe.origin = RECIPE_FOLDER;
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    char simserve[PATH_MAX];
    struct error error;

    machine_world_make(&world->machine);
    assert_non_null(realpath(SIMSERVE, simserve));
    snprintf(world->machine.programs, sizeof world->machine.programs, "%s", simserve);
    machine_world_open(&world->machine);
    assert_true(cloud_endpoints_create("", &world->endpoints, &error));
    if (!recipe_book_create("", &world->book, &error))
        fail_msg("%s", error.message);
    read_recipe(world, simserve);
    open_cloud(world, machine_as_cloud(world->machine.machine));
    world->life.provider = provider_find("local");
    world->life.polls_max = 500;
    world->life.pause_ms = 20;
    world->life.desired = (struct desired){ .target = &target,
                                            .recipe = &world->recipe,
                                            .deployment = "gemma",
                                            .instance = "inst-1",
                                            .place = "",
                                            .kind = "on_demand",
                                            .ends_ms = clock_utc_ms() + 3600000,
                                            .end_destroys = true,
                                            .request_seed = "pln_1" };
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    open_cloud(world, machine_as_cloud(world->machine.machine));
    life_apply(&world->life, VERB_DESTROY);
    cloud_destroy(world->life.cloud);
    cloud_endpoints_destroy(world->endpoints);
    recipe_book_destroy(world->book);
    recipe_finish(&world->recipe);
    machine_world_remove(&world->machine);
    free(world);
    return 0;
}

/* ---- Requests ---- */

/* Returns the body of the first request of a creation, or NULL if the creation is refused
 * (life.error says why). */
static json_t *body_of(struct world *world, const struct recipe *recipe, const char *image)
{
    struct observed absent = { .state = "absent" };
    struct step *steps;
    size_t count;
    json_t *body = NULL;

    snprintf(absent.image_digest, sizeof absent.image_digest, "%s", image);
    world->life.desired.recipe = recipe;
    if (world->life.provider->steps(VERB_CREATE, &world->life.desired, &absent, &steps, &count,
                                    &world->life.error)) {
        assert_int_equal(count, 2);
        assert_string_equal(steps[0].method, "PUT");
        assert_string_equal(steps[0].url, "/servers/gemma");
        assert_string_equal(steps[0].undo_url, "/servers/gemma?id=pln_1");
        assert_string_equal(steps[0].dry_run_url, "/servers/gemma?dry_run=true");
        body = json_incref(steps[0].body);
        step_list_free(steps, count);
    }
    world->life.desired.recipe = &world->recipe;
    return body;
}

/* What the request for each local recipe in the catalogue must contain. */
static const struct {
    const char *recipe, *parts[10];
} requests[] = {
    { "local-ollama-gemma-4-e2b",
      { "\"image\":\"" IMAGE "\"", "\"image_name\":\"ollama/ollama:latest\"",
        "\"OLLAMA_KV_CACHE_TYPE\":\"q4_0\"", "\"port\":8000", "\"inner_port\":11434",
        "\"model\":\"gemma4:e2b\"", "\"arguments\":[]" } },
    { "local-ollama-gemma-4-e4b",
      { "\"image\":\"" IMAGE "\"", "\"model\":\"gemma4:e4b\"", "\"port\":8000" } },
    { "local-ollama-gemma-4-31b",
      { "\"image\":\"" IMAGE "\"", "\"model\":\"gemma4:31b\"", "\"port\":8000" } },
    { "local-ollama-program-gemma-4-e2b",
      { "\"program\":\"/usr/local/bin/ollama\"", "\"arguments\":[\"serve\"]",
        "\"OLLAMA_HOST\":\"127.0.0.1:11434\"", "\"model\":\"gemma4:e2b\"" } },
    { "local-ollama-service-gemma-4-e2b",
      { "\"service\":\"ollama\"", "\"model\":\"gemma4:e2b\"", "\"port\":11434" } },
    { "local-llama-cpp-gemma-4-e2b",
      { "\"program\":\"/usr/local/bin/llama-server\"", "\"--host\",\"127.0.0.1\"",
        "\"--ctx-size\",\"8192\"", "\"key_variable\":\"LLAMA_API_KEY\"",
        "\"models\":{\"folder\":\"/models\"}", "\"patience_s\":300" } },
    { "local-vllm-gemma-4-e2b",
      { "\"image\":\"" IMAGE "\"", "\"entrypoint\":[\"vllm\"]",
        "\"arguments\":[\"serve\",\"google/gemma-4-E2B-it\",\"--port\",\"8000\"",
        "\"models\":{\"folder\":\"/models\",\"mounted_at\":\"/models\"}",
        "\"key_variable\":\"VLLM_API_KEY\"", "\"gpus\":true" } },
};

static void the_request_for_each_recipe_has_its_settings(void **state)
{
    struct world *world = *state;
    size_t count, local = 0;
    const struct recipe *recipes = recipe_book_all(world->book, &count);

    for (size_t i = 0; i < count; i++)
        local += strcmp(recipes[i].provider, "local") == 0;
    assert_int_equal(local, sizeof requests / sizeof *requests);
    for (size_t i = 0; i < local; i++) {
        json_auto_t *body =
            body_of(world, recipe_book_find(world->book, requests[i].recipe), IMAGE);
        FREE_AUTO char *written = NULL;

        if (body == NULL)
            fail_msg("%s: %s", requests[i].recipe, world->life.error.message);
        written = json_write(body);
        for (size_t j = 0; requests[i].parts[j] != NULL; j++)
            if (strstr(written, requests[i].parts[j]) == NULL)
                fail_msg("%s: no %s in %s", requests[i].recipe, requests[i].parts[j], written);
        assert_non_null(strstr(written, "\"opsbrain/instance\":\"inst-1\""));
        assert_null(strstr(written, "\"key\""));
    }
}

static void a_request_is_shown_as_a_command(void **state)
{
    static const struct {
        const char *recipe, *parts[4];
    } cases[] = {
        { "local-llama-cpp-gemma-4-e2b",
          { "env -i LLAMA_API_KEY=", " /usr/local/bin/llama-server --model /models/" } },
        { "local-vllm-gemma-4-e2b",
          { "podman run -d --name gemma -p 127.0.0.1:8000:8000 --cap-drop=all",
            " -v /models:/models:ro", " --gpus=all --shm-size=8g",
            " --entrypoint vllm " IMAGE " serve" } },
        { "local-ollama-service-gemma-4-e2b", { "ollama pull gemma4:e2b" } },
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct step step = { .name = "server" };
        TEXT_AUTO command = { 0 };

        step.body = body_of(world, recipe_book_find(world->book, cases[i].recipe), IMAGE);
        json_object_set_new(step.body, "shared_memory_gib", json_integer(8));
        world->life.provider->command(&world->life.desired, &step, &command);
        json_decref(step.body);
        for (size_t j = 0; j < 4 && cases[i].parts[j] != NULL; j++)
            if (strstr(text_string(&command), cases[i].parts[j]) == NULL)
                fail_msg("no \"%s\" in %s", cases[i].parts[j], text_string(&command));
    }
}

static void check_refused(struct world *world, const char *recipe, const char *member,
                          const char *value, const char *part)
{
    json_auto_t *document = json_deep_copy(recipe_book_find(world->book, recipe)->document);
    json_auto_t *body = NULL;
    struct recipe changed;
    struct error error;

    json_object_set_new(document, member, json_loads(value, JSON_DECODE_ANY, NULL));
    if (!recipe_read(document, &changed, &error))
        fail_msg("%s", error.message);
    changed.origin = RECIPE_FOLDER;
    body = body_of(world, &changed, "");
    recipe_finish(&changed);
    if (body != NULL || strstr(world->life.error.message, part) == NULL)
        fail_msg("%s: %s", recipe, body != NULL ? "it was accepted" : world->life.error.message);
}

static void recipes_that_cannot_run_on_this_machine_are_refused(void **state)
{
    static const char llama[] = "local-llama-cpp-gemma-4-e2b", vllm[] = "local-vllm-gemma-4-e2b";
    struct world *world = *state;

    check_refused(world, llama, "arguments",
                  "{\"--host\": \"0.0.0.0\", \"--ctx-size\": 512, \"--parallel\": 1}",
                  "must listen on loopback only");
    check_refused(world, llama, "arguments", "{\"--ctx-size\": 512, \"--parallel\": 1}",
                  "must listen on loopback only");
    check_refused(world, llama, "environment", "{\"HF_TOKEN\": {\"secret\": \"hf-token\"}}",
                  "which this machine does not have");
    check_refused(world, vllm, "weights", "{\"from\": \"bucket\", \"folder\": \"x\"}",
                  "has no bucket");
    check_refused(world, vllm, "scale", "{\"max\": 2}", "has only one server");
    check_refused(world, vllm, "title", "\"An image tag that this machine does not have\"",
                  "named by a tag");
}

static void a_recipe_that_is_imported_or_has_no_origin_is_not_run(void **state)
{
    static const enum recipe_origin origins[] = { RECIPE_IMPORTED,
                                                  (enum recipe_origin)0 /* not set */ };
    struct world *world = *state;

    for (size_t i = 0; i < 2; i++) {
        world->recipe.origin = origins[i];
        assert_null(body_of(world, &world->recipe, ""));
        assert_non_null(strstr(world->life.error.message, "was imported"));
    }
    world->recipe.origin = RECIPE_FOLDER;
}

/* ---- Calls that are refused ---- */

static void calls_fail_while_servers_on_this_machine_are_not_allowed(void **state)
{
    struct world *world = *state;
    json_auto_t *findings = json_array();
    struct observed *list, now;
    size_t count;

    open_cloud(world, NULL);
    assert_false(world->life.provider->observe(world->life.cloud, &world->life.desired, &now,
                                               &world->life.error));
    assert_non_null(strstr(world->life.error.message, "an admin can switch them on"));
    assert_false(world->life.provider->list(world->life.cloud, &target, &list, &count, NULL,
                                            &world->life.error));
    assert_false(
        world->life.provider->check(world->life.cloud, &target, findings, &world->life.error));
    assert_false(life_apply(&world->life, VERB_CREATE));
}

static void calls_to_other_addresses_and_paths_are_refused(void **state)
{
    static const char *const urls[] = { "http://127.0.0.1:1/", "https://run.googleapis.com/v2/x",
                                        "file:///etc/passwd", "/../etc", "/servers/../x" };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        CLOUD_REPLY_AUTO reply = { 0 };

        assert_false(
            cloud_call(world->life.cloud, "GET", urls[i], NULL, NULL, &reply, &world->life.error));
        assert_int_equal(reply.verdict, CLOUD_REFUSED);
    }
}

/* ---- From creation to destruction ---- */

static struct observed observe(struct world *world)
{
    struct observed now;

    if (!world->life.provider->observe(world->life.cloud, &world->life.desired, &now,
                                       &world->life.error))
        fail_msg("%s", world->life.error.message);
    return now;
}

static void must(struct world *world, enum provider_verb verb)
{
    if (!life_apply(&world->life, verb))
        fail_msg("%s: %s: %s", provider_verb_name(verb), world->life.step,
                 world->life.error.message);
}

static void a_server_is_created_extended_stopped_started_and_destroyed(void **state)
{
    struct world *world = *state;
    struct observed now;

    assert_true(life_plan(&world->life, VERB_CREATE));
    now = observe(world);
    assert_false(now.exists); /* a plan creates nothing */
    observed_finish(&now);
    must(world, VERB_CREATE);
    now = observe(world);
    assert_true(now.ours && now.ready_replicas == 1);
    assert_int_equal(now.ends_ms, world->life.desired.ends_ms);
    assert_string_equal(now.at_end, "destroy");
    assert_string_equal(now.state, "ready");
    observed_finish(&now);
    world->life.desired.ends_ms += 3600000;
    must(world, VERB_EXTEND);
    now = observe(world);
    assert_int_equal(now.ends_ms, world->life.desired.ends_ms);
    observed_finish(&now);
    must(world, VERB_STOP);
    must(world, VERB_START);
    must(world, VERB_DESTROY);
    must(world, VERB_DESTROY); /* a destruction can be repeated */
    now = observe(world);
    assert_string_equal(now.state, "absent");
    observed_finish(&now);
}

static void servers_that_opsbrain_did_not_start_are_not_changed(void **state)
{
    static const enum provider_verb verbs[] = { VERB_STOP, VERB_DESTROY, VERB_EXTEND };
    struct world *world = *state;
    struct observed foreign = { .exists = true, .state = "ready", .name = "ollama-11434" };

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct step *steps;
        size_t count;

        assert_false(world->life.provider->steps(verbs[i], &world->life.desired, &foreign, &steps,
                                                 &count, &world->life.error));
        assert_non_null(strstr(world->life.error.message, "was not started by opsbrain"));
    }
}

static void a_server_can_be_neither_updated_nor_scaled(void **state)
{
    struct world *world = *state;

    assert_false(provider_check_verb(world->life.provider, VERB_UPDATE, &world->life.error));
    assert_false(provider_check_verb(world->life.provider, VERB_SCALE, &world->life.error));
}

static void a_repeated_request_does_not_make_a_second_server(void **state)
{
    struct world *world = *state;
    struct observed first = observe(world);
    struct step *steps;
    size_t count;

    assert_true(world->life.provider->steps(VERB_CREATE, &world->life.desired, &first, &steps,
                                            &count, &world->life.error));
    assert_int_equal(life_do(&world->life, &steps[0]), STEP_DONE);
    assert_int_equal(life_do(&world->life, &steps[0]), STEP_EXISTS);
    assert_int_equal(life_do(&world->life, &steps[1]), STEP_DONE);
    step_list_free(steps, count);
    observed_finish(&first);
    must(world, VERB_DESTROY);
}

/* Checks the length of the key of the server called `name`. The provider finds the key by the name
 * alone. */
static void assert_key(struct world *world, const char *name, size_t length)
{
    struct observed door = { 0 };
    char key[SECRET_VALUE_SIZE];

    snprintf(door.name, sizeof door.name, "%s", name);
    if (!world->life.provider->key(world->life.cloud, &door, key, &world->life.error))
        fail_msg("%s", world->life.error.message);
    assert_int_equal(strlen(key), length);
}

static void the_key_is_found_by_the_name_of_its_server(void **state)
{
    struct world *world = *state;
    json_auto_t *body = body_of(world, &world->recipe, "");

    json_object_set_new(body, "key_variable", json_string("ENGINE_API_KEY"));
    assert_int_equal(machine_world_call(&world->machine, "PUT", "/servers/gemma", body, NULL), 201);
    assert_key(world, "gemma", 48);
    assert_key(world, "ollama-11434", 0);
    must(world, VERB_DESTROY);
    assert_key(world, "gemma", 0);
}

int main(int argc, char **argv)
{
    struct error error;

    if (argc == 3 && strcmp(argv[1], "watchdog") == 0)
        return machine_watch(argc - 1, argv + 1);
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_request_for_each_recipe_has_its_settings),
        TEST(a_request_is_shown_as_a_command),
        TEST(recipes_that_cannot_run_on_this_machine_are_refused),
        TEST(a_recipe_that_is_imported_or_has_no_origin_is_not_run),
        TEST(calls_fail_while_servers_on_this_machine_are_not_allowed),
        TEST(calls_to_other_addresses_and_paths_are_refused),
        TEST(a_server_is_created_extended_stopped_started_and_destroyed),
        TEST(the_key_is_found_by_the_name_of_its_server),
        TEST(servers_that_opsbrain_did_not_start_are_not_changed),
        TEST(a_server_can_be_neither_updated_nor_scaled),
        TEST(a_repeated_request_does_not_make_a_second_server),
    };
#undef TEST

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
