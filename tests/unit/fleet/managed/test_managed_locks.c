/* SPDX-License-Identifier: Apache-2.0 */
/* The locks of managed deployments. A lock gets the key that a server accepts, and says whether
 * the server sleeps. The key is sent only to the server's own address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/managed/managed_document.h"
#include "fleet/managed/managed_locks.h"
#include "store/ledger/store.h"
#include "tests/clouds/fake_server.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

#define TOKEN "canary-cluster"
#define KEY "generated-key-1"

struct rig {
    char folder[FOLDER_SIZE], secrets[FOLDER_SIZE];
    struct store *store;
    struct fleet_frame frame;
    struct cloud_endpoints *endpoints;
    struct cloud *cloud;
    struct fake_server *server;
    struct managed_locks *locks;
    const char *secret; /* the value in the namespace's Secret, in base64 */
    int requests;
    struct error error;
};

static const struct observed existing = { .exists = true };

#define assert_done(rig, call)                                                                     \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", (rig)->error.message);                                                  \
    } while (0)

static void answer(void *context, const struct fake_request *request, struct fake_reply *reply)
{
    struct rig *rig = context;

    assert_string_equal(request->bearer, TOKEN);
    assert_string_equal(request->path, "/api/v1/namespaces/llm/secrets/gemma-key");
    rig->requests++;
    text_addf(&reply->body, "{\"data\":{\"key\":\"%s\"}}", rig->secret);
}

static bool open_cloud(void *context, const struct fleet_target *target, struct cloud **out,
                       struct error *error)
{
    struct rig *rig = context;
    const struct cloud_config config = { .secrets_folder = rig->secrets,
                                         .endpoints = rig->endpoints };

    if (rig->cloud == NULL && !cloud_create(&target->credential, &config, &rig->cloud, error))
        return false;
    *out = rig->cloud;
    return true;
}

static void write_kubeconfig(const struct rig *rig)
{
    char path[FOLDER_SIZE + 16];
    FILE *file;

    snprintf(path, sizeof path, "%s/lab.yaml", rig->secrets);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
            "users: [{name: robot, user: {token: " TOKEN "}}]\n"
            "contexts: [{name: x, context: {cluster: c, user: robot, namespace: llm}}]\n"
            "current-context: x\n",
            fake_server_port(rig->server));
    fclose(file);
}

static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct fleet_target_row target = { .name = "lab",
                                       .provider = "kubernetes",
                                       .place = "{\"namespace\":\"llm\",\"door\":\"proxy\"}",
                                       .regions = "[]",
                                       .source_ranges = "[]",
                                       .recipes = "[]",
                                       .credential = "kubeconfig",
                                       .credential_file = "lab.yaml" };
    bool changed;

    folder_create(rig->folder);
    folder_create(rig->secrets);
    rig->secret = "Z2VuZXJhdGVkLWtleS0x"; /* KEY */
    rig->server = fake_server_start(answer, rig);
    write_kubeconfig(rig);
    assert_done(rig, cloud_endpoints_create("", &rig->endpoints, &rig->error));
    assert_done(rig,
                store_open(rig->folder, test_database(rig->folder), 2, &rig->store, &rig->error));
    assert_done(rig,
                fleet_target_put(rig->store, &target, 1, NULL, &target, &changed, &rig->error));
    rig->frame = (struct fleet_frame){ .store = rig->store,
                                       .providers = provider_all(),
                                       .context = rig,
                                       .cloud = open_cloud,
                                       .now_ms = clock_utc_ms };
    rig->locks = managed_locks_create(&rig->frame);
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;

    managed_locks_destroy(rig->locks);
    cloud_destroy(rig->cloud);
    cloud_endpoints_destroy(rig->endpoints);
    store_close(rig->store);
    fake_server_stop(rig->server);
    folder_remove(rig->folder);
    folder_remove(rig->secrets);
    free(rig);
    return 0;
}

/* Stores `observed` as the newest observation of the server. */
static void note(struct rig *rig, const struct observed *observed)
{
    json_auto_t *observation = managed_document_observation(observed);
    FREE_AUTO char *observed_text = json_write(observation);
    struct fleet_observation noted = { .plan_id = "", .observed = observed_text, .problem = "" };
    struct fleet_managed_row row;
    bool found;

    assert_done(rig, fleet_managed_find(rig->store, "gemma", &row, &found, &rig->error));
    noted.id = row.id;
    assert_done(rig, fleet_managed_note(rig->store, &noted, &rig->error));
    fleet_managed_finish(&row);
}

/* Adopts the server at the address in `door`, and stores `observed` as its newest observation. */
static void manage(struct rig *rig, const struct observed *door, const struct observed *observed)
{
    json_auto_t *door_json = managed_document_door(door);
    FREE_AUTO char *door_text = json_write(door_json);
    char wish[] = "{}";
    struct fleet_managed_row row = {
        .deployment = "gemma", .target = "lab", .rights = "adopted", .wish = wish, .door = door_text
    };

    assert_done(rig, fleet_managed_adopt(rig->store, &row, 1, NULL, &rig->error));
    note(rig, observed);
}

static struct observed by_proxy(const struct rig *rig)
{
    struct observed door = { .name = "gemma",
                             .resource = "/apis/apps/v1/namespaces/llm/deployments/gemma" };

    snprintf(door.address, sizeof door.address,
             "http://127.0.0.1:%d/api/v1/namespaces/llm/services/http:gemma:8000/proxy",
             fake_server_port(rig->server));
    return door;
}

static const struct endpoint_lock *find(struct rig *rig, const char *name, const char *url)
{
    const struct endpoint_lock *lock = NULL;
    struct deployment deployment = { 0 };

    snprintf(deployment.name, sizeof deployment.name, "%s", name);
    snprintf(deployment.url, sizeof deployment.url, "%s", url);
    assert_done(rig, managed_locks_find(rig->locks, &deployment, &lock, &rig->error));
    return lock;
}

static void assert_key(struct rig *rig, const struct endpoint_lock *lock, const char *expected)
{
    char key[SECRET_VALUE_SIZE];

    assert_non_null(lock);
    assert_done(rig, lock->key(lock, key, &rig->error));
    assert_string_equal(key, expected);
}

static void the_clusters_credential_is_sent_only_to_the_servers_address(void **state)
{
    struct rig *rig = *state;
    const struct observed door = by_proxy(rig);
    char other[sizeof door.address + 16];

    manage(rig, &door, &existing);
    assert_key(rig, find(rig, "gemma", door.address), TOKEN);
    assert_ptr_equal(find(rig, "gemma", door.address), find(rig, "gemma", door.address));
    assert_non_null(find(rig, "gemma", door.address)->tls);
    snprintf(other, sizeof other, "%s/x", door.address);
    assert_null(find(rig, "gemma", other));
    snprintf(other, sizeof other, "http://127.0.0.1:%d", fake_server_port(rig->server));
    assert_null(find(rig, "gemma", other));
    assert_null(find(rig, "twin", door.address));
    assert_null(find(rig, "gemma", ""));
}

static void a_removed_deployment_has_no_key(void **state)
{
    struct rig *rig = *state;
    const struct observed door = by_proxy(rig);

    manage(rig, &door, &(struct observed){ .exists = false });
    assert_null(find(rig, "gemma", door.address));
}

static void a_sleeping_server_is_reported_as_sleeping(void **state)
{
    struct rig *rig = *state;
    const struct observed door = by_proxy(rig);
    const struct observed asleep = { .exists = true, .sleeps = true }, awake = { .exists = true };
    const struct endpoint_lock *lock;

    manage(rig, &door, &asleep);
    lock = find(rig, "gemma", door.address);
    assert_non_null(lock);
    assert_true(lock->sleeps);
    note(rig, &awake);
    lock = find(rig, "gemma", door.address);
    assert_non_null(lock);
    assert_false(lock->sleeps);
}

static void a_generated_key_is_read_once_and_kept(void **state)
{
    struct rig *rig = *state;
    struct observed door = by_proxy(rig);
    const struct endpoint_lock *lock;

    text_copy(door.address, sizeof door.address, "http://10.0.0.7:30080");
    manage(rig, &door, &existing);
    lock = find(rig, "gemma", door.address);
    assert_key(rig, lock, KEY);
    assert_key(rig, lock, KEY);
    assert_null(lock->tls);
    assert_int_equal(rig->requests, 1);
}

static void a_key_that_would_break_a_header_is_refused(void **state)
{
    struct rig *rig = *state;
    struct observed door = by_proxy(rig);
    char key[SECRET_VALUE_SIZE];
    const struct endpoint_lock *lock;

    rig->secret = "a2V5DQpYOiB5"; /* "key\r\nX: y" */
    text_copy(door.address, sizeof door.address, "http://10.0.0.7:30080");
    manage(rig, &door, &existing);
    lock = find(rig, "gemma", door.address);
    assert_non_null(lock);
    assert_false(lock->key(lock, key, &rig->error));
    assert_non_null(strstr(rig->error.message, "a byte that is not allowed in a bearer token"));
    assert_null(strstr(rig->error.message, "X: y"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_clusters_credential_is_sent_only_to_the_servers_address),
        TEST(a_removed_deployment_has_no_key),
        TEST(a_sleeping_server_is_reported_as_sleeping),
        TEST(a_generated_key_is_read_once_and_kept),
        TEST(a_key_that_would_break_a_header_is_refused),
    };
    struct error error;
    int failed;

    if (!outbound_global_init(&error))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
