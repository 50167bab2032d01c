/* SPDX-License-Identifier: Apache-2.0 */
/* Containers and Ollama on this machine, with strict fakes of Podman and Ollama, and with real
 * watchdogs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/memory.h"
#include "base/net/outbound.h"
#include "tests/clouds/fake_ollama.h"
#include "tests/clouds/fake_podman.h"
#include "tests/clouds/machine_world.h"

#define DIGEST "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define OTHER "sha256:2222222222222222222222222222222222222222222222222222222222222222"
#define MODEL "gemma4:e2b"

struct world {
    struct machine_world machine;
    struct fake_podman podman;
    struct fake_ollama service; /* this machine's own Ollama */
    struct fake_ollama engine;  /* the Ollama in the container */
    int port;                   /* the container's port on this machine */
};

static int free_port(void)
{
    struct fake_ollama probe;
    int port;

    fake_ollama_start(&probe, 0);
    port = fake_server_port(probe.server);
    fake_ollama_stop(&probe);
    return port;
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    struct machine_world *machine = &world->machine;

    machine_world_make(machine);
    snprintf(machine->containers, sizeof machine->containers, "%s/podman.sock", machine->folder);
    fake_podman_start(&world->podman, machine->containers);
    fake_ollama_start(&world->service, 0);
    snprintf(machine->ollama, sizeof machine->ollama, "http://127.0.0.1:%d",
             fake_server_port(world->service.server));
    machine_world_open(machine);
    world->port = free_port();
    json_object_set_new(world->podman.registry, "docker.io/ollama/ollama@" DIGEST,
                        json_string(DIGEST));
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    machine_world_call(&world->machine, "DELETE", "/servers/gemma", NULL, NULL);
    machine_world_remove(&world->machine);
    fake_podman_stop(&world->podman);
    fake_ollama_stop(&world->service);
    if (world->engine.server != NULL)
        fake_ollama_stop(&world->engine);
    free(world);
    return 0;
}

static json_t *container(const struct world *world)
{
    return json_pack("{s:s, s:{s:s, s:s}, s:s, s:[s], s:[s], s:{s:s}, s:i, s:i, s:s, s:{s:s, s:i}, "
                     "s:s, s:I, s:b, s:{s:s, s:s}}",
                     "id", "pln_1", "labels", "opsbrain/instance", "inst-1", "opsbrain/deployment",
                     "gemma", "image", "docker.io/ollama/ollama@" DIGEST, "arguments", "serve",
                     "entrypoint", "/bin/ollama", "environment", "OLLAMA_NUM_PARALLEL", "1", "port",
                     world->port, "inner_port", 11434, "key_variable", "ENGINE_API_KEY", "probe",
                     "path", "/api/version", "patience_s", 20, "model", MODEL, "ends_ms",
                     (json_int_t)(clock_utc_ms() + 600000), "end_destroys", 1, "models", "folder",
                     world->machine.folder, "mounted_at", "/models");
}

static void put(struct world *world, const json_t *body)
{
    if (machine_world_call(&world->machine, "PUT", "/servers/gemma", body, NULL) != 201)
        fail_msg("%s", world->machine.error.message);
}

static void wait_for_call(struct world *world, const char *call)
{
    for (int i = 0; i < 500 && fake_podman_count(&world->podman, call) == 0; i++)
        usleep(20000);
    assert_true(fake_podman_count(&world->podman, call) > 0);
}

/* Starts a container server, and waits until it is ready. The engine in the container starts to
 * listen only after Podman is asked to start the container, and then has to pull the model. */
static void start_ready(struct world *world)
{
    json_auto_t *body = container(world);

    put(world, body);
    wait_for_call(world, "POST /containers/gemma/start");
    fake_ollama_start(&world->engine, world->port);
    json_object_set_new(world->engine.library, MODEL, json_true());
    machine_world_expect(&world->machine, "gemma", "ready");
    if (world->podman.problem[0] != '\0' || world->engine.problem[0] != '\0')
        fail_msg("%s%s", world->podman.problem, world->engine.problem);
}

static void destroy(struct world *world)
{
    assert_int_equal(machine_world_call(&world->machine, "DELETE", "/servers/gemma", NULL, NULL),
                     200);
    machine_world_expect(&world->machine, "gemma", "absent");
}

/* ---- Containers ---- */

static void a_container_is_pulled_by_digest_and_confined(void **state)
{
    struct world *world = *state;
    json_auto_t *key = NULL;
    json_t *config;
    FREE_AUTO char *written = NULL;
    char variable[128];

    start_ready(world);
    assert_int_equal(fake_podman_count(&world->podman, "POST /images/create"), 1);
    config = json_object_get(json_object_get(world->podman.containers, "gemma"), "Config");
    written = json_write(config);
    assert_int_equal(machine_world_call(&world->machine, "GET", "/servers/gemma/key", NULL, &key),
                     200);
    snprintf(variable, sizeof variable, "\"ENGINE_API_KEY=%s\"", json_get_text(key, "key", ""));
    assert_non_null(strstr(written, variable));
    assert_non_null(strstr(written, "\"Entrypoint\":[\"/bin/ollama\"]"));
    assert_non_null(strstr(written, "\"Cmd\":[\"serve\"]"));
    assert_non_null(strstr(written, "\"HostIp\":\"127.0.0.1\""));
    assert_null(strstr(written, "OPSBRAIN_SECRET"));
    assert_non_null(json_object_get(world->engine.loaded, MODEL));
    destroy(world);
    assert_int_equal(json_object_size(world->podman.containers), 0);
}

static void a_container_ends_on_time(void **state)
{
    struct world *world = *state;
    json_auto_t *sooner =
        json_pack("{s:I, s:b}", "ends_ms", (json_int_t)(clock_utc_ms() + 200), "end_destroys", 0);

    start_ready(world);
    assert_int_equal(machine_world_call(&world->machine, "PATCH", "/servers/gemma", sooner, NULL),
                     200);
    machine_world_expect(&world->machine, "gemma", "stopped");
    assert_int_equal(fake_podman_count(&world->podman, "POST /containers/gemma/stop"), 1);
    assert_int_equal(json_object_size(world->podman.containers), 1);
    destroy(world);
    assert_int_equal(json_object_size(world->podman.containers), 0);
}

static void a_container_that_opsbrain_did_not_make_is_not_touched(void **state)
{
    struct world *world = *state;
    json_auto_t *body = container(world);
    json_auto_t *shown = NULL;

    json_object_set_new(world->podman.containers, "gemma",
                        json_pack("{s:{s:{s:s}}, s:{s:b}}", "Config", "Labels", "mine", "yes",
                                  "State", "Running", 1));
    put(world, body);
    shown = machine_world_wait(&world->machine, "gemma", "failed");
    assert_non_null(strstr(json_get_text(shown, "message", ""), "opsbrain did not make"));
    destroy(world);
    assert_int_equal(json_object_size(world->podman.containers), 1);
    assert_int_equal(fake_podman_count(&world->podman, "POST /containers/gemma/stop"), 0);
}

/* False answers, sent one after the other in place of Podman's. After the last one, Podman answers
 * again. */
struct lies {
    struct {
        int status; /* HTTP status; 0: the list ends here */
        const char *body;
        bool stays; /* this answer is repeated, and the next one is never sent */
    } list[3];
    int count; /* how many answers without `stays` were sent so far */
};

static bool lie(void *context, enum fake_moment moment, const struct fake_request *request,
                struct fake_reply *reply, void **memory)
{
    struct lies *lies = context;

    (void)request, (void)memory;
    if (moment == FAKE_AFTER || lies->list[lies->count].status == 0)
        return false;
    reply->status = lies->list[lies->count].status;
    text_add(&reply->body, lies->list[lies->count].body);
    lies->count += !lies->list[lies->count].stays;
    return true;
}

/* At first Podman fails every request. Then it answers one request with 404, and the next one with
 * an empty object. */
static void a_container_that_cannot_be_ended_yet_is_not_forgotten(void **state)
{
    struct lies busy = { .list = { { 500, "{\"message\":\"the storage is busy\"}", true } } };
    struct lies wrong = { .list = { { 404, "{\"message\":\"no such container\"}" },
                                    { 200, "{}" } } };
    struct world *world = *state;
    json_auto_t *sooner =
        json_pack("{s:I, s:b}", "ends_ms", (json_int_t)(clock_utc_ms() + 200), "end_destroys", 1);
    json_auto_t *shown = NULL;

    start_ready(world);
    fake_server_guard(world->podman.server, lie, &busy);
    assert_int_equal(machine_world_call(&world->machine, "PATCH", "/servers/gemma", sooner, NULL),
                     200);
    shown = machine_world_wait(&world->machine, "gemma", "deleting");
    for (int i = 0; i < 250 && strstr(json_get_text(shown, "message", ""), "is busy") == NULL;
         i++) {
        json_decref(shown);
        shown = machine_world_wait(&world->machine, "gemma", "deleting");
        usleep(20000);
    }
    assert_non_null(strstr(json_get_text(shown, "message", ""), "the storage is busy"));
    assert_int_equal(json_object_size(world->podman.containers), 1);
    fake_server_guard(world->podman.server, lie, &wrong);
    machine_world_expect(&world->machine, "gemma", "absent");
    assert_int_equal(wrong.count, 2);
    assert_int_equal(json_object_size(world->podman.containers), 0);
}

/* Writes the wanted state into the server's record, as a request to stop or destroy the server does
 * while its watchdog is running. */
static void set_wanted(const struct world *world, const char *wanted)
{
    char folder[PATH_MAX];
    json_auto_t *record = NULL;
    struct error error;

    snprintf(folder, sizeof folder, "%s/gemma", world->machine.records);
    if (!machine_record_read(folder, MACHINE_RECORD, &record, &error))
        fail_msg("%s", error.message);
    json_object_set_new(record, "wanted", json_string(wanted));
    if (!machine_record_write(folder, MACHINE_RECORD, record, &error))
        fail_msg("%s", error.message);
}

/* The destruction is requested while Podman is still failing to stop the container. */
static void a_destruction_waits_until_the_container_can_be_ended(void **state)
{
    struct lies busy = { .list = { { 500, "{\"message\":\"the storage is busy\"}", true } } };
    struct lies none = { 0 };
    struct world *world = *state;

    start_ready(world);
    fake_server_guard(world->podman.server, lie, &busy);
    set_wanted(world, "stopped");
    machine_world_expect(&world->machine, "gemma", "deleting");
    set_wanted(world, "gone");
    fake_server_guard(world->podman.server, lie, &none);
    machine_world_expect(&world->machine, "gemma", "absent");
    assert_int_equal(json_object_size(world->podman.containers), 0);
}

static void a_server_whose_image_is_unavailable_fails(void **state)
{
    struct world *world = *state;
    json_auto_t *body = container(world);
    json_auto_t *shown = NULL;

    json_object_set_new(body, "image", json_string("docker.io/ollama/ollama@" OTHER));
    put(world, body);
    shown = machine_world_wait(&world->machine, "gemma", "failed");
    assert_non_null(strstr(json_get_text(shown, "message", ""), "no such image"));
    destroy(world);
}

static void an_image_that_is_not_named_by_its_digest_is_refused(void **state)
{
    static const char *const images[] = {
        "ollama/ollama:latest",         "ollama/ollama", "",        "a@sha256:12",
        "a/../../containers/x@" DIGEST, "a?b@" DIGEST,   DIGEST "0"
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        json_auto_t *body = container(world);

        json_object_set_new(body, "image", json_string(images[i]));
        assert_int_equal(machine_world_call(&world->machine, "PUT", "/servers/gemma", body, NULL),
                         400);
        machine_world_says(&world->machine, "is not named by its digest");
    }
}

static void a_server_fails_when_its_container_ends(void **state)
{
    struct world *world = *state;
    json_auto_t *shown = NULL;
    json_t *ended;

    start_ready(world);
    ended = json_pack("{s:b, s:i, s:s}", "Running", 0, "ExitCode", 137, "Error", "");
    fake_server_hold(world->podman.server);
    json_object_set_new(json_object_get(world->podman.containers, "gemma"), "State", ended);
    fake_server_release(world->podman.server);
    shown = machine_world_wait(&world->machine, "gemma", "failed");
    assert_non_null(strstr(json_get_text(shown, "message", ""), "status 137"));
    destroy(world);
}

static void images_are_found_by_name(void **state)
{
    struct world *world = *state;
    json_auto_t *image = NULL;

    json_object_set_new(world->podman.images, "ollama/ollama:latest", json_string(DIGEST));
    assert_int_equal(machine_world_call(&world->machine, "GET", "/images?name=ollama/ollama:latest",
                                        NULL, &image),
                     200);
    assert_string_equal(json_get_text(image, "id", ""), DIGEST);
    assert_int_equal(machine_world_call(&world->machine, "GET", "/images?name=other", NULL, NULL),
                     404);
    assert_int_equal(
        machine_world_call(&world->machine, "GET", "/images?name=a%2e%2e/b", NULL, NULL), 400);
}

static void without_a_socket_there_are_no_containers(void **state)
{
    struct world *world = *state;
    json_auto_t *body = container(world);

    world->machine.containers[0] = '\0';
    machine_world_open(&world->machine);
    assert_int_equal(machine_world_call(&world->machine, "PUT", "/servers/gemma", body, NULL), 403);
    machine_world_says(&world->machine, "this_machine_containers");
    snprintf(world->machine.containers, sizeof world->machine.containers, "/no/such.sock");
    machine_world_open(&world->machine);
    assert_int_equal(machine_world_call(&world->machine, "PUT", "/servers/gemma", body, NULL), 502);
}

/* ---- Ollama ---- */

static json_t *service(const struct world *world, int64_t life_ms)
{
    return json_pack("{s:s, s:{s:s, s:s}, s:s, s:s, s:i, s:I, s:b}", "id", "pln_1", "labels",
                     "opsbrain/instance", "inst-1", "opsbrain/deployment", "gemma", "service",
                     "ollama", "model", MODEL, "port", fake_server_port(world->service.server),
                     "ends_ms", (json_int_t)(clock_utc_ms() + life_ms), "end_destroys", 1);
}

static void a_model_is_pulled_loaded_and_unloaded(void **state)
{
    struct world *world = *state;
    json_auto_t *body = service(world, 600000);
    json_auto_t *shown = NULL;
    int64_t stay_s;

    json_object_set_new(world->service.library, MODEL, json_true());
    put(world, body);
    shown = machine_world_wait(&world->machine, "gemma", "ready");
    assert_string_equal(json_get_text(shown, "address", ""), world->machine.ollama);
    stay_s = json_integer_value(json_object_get(world->service.loaded, MODEL));
    /* Ollama itself unloads the model when the server's time is up */
    assert_in_range(stay_s, 590, 601);
    destroy(world);
    assert_int_equal(json_object_size(world->service.loaded), 0);
    assert_int_equal(json_object_size(world->service.models), 1);
    assert_string_equal(world->service.problem, "");
}

static void a_model_is_unloaded_when_its_server_ends(void **state)
{
    struct world *world = *state;
    json_auto_t *body = service(world, 1000);

    json_object_set_new(world->service.models, MODEL, json_true());
    put(world, body);
    machine_world_expect(&world->machine, "gemma", "ready");
    assert_int_equal(json_object_size(world->service.loaded), 1);
    machine_world_expect(&world->machine, "gemma", "absent");
    assert_int_equal(json_object_size(world->service.loaded), 0);
}

/* A fault in the first request to unload a model. The model stays loaded. Either the answer
 * says that the model was unloaded, or the connection is broken off without an answer. */
struct unload_fault {
    bool is_answered;
    int count; /* how many requests have failed in this way: 0 or 1 */
};

static bool fail_first_unload(void *context, enum fake_moment moment,
                              const struct fake_request *request, struct fake_reply *reply,
                              void **memory)
{
    struct unload_fault *fault = context;

    (void)memory;
    if (moment == FAKE_AFTER || strstr(request->body, "\"keep_alive\":0") == NULL
        || fault->count > 0)
        return false;
    reply->breaks_off = !fault->is_answered;
    if (fault->is_answered)
        text_add(&reply->body, "{\"response\":\"\",\"done\":true,\"done_reason\":\"unload\"}");
    return ++fault->count;
}

static void the_request_to_unload_a_model_is_repeated_until_it_is_unloaded(void **state)
{
    struct world *world = *state;

    json_object_set_new(world->service.models, MODEL, json_true());
    for (int i = 0; i < 2; i++) {
        json_auto_t *body = service(world, 600000);
        struct unload_fault fault = { .is_answered = i > 0 };

        put(world, body);
        machine_world_expect(&world->machine, "gemma", "ready");
        fake_server_guard(world->service.server, fail_first_unload, &fault);
        destroy(world);
        assert_int_equal(fault.count, 1);
        assert_int_equal(json_object_size(world->service.loaded), 0);
    }
}

static void a_server_whose_model_is_unavailable_fails(void **state)
{
    struct world *world = *state;
    json_auto_t *body = service(world, 600000);
    json_auto_t *shown = NULL;

    put(world, body);
    shown = machine_world_wait(&world->machine, "gemma", "failed");
    assert_non_null(strstr(json_get_text(shown, "message", ""), "file does not exist"));
    destroy(world);
}

/* ---- Servers that opsbrain did not start ---- */

static void a_server_that_opsbrain_did_not_start_is_found_but_cannot_be_destroyed(void **state)
{
    struct world *world = *state;
    json_auto_t *all = NULL;
    json_auto_t *one = NULL;
    const json_t *server;
    char name[64], path[96];
    size_t i, found = 0;

    json_object_set_new(world->service.models, MODEL, json_true());
    snprintf(name, sizeof name, "ollama-%d", fake_server_port(world->service.server));
    assert_int_equal(machine_world_call(&world->machine, "GET", "/servers", NULL, &all), 200);
    json_array_foreach(json_object_get(all, "servers"), i, server)
        found += strcmp(json_get_text(server, "name", ""), name) == 0;
    assert_int_equal(found, 1);
    snprintf(path, sizeof path, "/servers/%s", name);
    assert_int_equal(machine_world_call(&world->machine, "GET", path, NULL, &one), 200);
    assert_non_null(strstr(json_get_text(one, "message", ""), MODEL));
    assert_int_equal(machine_world_call(&world->machine, "DELETE", path, NULL, NULL), 404);
    assert_int_equal(machine_world_call(&world->machine, "GET", "/servers/ollama-1", NULL, NULL),
                     404);
}

/* ---- The check ---- */

static void the_check_reports_each_need_and_whether_it_is_met(void **state)
{
    struct world *world = *state;
    json_auto_t *body = NULL;
    const json_t *finding;
    size_t i, missing = 0;

    assert_int_equal(machine_world_call(&world->machine, "GET", "/check", NULL, &body), 200);
    json_array_foreach(json_object_get(body, "findings"), i, finding)
        missing += !json_get_boolean(finding, "ok", false);
    /* only one need can be unmet: without root, programs do not get accounts of their own */
    assert_int_equal(missing, geteuid() != 0);
    assert_int_equal(json_array_size(json_object_get(body, "findings")), 6);
}

int main(int argc, char **argv)
{
    struct error error;

    if (argc == 3 && strcmp(argv[1], "watchdog") == 0)
        return machine_watch(argc - 1, argv + 1);
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_container_is_pulled_by_digest_and_confined),
        TEST(a_container_ends_on_time),
        TEST(a_container_that_opsbrain_did_not_make_is_not_touched),
        TEST(a_container_that_cannot_be_ended_yet_is_not_forgotten),
        TEST(a_destruction_waits_until_the_container_can_be_ended),
        TEST(a_server_whose_image_is_unavailable_fails),
        TEST(an_image_that_is_not_named_by_its_digest_is_refused),
        TEST(a_server_fails_when_its_container_ends),
        TEST(images_are_found_by_name),
        TEST(without_a_socket_there_are_no_containers),
        TEST(a_model_is_pulled_loaded_and_unloaded),
        TEST(a_model_is_unloaded_when_its_server_ends),
        TEST(the_request_to_unload_a_model_is_repeated_until_it_is_unloaded),
        TEST(a_server_whose_model_is_unavailable_fails),
        TEST(a_server_that_opsbrain_did_not_start_is_found_but_cannot_be_destroyed),
        TEST(the_check_reports_each_need_and_whether_it_is_met),
    };
#undef TEST

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
