/* SPDX-License-Identifier: Apache-2.0 */
/* How Cloud TPU's queued resources and nodes change their states: with each read, until they reach
 * a lasting state, and when a flex-start resource's run time ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clouds/fake_tpu.h"

static void make_node(struct fake_google *fake, const char *path, const json_t *queued)
{
    json_t *node = json_deep_copy(json_object_get(fake_tpu_specification(queued), "node"));
    json_t *network = json_object_get(node, "networkConfig");
    char at[512];

    fake_tpu_node_path(path, queued, at);
    json_object_set_new(node, "name", json_string(at + strlen("/v2/")));
    json_object_set_new(node, "state", json_string("CREATING"));
    json_object_set_new(node, "queuedResource", json_string(path + strlen("/v2/")));
    json_object_set_new(node, "createTime", json_string("2025-11-24T16:05:00Z"));
    fake_google_number(fake, node, "id", ++fake->versions);
    json_object_set_new(node, "networkEndpoints",
                        json_pack("[{s:s, s:i, s:o}]", "ipAddress", "10.0.0.7", "port", 8470,
                                  "accessConfig",
                                  json_get_boolean(network, "enableExternalIps", false)
                                      ? json_pack("{s:s}", "externalIp", "203.0.113.9")
                                      : json_object()));
    /* The platform returns the network's full name. */
    json_object_set_new(network, "network",
                        json_sprintf("projects/p/global/networks/%s",
                                     json_get_text(network, "network", "default")));
    json_object_set_new(fake->objects, at, node);
}

static void run_node(struct fake_google *fake, const char *path, json_t *queued)
{
    char at[512];
    json_t *node;

    fake_tpu_node_path(path, queued, at);
    node = json_object_get(fake->objects, at);
    json_object_set_new(node, "state", json_string("READY"));
    json_object_set_new(node, ".polls", json_integer(0));
    json_object_set_new(queued, ".startedMs", json_integer(fake->now_ms));
    fake_google_machine_key(fake, node);
}

static void fail(json_t *queued, const char *message)
{
    json_object_set_new(queued, "state",
                        json_pack("{s:s, s:{s:{s:i, s:s}}}", "state", "FAILED", "failedData",
                                  "error", "code", 8, "message", message));
}

static bool is_overdue(const struct fake_google *fake, const json_t *queued)
{
    const json_t *policy = json_object_get(queued, "queueingPolicy");
    int64_t wait_s = fake_tpu_duration(json_get_text(policy, "validUntilDuration", "0s"));

    return wait_s > 0 && fake->now_ms >= json_get_integer(queued, ".madeMs", 0) + wait_s * 1000;
}

static void wait_for_capacity(struct fake_google *fake, const char *path, json_t *queued)
{
    if (is_overdue(fake, queued))
        fail(queued, "The queued resource was not fulfilled before it expired (valid until)");
    else if (fake->lacks_capacity && json_object_get(queued, "spot") != NULL)
        fail(queued, "There is no more capacity in the zone \"us-east5-a\"; you can try in "
                     "another zone where Cloud TPU Nodes are offered");
    else if (!fake->lacks_capacity) {
        fake_tpu_set_state(queued, "PROVISIONING");
        make_node(fake, path, queued);
    }
}

static void remove_queued(struct fake_google *fake, const char *path, const json_t *queued)
{
    char at[512];

    fake_tpu_node_path(path, queued, at);
    if (json_object_del(fake->objects, at) != 0) /* the node is already gone */
        json_object_del(fake->objects, path);
}

/* Moves a queued resource to its next state: ACCEPTED, WAITING_FOR_RESOURCES, PROVISIONING,
 * ACTIVE. If it is DELETING, first its node is removed, then the resource itself. It becomes FAILED
 * if it waits for capacity for too long, or if it is a spot TPU and there is no capacity. */
static void pass_queued(struct fake_google *fake, const char *path, json_t *queued)
{
    const char *state = fake_tpu_state(queued);

    if (strcmp(state, "ACCEPTED") == 0)
        fake_tpu_set_state(queued, "WAITING_FOR_RESOURCES");
    else if (strcmp(state, "WAITING_FOR_RESOURCES") == 0)
        wait_for_capacity(fake, path, queued);
    else if (strcmp(state, "PROVISIONING") == 0) {
        fake_tpu_set_state(queued, "ACTIVE");
        run_node(fake, path, queued);
    } else if (strcmp(state, "DELETING") == 0)
        remove_queued(fake, path, queued);
}

static void pass_node(struct fake_google *fake, const char *path, json_t *node)
{
    const char *state = json_get_text(node, "state", "");

    if (strcmp(state, "STOPPING") == 0)
        json_object_set_new(node, "state", json_string("STOPPED"));
    else if (strcmp(state, "STARTING") == 0) {
        json_object_set_new(node, "state", json_string("READY"));
        json_object_set_new(node, ".polls", json_integer(0));
    } else if (strcmp(state, "DELETING") == 0 && json_object_get(node, "queuedResource") == NULL)
        json_object_del(fake->objects, path);
}

void fake_tpu_pass(struct fake_google *fake, const char *path, json_t *object)
{
    (strstr(path, FAKE_TPU_QUEUED) != NULL ? pass_queued : pass_node)(fake, path, object);
}

static bool is_over(const struct fake_google *fake, const json_t *queued)
{
    int64_t run_s = fake_tpu_duration(
        json_get_text(json_object_get(queued, "runDuration"), "maxRunDuration", "-"));

    return run_s >= 0 && strcmp(fake_tpu_state(queued), "ACTIVE") == 0
           && fake->now_ms >= json_get_integer(queued, ".startedMs", 0) + run_s * 1000;
}

void fake_tpu_advance(struct fake_google *fake)
{
    const char *path;
    json_t *queued;

    json_object_foreach(fake->objects, path, queued) {
        char at[512];

        if (strstr(path, FAKE_TPU_QUEUED) == NULL || !is_over(fake, queued))
            continue;
        fake_tpu_set_state(queued, "SUSPENDED");
        fake_tpu_node_path(path, queued, at);
        json_object_del(fake->objects, at);
        /* the iterator is no longer valid: start over */
        fake_tpu_advance(fake);
        return;
    }
}
