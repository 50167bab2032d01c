/* SPDX-License-Identifier: Apache-2.0 */
/* The provider against a strict fake of Google's services (tests/clouds/fake_google.c), with every
 * recipe of the catalogue that is for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/recipes/recipe.h"
#include "tests/clouds/fake_google.h"
#include "tests/clouds/provider_life.h"

#define SERVICE "/v2/projects/p/locations/us-east4/services/gemma"
#define RECIPES SOURCE_DIR "/catalog/recipes/run-*.json"

static const char recipe_json[] =
    "{\"name\":\"run-small\",\"revision\":1,\"title\":\"A small one\",\"provider\":\"cloud_run\","
    "\"engine\":\"vllm\",\"model\":\"google/gemma-4-12B-it\",\"image\":\"vllm/"
    "vllm-openai:v0.23.0\","
    "\"command\":[\"vllm\",\"serve\",\"/mnt/models/gemma\"],"
    "\"arguments\":{\"--max-model-len\":16384,\"--max-num-seqs\":8},"
    "\"environment\":{\"HF_TOKEN\":{\"secret\":\"hf-token\"},\"HF_HUB_OFFLINE\":\"1\"},"
    "\"port\":8000,\"weights\":{\"from\":\"bucket\",\"folder\":\"gemma\",\"mounted_at\":\"/mnt/"
    "models\"},"
    "\"probes\":{\"startup\":{\"path\":\"/"
    "health\",\"initial_s\":60,\"period_s\":15,\"failures\":60}},"
    "\"licence\":{\"name\":\"Gemma\"},\"hardware\":\"nvidia-l4\",\"chips\":1,"
    "\"host\":{\"cpu\":8,\"memory_gib\":32,\"shared_memory_gib\":4},"
    "\"scale\":{\"min\":0,\"max\":1,\"concurrency\":16},"
    "\"status\":\"reported\",\"source\":\"made up\",\"as_of\":\"2026-01-01\","
    "\"cloud_run\":{\"accelerator\":\"nvidia-l4\",\"zonal_redundancy\":false,\"timeout_s\":3600,"
    "\"mount_options\":[\"uid=1001\",\"gid=1001\"]}}";

struct world {
    struct fake_google fake;
    struct cloud_endpoints *endpoints;
    struct recipe recipe;
    struct fleet_target target;
    struct life life;
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    struct cloud_config config = { .secrets_folder = "" };
    struct error error = { 0 };

    fake_google_start(&world->fake);
    fake_google_add(&world->fake, "/v1/projects/p/secrets/hf-token", "{\"name\":\"x\"}");
    world->target = (struct fleet_target){ .name = "gcp",
                                           .provider = "cloud_run",
                                           .project = "p",
                                           .bucket = "weights",
                                           .places = { "us-east4" },
                                           .place_count = 1,
                                           .service_account = "server@p.iam.gserviceaccount.com",
                                           .credential = { .kind = CLOUD_WORKLOAD_IDENTITY } };
    assert_true(cloud_endpoints_create(world->fake.endpoints, &world->endpoints, &error));
    config.endpoints = world->endpoints;
    if (!recipe_parse(recipe_json, strlen(recipe_json), &world->recipe, &error)
        || !cloud_create(&world->target.credential, &config, &world->life.cloud, &error))
        fail_msg("%s", error.message);
    world->life.provider = provider_find("cloud_run");
    world->life.looks_max = 3;
    world->life.desired = (struct desired){ .target = &world->target,
                                            .recipe = &world->recipe,
                                            .deployment = "gemma",
                                            .instance = "inst-1",
                                            .place = "us-east4",
                                            .kind = "on_demand",
                                            .made_ms = INT64_C(1764000000000),
                                            .ends_ms = INT64_C(1764003600000),
                                            .end_destroys = true,
                                            .request_seed = "plan-1" };
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    cloud_destroy(world->life.cloud);
    cloud_endpoints_destroy(world->endpoints);
    recipe_finish(&world->recipe);
    fake_google_stop(&world->fake);
    free(world);
    return 0;
}

static void must_apply(struct world *world, enum provider_verb verb)
{
    if (!life_apply(&world->life, verb))
        fail_msg("%s: %s: %s", provider_verb_name(verb), world->life.step,
                 world->life.error.message);
}

static struct observed look(struct world *world)
{
    struct observed now;

    if (!world->life.provider->observe(world->life.cloud, &world->life.desired, &now,
                                       &world->life.error))
        fail_msg("%s", world->life.error.message);
    return now;
}

static void check_state(struct world *world, const char *state, const char *message)
{
    struct observed now = look(world);

    assert_string_equal(now.state, state);
    if (strstr(now.message, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, now.message);
    observed_finish(&now);
}

/* A refused verb, whose error has this part. */
static void check_refused(struct world *world, enum provider_verb verb, const char *part)
{
    assert_false(life_apply(&world->life, verb));
    if (strstr(world->life.error.message, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, world->life.error.message);
}

/* ---- Requests ---- */

static struct step *make_steps(struct world *world, enum provider_verb verb, size_t *count)
{
    struct observed now = { .exists = verb != VERB_CREATE,
                            .ours = true,
                            .ends_ms = INT64_C(1764003600000) };
    struct step *steps = NULL;

    if (!world->life.provider->steps(verb, &world->life.desired, &now, &steps, count,
                                     &world->life.error))
        fail_msg("%s", world->life.error.message);
    return steps;
}

static void check_names(struct world *world, enum provider_verb verb, const char *names)
{
    size_t count = 0;
    struct step *steps = make_steps(world, verb, &count);
    TEXT_AUTO found = { 0 };

    for (size_t i = 0; i < count; i++)
        text_addf(&found, "%s%s", i > 0 ? " " : "", steps[i].name);
    assert_string_equal(text_string(&found), names);
    step_list_free(steps, count);
}

static void test_verbs_are_these_steps(void **state)
{
    struct world *world = *state;

    check_names(world, VERB_CREATE,
                "secret-hf-token end-account end-before end service end-right ready");
    check_names(world, VERB_UPDATE, "secret-hf-token service ready");
    check_names(world, VERB_STOP, "scale stopped");
    check_names(world, VERB_START, "scale ready");
    check_names(world, VERB_SCALE, "scale ready");
    check_names(world, VERB_EXTEND, "end label");
    check_names(world, VERB_DESTROY, "remove-service gone remove-end remove-end-account");
}

static void test_a_services_body(void **state)
{
    struct world *world = *state;
    json_auto_t *given = NULL;
    json_auto_t *expected = json_loads(
        "{\"description\":\"A small one\",\"labels\":{\"managed-by\":\"opsbrain\","
        "\"opsbrain-instance\":\"inst-1\",\"opsbrain-deployment\":\"gemma\","
        "\"opsbrain-ends\":\"1764003600\"},\"ingress\":\"INGRESS_TRAFFIC_ALL\","
        "\"invokerIamDisabled\":false,\"client\":\"opsbrain\",\"clientVersion\":"
        "\"" OPSBRAIN_VERSION "\","
        "\"scaling\":{\"scalingMode\":\"AUTOMATIC\",\"minInstanceCount\":0,\"maxInstanceCount\":1},"
        "\"template\":{\"labels\":{\"managed-by\":\"opsbrain\",\"opsbrain-instance\":\"inst-1\","
        "\"opsbrain-deployment\":\"gemma\",\"opsbrain-ends\":\"1764003600\"},"
        "\"executionEnvironment\":\"EXECUTION_ENVIRONMENT_GEN2\",\"timeout\":\"3600s\","
        "\"maxInstanceRequestConcurrency\":16,"
        "\"scaling\":{\"minInstanceCount\":0,\"maxInstanceCount\":1},"
        "\"serviceAccount\":\"server@p.iam.gserviceaccount.com\","
        "\"nodeSelector\":{\"accelerator\":\"nvidia-l4\"},\"gpuZonalRedundancyDisabled\":true,"
        "\"containers\":[{\"image\":\"vllm/vllm-openai:v0.23.0\",\"command\":[\"vllm\",\"serve\","
        "\"/mnt/models/gemma\"],\"args\":[\"--max-model-len\",\"16384\",\"--max-num-seqs\",\"8\"],"
        "\"env\":[{\"name\":\"HF_TOKEN\",\"valueSource\":{\"secretKeyRef\":{\"secret\":\"hf-"
        "token\","
        "\"version\":\"latest\"}}},{\"name\":\"HF_HUB_OFFLINE\",\"value\":\"1\"}],"
        "\"ports\":[{\"name\":\"http1\",\"containerPort\":8000}],"
        "\"resources\":{\"limits\":{\"cpu\":\"8\",\"memory\":\"32Gi\",\"nvidia.com/gpu\":\"1\"},"
        "\"cpuIdle\":false,\"startupCpuBoost\":true},"
        "\"startupProbe\":{\"initialDelaySeconds\":60,\"timeoutSeconds\":10,\"periodSeconds\":15,"
        "\"failureThreshold\":60,\"httpGet\":{\"path\":\"/health\",\"port\":8000}},"
        "\"volumeMounts\":[{\"name\":\"models\",\"mountPath\":\"/mnt/models\"},"
        "{\"name\":\"shm\",\"mountPath\":\"/dev/shm\"}]}],"
        "\"volumes\":[{\"name\":\"models\",\"gcs\":{\"bucket\":\"weights\",\"readOnly\":true,"
        "\"mountOptions\":[\"uid=1001\",\"gid=1001\"]}},"
        "{\"name\":\"shm\",\"emptyDir\":{\"medium\":\"MEMORY\",\"sizeLimit\":\"4Gi\"}}]},"
        "\"traffic\":[{\"type\":\"TRAFFIC_TARGET_ALLOCATION_TYPE_LATEST\",\"percent\":100}]}",
        0, NULL);
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);

    assert_non_null(expected);
    for (size_t i = 0; i < count; i++)
        if (strcmp(steps[i].name, "service") == 0) {
            given = json_incref(steps[i].body);
            assert_string_equal(steps[i].url,
                                "https://run.googleapis.com/v2/projects/p/locations/us-east4/"
                                "services?serviceId=gemma");
            assert_non_null(strstr(steps[i].dry_run_url, "&validateOnly=true"));
        }
    if (!json_equal(given, expected)) {
        FREE_AUTO char *text = json_write(given);

        fail_msg("%s", text);
    }
    step_list_free(steps, count);
}

/* Each recipe of the catalogue makes a service that the platform would take, but for those that
 * cannot work. */
static void test_every_recipe_makes_a_service_that_is_taken(void **state)
{
    struct world *world = *state;
    glob_t found;
    int made = 0;

    world->fake.gpus = 100;
    assert_int_equal(glob(RECIPES, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        json_auto_t *document = json_load_file(found.gl_pathv[i], 0, NULL);
        struct recipe recipe = { 0 };
        struct error error;

        if (!recipe_read(document, &recipe, &error))
            fail_msg("%s: %s", found.gl_pathv[i], error.message);
        world->life.desired.recipe = &recipe;
        world->life.desired.place =
            json_string_value(json_array_get(recipe_member(&recipe, "places"), 0));
        if (strcmp(recipe.status, "cannot_work") != 0) {
            if (!life_plan(&world->life, VERB_CREATE))
                fail_msg("%s: %s: %s", recipe.name, world->life.step, world->life.error.message);
            made++;
        }
        recipe_finish(&recipe);
    }
    globfree(&found);
    assert_true(made >= 10);
}

static void test_what_the_platform_refuses_is_refused_before(void **state)
{
    static const struct {
        const char *member, *json, *part;
    } rows[] = {
        { "chips", "2", "exactly one GPU" },
        { "host", "{\"cpu\":2,\"memory_gib\":32}", "at least 4 vCPU" },
        { "host", "{\"cpu\":8,\"memory_gib\":8}", "16 GiB" },
        { "cloud_run", "{\"accelerator\":\"nvidia-h100\"}", "no accelerator nvidia-h100" },
        { "cloud_run", "{\"accelerator\":\"nvidia-rtx-pro-6000\"}", "20 vCPU and 80 GiB" },
        { "probes", "{\"startup\":{\"period_s\":300,\"failures\":1}}", "at most 240 s" },
        { "probes", "{\"startup\":{\"initial_s\":241,\"period_s\":10,\"failures\":1}}", "240 s" },
    };
    struct world *world = *state;
    struct step *steps;
    size_t count;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_auto_t *document = json_deep_copy(world->recipe.document);
        struct recipe recipe = { 0 };
        struct error error = { 0 };

        json_object_set_new(document, rows[i].member,
                            json_loads(rows[i].json, JSON_DECODE_ANY, NULL));
        if (!recipe_read(document, &recipe, &error))
            fail_msg("%s", error.message);
        world->life.desired.recipe = &recipe;
        assert_false(world->life.provider->steps(VERB_CREATE, &world->life.desired, NULL, &steps,
                                                 &count, &error));
        if (strstr(error.message, rows[i].part) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", rows[i].part, error.message);
        recipe_finish(&recipe);
    }
    world->life.desired.recipe = &world->recipe;
    world->life.desired.place = "us-west1";
    check_refused(world, VERB_CREATE, "no nvidia-l4 in us-west1");
    world->life.desired.place = "us-east4";
    world->life.desired.ends_ms = world->life.desired.made_ms + INT64_C(365) * 86400000;
    check_refused(world, VERB_CREATE, "364 days");
    world->life.desired.ends_ms = 0;
    world->life.desired.deployment = "Gemma";
    check_refused(world, VERB_CREATE, "at most 49");
}

/* ---- Its life ---- */

static void test_a_whole_life(void **state)
{
    struct world *world = *state;
    size_t before = fake_google_count(&world->fake);
    char key[SECRET_VALUE_SIZE];
    struct observed now;

    assert_true(life_plan(&world->life, VERB_CREATE));
    assert_int_equal(fake_google_count(&world->fake), before);
    must_apply(world, VERB_CREATE);
    assert_int_equal(fake_google_count(&world->fake), before + 3); /* service, job, account */
    now = look(world);
    assert_true(now.ours);
    assert_string_equal(now.state, "ready");
    assert_string_equal(now.address, "https://gemma-abc.a.run.app");
    assert_string_equal(now.revision, "gemma-1");
    assert_string_equal(now.machine, "nvidia-l4");
    assert_string_equal(now.place, "us-east4");
    assert_int_equal(now.ends_ms, INT64_C(1764003600000));
    assert_true(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_string_equal(key, "id.eyJleHAiOjk5OTk5OTk5OTl9.token");
    observed_finish(&now);
    must_apply(world, VERB_STOP);
    check_state(world, "stopped", "");
    world->life.desired.replicas = 2;
    must_apply(world, VERB_START);
    now = look(world);
    assert_int_equal(now.replicas, 2);
    observed_finish(&now);
    world->life.desired.ends_ms += 3600000;
    must_apply(world, VERB_EXTEND);
    now = look(world);
    assert_int_equal(now.ends_ms, INT64_C(1764007200000));
    observed_finish(&now);
    must_apply(world, VERB_UPDATE);
    must_apply(world, VERB_DESTROY);
    check_state(world, "absent", "");
    assert_int_equal(fake_google_count(&world->fake), before);
}

static void test_the_end_is_a_request_to_this_service_alone(void **state)
{
    struct world *world = *state;
    const char *path;
    json_t *object;
    int jobs = 0;

    must_apply(world, VERB_CREATE);
    json_object_foreach(world->fake.objects, path, object) {
        const json_t *request = json_object_get(object, "httpTarget");

        if (strstr(path, "/jobs/") == NULL)
            continue;
        jobs++;
        assert_string_equal(json_get_text(request, "httpMethod", ""), "DELETE");
        assert_string_equal(json_get_text(request, "uri", ""),
                            "https://run.googleapis.com/v2/projects/p/locations/us-east4/services/"
                            "gemma");
        assert_string_equal(json_get_text(object, "schedule", ""), "0 17 24 11 *");
        assert_null(
            strstr(json_get_text(json_object_get(request, "oauthToken"), "serviceAccountEmail", ""),
                   "server@"));
    }
    assert_int_equal(jobs, 1);
}

/* Neither has labels: a request whose answer was lost is known by the description. */
static void test_what_ends_it_is_marked_and_undone(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    const char *path;
    const json_t *object;
    int marked = 0;

    for (size_t i = 0; i < count; i++)
        if (strcmp(steps[i].name, "end-account") == 0 || strcmp(steps[i].name, "end") == 0) {
            assert_true(steps[i].creates);
            assert_string_equal(steps[i].undo_url, steps[i].resource);
            assert_int_equal(life_do(&world->life, &steps[i]), STEP_DONE);
        }
    step_list_free(steps, count);
    json_object_foreach(world->fake.objects, path, object)
        marked += strcmp(json_get_text(object, "description", ""), "opsbrain inst-1 gemma") == 0;
    assert_int_equal(marked, 2);
}

static void check_schedule(struct world *world, const char *schedule)
{
    const char *path;
    const json_t *object;
    int jobs = 0;

    json_object_foreach(world->fake.objects, path, object)
        if (strstr(path, "/jobs/") != NULL) {
            assert_string_equal(json_get_text(object, "schedule", ""), schedule);
            jobs++;
        }
    assert_int_equal(jobs, 1);
}

/* A failed one undoes what it made: never the job of a service that runs. */
static void test_an_extension_moves_the_job(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    struct step *steps;

    must_apply(world, VERB_CREATE);
    world->life.desired.ends_ms += 3600000;
    steps = make_steps(world, VERB_EXTEND, &count);
    for (size_t i = 0; i < count; i++)
        assert_false(steps[i].creates);
    assert_string_equal(steps[0].method, "PATCH");
    world->fake.loses_reply = true;
    assert_int_equal(life_do(&world->life, &steps[0]), STEP_LOST);
    assert_int_equal(life_do(&world->life, &steps[0]), STEP_DONE); /* twice is once */
    step_list_free(steps, count);
    check_schedule(world, "0 18 24 11 *");
}

static void test_labels_of_others_stay(void **state)
{
    static const enum provider_verb verbs[] = { VERB_EXTEND, VERB_UPDATE };
    struct world *world = *state;
    struct observed before;
    struct step *steps;
    size_t count;

    must_apply(world, VERB_CREATE);
    json_object_set_new(json_object_get(fake_google_get(&world->fake, SERVICE), "labels"), "team",
                        json_string("search"));
    for (size_t i = 0; i < 2; i++) {
        const json_t *labels;

        must_apply(world, verbs[i]);
        labels = json_object_get(fake_google_get(&world->fake, SERVICE), "labels");
        assert_string_equal(json_get_text(labels, "team", ""), "search");
        assert_string_equal(json_get_text(labels, "opsbrain-ends", ""), "1764003600");
    }
    before = look(world);
    must_apply(world, VERB_SCALE); /* somebody changes it */
    assert_true(world->life.provider->steps(VERB_EXTEND, &world->life.desired, &before, &steps,
                                            &count, &world->life.error));
    assert_int_equal(life_do(&world->life, &steps[count - 1]), STEP_FAILED);
    assert_non_null(strstr(world->life.error.message, "etag"));
    step_list_free(steps, count);
    observed_finish(&before);
    world->life.desired.ends_ms = 0;
    must_apply(world, VERB_EXTEND);
    assert_null(json_object_get(json_object_get(fake_google_get(&world->fake, SERVICE), "labels"),
                                "opsbrain-ends"));
}

/* The rights on a service are written as a whole: only those of a new one are ours to write. */
static void test_a_service_without_an_end_gets_none(void **state)
{
    struct world *world = *state;

    world->life.desired.ends_ms = 0;
    must_apply(world, VERB_CREATE);
    world->life.desired.ends_ms = INT64_C(1764003600000);
    check_refused(world, VERB_EXTEND, "would replace the rights that others have");
    assert_int_equal(world->life.error.kind, ERROR_UNSUPPORTED);
    check_refused(world, VERB_START, "would replace the rights that others have");
    world->life.desired.ends_ms = 0;
    must_apply(world, VERB_EXTEND);
    must_apply(world, VERB_START);
}

static void test_a_start_and_an_update_write_the_end_that_the_plan_shows(void **state)
{
    struct world *world = *state;
    struct observed now;

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    world->life.desired.ends_ms += 3600000;
    check_names(world, VERB_START, "end label scale ready");
    check_names(world, VERB_UPDATE, "secret-hf-token end service ready");
    must_apply(world, VERB_START);
    now = look(world);
    assert_int_equal(now.ends_ms, world->life.desired.ends_ms);
    observed_finish(&now);
    world->life.desired.ends_ms += 3600000;
    must_apply(world, VERB_UPDATE);
    now = look(world);
    assert_int_equal(now.ends_ms, world->life.desired.ends_ms);
    observed_finish(&now);
    check_schedule(world, "0 19 24 11 *");
}

/* ---- Faults ---- */

static void test_quota_errors_in_all_three_places(void **state)
{
    struct world *world = *state;

    world->fake.gpus = 0; /* as an answer to the request */
    check_refused(world, VERB_CREATE, "requested: 1 allowed: 0");
    assert_int_equal(world->life.state, STEP_FAILED);
    world->fake.gpus = 3;
    snprintf(world->fake.operation_error, sizeof world->fake.operation_error,
             "Quota violated: CpuAllocPerProjectRegion requested: 60000 allowed: 20000");
    check_refused(world, VERB_CREATE, "CpuAllocPerProjectRegion (thousandths of a vCPU)");
    world->fake.operation_error[0] = '\0'; /* as the service's condition */
    snprintf(world->fake.condition_error, sizeof world->fake.condition_error,
             "Quota exceeded for total allowable count of GPUs per project per region.");
    check_refused(world, VERB_CREATE, "total allowable count of GPUs");
    check_state(world, "failed", "HEALTH_CHECK_CONTAINER_ERROR");
}

static void test_faults_are_told_apart(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    struct step *service = &steps[4];
    json_t *kept;

    assert_string_equal(service->name, "service");
    world->fake.status = 429;
    assert_int_equal(life_do(&world->life, service), STEP_RETRY);
    world->fake.status = 503;
    assert_int_equal(life_do(&world->life, service), STEP_LOST);
    world->fake.status = 502;
    world->fake.answer = "<html><title>502 Bad Gateway</title></html>";
    assert_int_equal(life_do(&world->life, service), STEP_LOST);
    assert_null(fake_google_get(&world->fake, SERVICE));
    world->fake.loses_reply = true;
    assert_int_equal(life_do(&world->life, service), STEP_LOST);
    kept = fake_google_get(&world->fake, SERVICE); /* it did work */
    assert_non_null(kept);
    assert_int_equal(life_do(&world->life, service), STEP_EXISTS);
    json_object_set_new(service->body, "gpus", json_integer(1));
    assert_int_equal(life_do(&world->life, service), STEP_FAILED);
    assert_non_null(strstr(world->life.error.message, "Unknown name \"gpus\""));
    step_list_free(steps, count);
}

static void test_a_service_that_has_changed_since_is_not_touched(void **state)
{
    struct world *world = *state;
    struct observed now;
    struct step *steps = NULL;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    now = look(world);
    must_apply(world, VERB_SCALE); /* by somebody else */
    assert_true(world->life.provider->steps(VERB_DESTROY, &world->life.desired, &now, &steps,
                                            &count, &world->life.error));
    assert_int_equal(life_do(&world->life, &steps[0]), STEP_FAILED);
    assert_non_null(strstr(world->life.error.message, "etag"));
    step_list_free(steps, count);
    observed_finish(&now);
    assert_non_null(fake_google_get(&world->fake, SERVICE));
}

static void test_what_others_made_survives_every_verb(void **state)
{
    struct world *world = *state;
    size_t before;

    for (int i = 0; i < 50; i++) {
        char path[128];

        snprintf(path, sizeof path, "/v2/projects/p/locations/us-east4/services/foreign-%d", i);
        fake_google_add(&world->fake, path, "{\"name\":\"x/services/foreign\"}");
    }
    before = fake_google_count(&world->fake);
    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    must_apply(world, VERB_START);
    must_apply(world, VERB_EXTEND);
    must_apply(world, VERB_DESTROY);
    assert_int_equal(fake_google_count(&world->fake), before);
    fake_google_add(&world->fake, SERVICE, "{\"name\":\"x\"}");
    check_refused(world, VERB_CREATE, "opsbrain did not make");
}

static void test_a_missing_secret_is_the_first_refusal(void **state)
{
    struct world *world = *state;

    json_object_del(world->fake.objects, "/v1/projects/p/secrets/hf-token");
    assert_false(life_plan(&world->life, VERB_CREATE));
    assert_string_equal(world->life.step, "secret-hf-token");
    assert_non_null(strstr(world->life.error.message, "gcloud secrets create hf-token"));
}

/* ---- Targets ---- */

static void test_lists_have_pages_and_gaps(void **state)
{
    struct world *world = *state;
    json_auto_t *warnings = json_array();
    struct observed *list = NULL;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    fake_google_add(&world->fake, "/v2/projects/p/locations/us-east4/services/theirs",
                    "{\"name\":\"projects/p/locations/us-east4/services/theirs\",\"generation\":7,"
                    "\"ingress\":\"A_NEW_WORD\",\"template\":{\"containers\":[{\"resources\":"
                    "{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}");
    world->fake.pages = true;
    assert_true(world->life.provider->list(world->life.cloud, &world->target, &list, &count,
                                           warnings, &world->life.error));
    assert_int_equal(count, 2);
    assert_string_equal(list[0].deployment, "gemma");
    assert_string_equal(list[1].name, "theirs");
    assert_string_equal(list[1].generation, "7");
    assert_true(json_array_size(warnings) > 0);
    observed_list_free(list, count);
}

static void test_a_token_that_does_not_fit_ends_the_list(void **state)
{
    struct world *world = *state;
    json_auto_t *warnings = json_array();
    struct observed *list = NULL;
    char token[600];
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    memset(token, 'a', sizeof token - 1);
    token[sizeof token - 1] = '\0';
    world->fake.page_token = token;
    assert_true(world->life.provider->list(world->life.cloud, &world->target, &list, &count,
                                           warnings, &world->life.error));
    assert_int_equal(count, 1);
    assert_int_equal(json_array_size(warnings), 1);
    observed_list_free(list, count);
}

static void test_an_etag_is_encoded(void **state)
{
    struct world *world = *state;
    struct observed now = { .exists = true, .ours = true, .etag = "\"a&b=/+#\"" };
    struct step *steps;
    size_t count;

    assert_true(world->life.provider->steps(VERB_DESTROY, &world->life.desired, &now, &steps,
                                            &count, &world->life.error));
    assert_string_equal(steps[0].url,
                        "https://run.googleapis.com" SERVICE "?etag=%22a%26b%3D%2F%2B%23%22");
    step_list_free(steps, count);
}

static void test_each_missing_permission_is_named(void **state)
{
    struct world *world = *state;
    json_auto_t *findings = json_array();
    const json_t *finding;
    size_t i;
    int missing = 0;

    snprintf(world->fake.denied, sizeof world->fake.denied, "run.services.delete");
    assert_true(world->life.provider->check(world->life.cloud, &world->target, findings,
                                            &world->life.error));
    json_array_foreach(findings, i, finding)
        if (!json_get_boolean(finding, "ok", false)) {
            missing++;
            assert_string_equal(json_get_text(finding, "need", ""), "run.services.delete");
        }
    assert_int_equal(missing, 1);
}

static void test_commands(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    TEXT_AUTO out = { 0 };

    for (size_t i = 0; i < count; i++)
        world->life.provider->command(&world->life.desired, &steps[i], &out);
    step_list_free(steps, count);
    assert_non_null(strstr(out.data, "gcloud secrets describe hf-token --project p"));
    assert_non_null(strstr(out.data, "curl -X POST -H \"Authorization: Bearer $(gcloud auth"));
    assert_null(strstr(out.data, "canary"));
}

#define LIVE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_verbs_are_these_steps),
        LIVE(test_a_services_body),
        LIVE(test_every_recipe_makes_a_service_that_is_taken),
        LIVE(test_what_the_platform_refuses_is_refused_before),
        LIVE(test_a_whole_life),
        LIVE(test_the_end_is_a_request_to_this_service_alone),
        LIVE(test_what_ends_it_is_marked_and_undone),
        LIVE(test_an_extension_moves_the_job),
        LIVE(test_labels_of_others_stay),
        LIVE(test_a_service_without_an_end_gets_none),
        LIVE(test_a_start_and_an_update_write_the_end_that_the_plan_shows),
        LIVE(test_quota_errors_in_all_three_places),
        LIVE(test_faults_are_told_apart),
        LIVE(test_a_service_that_has_changed_since_is_not_touched),
        LIVE(test_what_others_made_survives_every_verb),
        LIVE(test_a_missing_secret_is_the_first_refusal),
        LIVE(test_lists_have_pages_and_gaps),
        LIVE(test_a_token_that_does_not_fit_ends_the_list),
        LIVE(test_an_etag_is_encoded),
        LIVE(test_each_missing_permission_is_named),
        LIVE(test_commands),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
