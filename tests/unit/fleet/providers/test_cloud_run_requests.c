/* SPDX-License-Identifier: Apache-2.0 */
/* The requests to Cloud Run for the tests' recipe and for each Cloud Run recipe in the catalogue,
 * and the plans that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>

#include "tests/clouds/cloud_run_world.h"

#define RECIPES SOURCE_DIR "/catalog/recipes/cloud_run/*.json"

static void test_the_steps_of_each_verb(void **state)
{
    struct google_world *world = *state;

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
    struct google_world *world = *state;
    json_auto_t *body = NULL;
    json_auto_t *expected = json_loads(
        "{\"description\":\"A small one\",\"labels\":{\"managed-by\":\"opsbrain\","
        "\"opsbrain-instance\":\"inst-1\",\"opsbrain-deployment\":\"gemma\","
        "\"opsbrain-ends\":\"1764003600\",\"opsbrain-at-end\":\"destroy\"},"
        "\"ingress\":\"INGRESS_TRAFFIC_ALL\",\"invokerIamDisabled\":false,"
        "\"client\":\"opsbrain\",\"clientVersion\":\"" OPSBRAIN_VERSION "\","
        "\"scaling\":{\"scalingMode\":\"AUTOMATIC\",\"minInstanceCount\":0,\"maxInstanceCount\":1},"
        "\"template\":{\"labels\":{\"managed-by\":\"opsbrain\",\"opsbrain-instance\":\"inst-1\","
        "\"opsbrain-deployment\":\"gemma\",\"opsbrain-ends\":\"1764003600\","
        "\"opsbrain-at-end\":\"destroy\"},"
        "\"executionEnvironment\":\"EXECUTION_ENVIRONMENT_GEN2\",\"timeout\":\"3600s\","
        "\"maxInstanceRequestConcurrency\":16,"
        "\"scaling\":{\"minInstanceCount\":0,\"maxInstanceCount\":1},"
        "\"serviceAccount\":\"server@p.iam.gserviceaccount.com\","
        "\"nodeSelector\":{\"accelerator\":\"nvidia-l4\"},\"gpuZonalRedundancyDisabled\":true,"
        "\"containers\":[{\"image\":\"vllm/vllm-openai:v0.23.0\",\"command\":[\"vllm\",\"serve\","
        "\"/mnt/models/gemma\"],\"args\":[\"--max-model-len\",\"16384\",\"--max-num-seqs\",\"8\"],"
        "\"env\":[{\"name\":\"HF_TOKEN\",\"valueSource\":{\"secretKeyRef\":"
        "{\"secret\":\"hf-token\",\"version\":\"latest\"}}},"
        "{\"name\":\"HF_HUB_OFFLINE\",\"value\":\"1\"}],"
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
            body = json_incref(steps[i].body);
            assert_string_equal(steps[i].url,
                                "https://run.googleapis.com/v2/projects/p/locations/us-east4/"
                                "services?serviceId=gemma");
            assert_non_null(strstr(steps[i].dry_run_url, "&validateOnly=true"));
        }
    if (!json_equal(body, expected)) {
        FREE_AUTO char *text = json_write(body);

        fail_msg("%s", text);
    }
    step_list_free(steps, count);
}

static void test_the_fake_platform_accepts_the_service_of_every_recipe_that_can_work(void **state)
{
    struct google_world *world = *state;
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

static void test_plans_that_cannot_be_carried_out_are_refused(void **state)
{
    static const struct {
        const char *member, *json, *part;
    } rows[] = {
        { "chips", "2", "exactly one GPU" },
        { "host", "{\"cpu\":2,\"memory_gib\":32}", "at least 4 vCPU" },
        { "host", "{\"cpu\":8,\"memory_gib\":8}", "16 GiB" },
        { "cloud_run", "{\"accelerator\":\"nvidia-h100\"}", "no accelerator nvidia-h100" },
        { "cloud_run", "{\"accelerator\":\"nvidia-rtx-pro-6000\"}", "20 vCPUs and 80 GiB" },
        { "probes", "{\"startup\":{\"period_s\":300,\"failures\":1}}", "at most 240 s" },
        { "probes", "{\"startup\":{\"initial_s\":241,\"period_s\":10,\"failures\":1}}", "240 s" },
    };
    struct google_world *world = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_member_refused(world, rows[i].member, rows[i].json, rows[i].part);
    world->life.desired.place = "us-west1";
    check_refused(world, VERB_CREATE, "no nvidia-l4 in us-west1");
    world->life.desired.place = "us-east4";
    world->life.desired.ends_ms = world->life.desired.made_ms + INT64_C(365) * 86400000;
    check_refused(world, VERB_CREATE, "364 days");
    world->life.desired.ends_ms = 0;
    world->life.desired.deployment = "Gemma";
    check_refused(world, VERB_CREATE, "at most 49");
}

static void test_a_liveness_probe_can_have_a_period_of_an_hour(void **state)
{
    struct google_world *world = *state;
    json_auto_t *document = json_deep_copy(world->recipe.document);
    struct recipe recipe = { 0 };
    struct error error = { 0 };

    json_object_set_new(document, "probes",
                        json_pack("{s:{s:i, s:i, s:i}}", "liveness", "period_s", 3600, "timeout_s",
                                  9, "failures", 1));
    assert_true(recipe_read(document, &recipe, &error));
    world->life.desired.recipe = &recipe;
    if (!life_plan(&world->life, VERB_CREATE))
        fail_msg("%s: %s", world->life.step, world->life.error.message);
    recipe_finish(&recipe);
}

static void test_a_missing_secret_is_found_by_the_first_step(void **state)
{
    check_missing_secret(*state);
}

static void test_a_secret_that_two_variables_use_is_checked_once(void **state)
{
    struct google_world *world = *state;

    json_object_set_new(json_object_get(world->recipe.document, "environment"), "HUB_TOKEN",
                        json_pack("{s:s}", "secret", "hf-token"));
    check_names(world, VERB_CREATE,
                "secret-hf-token end-account end-before end service end-right ready");
}

static void test_an_etag_is_encoded_in_the_url(void **state)
{
    struct google_world *world = *state;
    struct observed now = { .exists = true, .ours = true, .etag = "\"a&b=/+#\"" };
    struct step *steps;
    size_t count;

    assert_true(world->life.provider->steps(VERB_DESTROY, &world->life.desired, &now, &steps,
                                            &count, &world->life.error));
    assert_string_equal(steps[0].url,
                        "https://run.googleapis.com" SERVICE "?etag=%22a%26b%3D%2F%2B%23%22");
    step_list_free(steps, count);
}

static void test_commands_contain_no_secret(void **state)
{
    struct google_world *world = *state;
    TEXT_AUTO out = { 0 };

    add_commands(world, &out);
    assert_non_null(strstr(out.data, "gcloud secrets describe hf-token --project p"));
    assert_non_null(strstr(out.data, "curl -X POST -H \"Authorization: Bearer $(gcloud auth"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_the_steps_of_each_verb),
        LIVE(test_a_services_body),
        LIVE(test_the_fake_platform_accepts_the_service_of_every_recipe_that_can_work),
        LIVE(test_plans_that_cannot_be_carried_out_are_refused),
        LIVE(test_a_liveness_probe_can_have_a_period_of_an_hour),
        LIVE(test_a_missing_secret_is_found_by_the_first_step),
        LIVE(test_a_secret_that_two_variables_use_is_checked_once),
        LIVE(test_an_etag_is_encoded_in_the_url),
        LIVE(test_commands_contain_no_secret),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
