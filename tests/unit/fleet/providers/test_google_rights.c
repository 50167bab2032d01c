/* SPDX-License-Identifier: Apache-2.0 */
/* docs/clouds.md lists the permissions that each verb needs on Google's platforms. They must be the
 * permissions that the verb's requests need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/clouds/google_world.h"
#include "tests/clouds/rights.h"

/* A request needs the permissions in the first row that matches it. A row matches if it
 * applies to the request's provider and method, and if the request's path contains the row's parts
 * in this order. */
static const struct right {
    const char *method, *parts[2], *permissions;
    const char *provider; /* the only provider that the row applies to; NULL: all */
} rights[] = {
    /* Cloud Run, and the Cloud Scheduler job that ends a service at its planned end */
    { "POST", { "/v2/", ":setIamPolicy" }, "run.services.setIamPolicy" },
    { "POST", { "/v2/", "/services" }, "run.services.create iam.serviceAccounts.actAs" },
    { "PATCH", { "/v2/", "/services/" }, "run.services.update iam.serviceAccounts.actAs" },
    { "DELETE", { "/v2/", "/services/" }, "run.services.delete" },
    { "GET", { "/v2/", "/services/" }, "run.services.get" },
    { "GET", { "/v2/", "/services" }, "run.services.list" },
    { "GET", { "/v2/", "/operations/" }, "run.operations.get", "cloud_run" },
    { "POST", { "/v1/", "/jobs" }, "cloudscheduler.jobs.create iam.serviceAccounts.actAs" },
    { "PATCH", { "/v1/", "/jobs/" }, "cloudscheduler.jobs.update iam.serviceAccounts.actAs" },
    { "DELETE", { "/v1/", "/jobs/" }, "cloudscheduler.jobs.delete" },
    { "POST", { "/v1/", "/serviceAccounts" }, "iam.serviceAccounts.create" },
    { "DELETE", { "/v1/", "/serviceAccounts/" }, "iam.serviceAccounts.delete" },
    { "GET", { "/v1/", "/serviceAccounts/" }, "iam.serviceAccounts.get" },
    /* Secret Manager */
    { "GET", { "/secrets/", ":access" }, "secretmanager.versions.access" },
    { "POST", { "/secrets/", ":setIamPolicy" }, "secretmanager.secrets.setIamPolicy" },
    { "POST", { "/v1/", "/secrets" }, "secretmanager.secrets.create" },
    { "DELETE", { "/v1/", "/secrets/" }, "secretmanager.secrets.delete" },
    { "GET", { "/v1/", "/secrets/" }, "secretmanager.secrets.get" },
    /* Cloud TPU: queued resources have no permissions of their own */
    { "GET", { "/v2/", "/operations/" }, "tpu.operations.get", "cloud_tpu" },
    { "POST", { "/v2/", "/queuedResources" }, "tpu.nodes.create iam.serviceAccounts.actAs" },
    { "DELETE", { "/v2/", "/queuedResources/" }, "tpu.nodes.delete" },
    { "GET", { "/v2/", "/queuedResources/" }, "tpu.nodes.get" },
    { "GET", { "/v2/", "/queuedResources" }, "tpu.nodes.list" },
    { "POST", { "/nodes/", ":getGuestAttributes" }, "tpu.nodes.get" },
    { "POST", { "/nodes/", ":start" }, "tpu.nodes.start" },
    { "POST", { "/nodes/", ":stop" }, "tpu.nodes.stop" },
    { "PATCH", { "/v2/", "/nodes/" }, "tpu.nodes.update" },
    { "GET", { "/v2/", "/nodes/" }, "tpu.nodes.get" },
    { "GET", { "/v2/", "/nodes" }, "tpu.nodes.list" },
    /* Compute Engine */
    { "POST", { "/instances/", "/start" }, "compute.instances.start" },
    { "POST", { "/instances/", "/stop" }, "compute.instances.stop" },
    { "POST", { "/instances/", "/setScheduling" }, "compute.instances.setScheduling" },
    { "POST", { "/instances/", "/setLabels" }, "compute.instances.setLabels" },
    { "POST",
      { "/zones/", "/instances" },
      "compute.instances.create compute.instances.setLabels compute.instances.setMetadata "
      "compute.instances.setServiceAccount compute.instances.setTags compute.disks.create "
      "compute.subnetworks.use compute.subnetworks.useExternalIp iam.serviceAccounts.actAs" },
    { "DELETE", { "/zones/", "/instances/" }, "compute.instances.delete" },
    { "GET", { "/instances/", "/getGuestAttributes" }, "compute.instances.getGuestAttributes" },
    { "GET", { "/instances/", "/serialPort" }, "compute.instances.getSerialPortOutput" },
    { "GET", { "/zones/", "/instances/" }, "compute.instances.get" },
    { "GET", { "/zones/", "/instances" }, "compute.instances.list" },
    { "GET", { "/zones/", "/operations/" }, "compute.zoneOperations.get" },
    { "GET", { "/global/", "/operations/" }, "compute.globalOperations.get" },
    { "POST",
      { "/global/", "/firewalls" },
      "compute.firewalls.create compute.networks.updatePolicy" },
    { "DELETE",
      { "/global/", "/firewalls/" },
      "compute.firewalls.delete compute.networks.updatePolicy" },
    { "GET", { "/global/", "/firewalls/" }, "compute.firewalls.get" },
    { "GET", { "/compute/", "/images/family/" }, "" }, /* public images */
    { "GET", { "/compute/", "/networks/" }, "compute.networks.get" },
    { "GET", { "/compute/", "/regions/" }, "compute.regions.get" },
    /* The check of a target */
    { "GET", { "/storage/", "/b/" }, "storage.buckets.get" },
    { "POST", { "/projects/", ":testIamPermissions" }, "" },
    { "GET", { "/projects/", "/quotaInfos/" }, "cloudquotas.quotas.get" },
    { "GET", { "/projects/p", "/services/" }, "serviceusage.services.get" },
    /* The metadata server: its identity token is the key of a model server on Cloud Run */
    { "GET", { "/computeMetadata/", "/identity" }, "run.routes.invoke" },
    { "GET", { "/computeMetadata/", "/" }, "" },
};
#define RIGHTS (sizeof rights / sizeof rights[0])

/* ---- Requests ---- */

static bool matches(const struct right *right, const char *provider,
                    const struct fake_request *request)
{
    const char *at = strstr(request->path, right->parts[0]);

    return strcmp(right->method, request->method) == 0 && at != NULL
           && strstr(at, right->parts[1]) != NULL
           && (right->provider == NULL || strcmp(right->provider, provider) == 0);
}

static bool record(void *context, enum fake_moment moment, const struct fake_request *request,
                   struct fake_reply *reply, void **memory)
{
    struct recording *recording = context;
    const struct right *right = rights;

    (void)reply, (void)memory;
    if (moment != FAKE_BEFORE)
        return false;
    while (right < rights + RIGHTS && !matches(right, recording->provider, request))
        right++;
    if (strstr(request->path, ":testIamPermissions") != NULL) {
        json_auto_t *body = json_loads(request->body, 0, NULL);

        json_array_extend(recording->asked, json_object_get(body, "permissions"));
    }
    if (right < rights + RIGHTS)
        add_needed(recording, right->permissions);
    else
        snprintf(recording->unknown, sizeof recording->unknown, "%s %.280s", request->method,
                 request->path);
    return false;
}

/* Checks that target_show asks the platform about every permission that was needed so far, except
 * those that only the check of a target needs (the row "check" in docs/clouds.md). */
static void check_asked(const struct recording *recording)
{
    const char *name;
    json_t *value, *one;

    json_object_foreach(recording->all, name, value) {
        bool is_asked = false;
        size_t i;

        json_array_foreach(recording->asked, i, one)
            is_asked = is_asked || strcmp(json_string_value(one), name) == 0;
        if (!is_asked)
            fail_msg("target_show does not ask about the permission %s", name);
    }
}

static void finish(struct recording *recording)
{
    check_missing(recording);
    check_asked(recording);
    json_decref(recording->needed);
    json_decref(recording->all);
    json_decref(recording->asked);
}

/* ---- Each platform ---- */

/* Observes the server often enough that it becomes ready on every platform. */
static void observe_six_times(struct google_world *world)
{
    for (int i = 0; i < 6; i++) {
        struct observed now = look(world);

        observed_finish(&now);
    }
}

static void check_other_requests(struct google_world *world, struct recording *recording,
                                 const char *section)
{
    const struct provider *provider = world->life.provider;
    json_auto_t *findings = json_array();
    struct observed *list = NULL;
    struct observed now;
    char key[SECRET_VALUE_SIZE];
    size_t count;

    observe_six_times(world);
    now = look(world);
    check_line(recording, section, "look");
    assert_true(provider->key(world->life.cloud, &now, key, &world->life.error));
    observed_finish(&now);
    check_line(recording, section, "key");
    assert_true(provider->list(world->life.cloud, &world->target, &list, &count, findings,
                               &world->life.error));
    observed_list_free(list, count);
    check_line(recording, section, "list");
    assert_true(provider->check(world->life.cloud, &world->target, findings, &world->life.error));
    check_line(recording, section, "check");
}

static void check_platform(const char *name, const char *place, const char *recipe)
{
    static const enum provider_verb verbs[] = { VERB_STOP,   VERB_START,  VERB_SCALE,
                                                VERB_UPDATE, VERB_EXTEND, VERB_DESTROY };
    FREE_AUTO char *section = read_section(provider_find(name)->title);
    struct recording recording = {
        .provider = name, .needed = json_object(), .all = json_object(), .asked = json_array()
    };
    json_auto_t *document = json_load_file(recipe, 0, NULL);
    FREE_AUTO char *text = json_write(document);
    struct google_world *world = google_world_create(name, place, text);
    void *state = world;

    fake_server_guard(world->fake.server, record, &recording);
    world->life.polls_max = 8;
    world->target.source_range_count = 1;
    text_copy(world->target.source_ranges[0], FLEET_PLACE_SIZE, "10.0.0.0/8");
    must_apply(world, VERB_CREATE);
    check_line(&recording, section, "create");
    check_other_requests(world, &recording, section);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if ((world->life.provider->verbs & VERB_BIT(verbs[i])) == 0)
            continue;
        world->life.desired.ends_ms += verbs[i] == VERB_START ? 3600000 : 0;
        must_apply(world, verbs[i]);
        check_line(&recording, section, provider_verb_name(verbs[i]));
    }
    google_world_destroy(&state);
    finish(&recording);
}

static void test_the_document_lists_the_permissions_of_each_verb(void **state)
{
    (void)state;
    check_platform("cloud_run", "us-east4",
                   SOURCE_DIR "/catalog/recipes/cloud_run/run-gemma-4-26b-nvfp4-l4.json");
    check_platform("compute_engine", "us-central1-a",
                   SOURCE_DIR "/catalog/recipes/compute_engine/gce-gemma-4-12b-qat-l4.json");
    check_platform("cloud_tpu", "us-east5-a",
                   SOURCE_DIR "/catalog/recipes/tpu/tpu-gemma-4-12b-v6e1.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_document_lists_the_permissions_of_each_verb),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
