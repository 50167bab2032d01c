/* SPDX-License-Identifier: Apache-2.0 */
/* Creates Cloud TPU's queued resources, after checking the requests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clouds/fake_tpu.h"

#define FLEX_START_MAX_S (7 * 86400)

static bool is_alpha(const struct fake_request *request)
{
    return strncmp(request->path, "/v2alpha1/", 10) == 0;
}

/* The number in a v5p's name is a number of cores; each chip has two. For the other types, it is
 * the number of chips. */
static int64_t chips_of(const json_t *queued)
{
    const char *type = json_get_text(json_object_get(fake_tpu_specification(queued), "node"),
                                     "acceleratorType", "");
    const char *end = strrchr(type, '-');
    int64_t count = end != NULL ? atoll(end + 1) : 0;

    return strncmp(type, "v5p-", 4) == 0 ? count / 2 : count;
}

/* Checks the platform's rules for the ways to buy capacity, such as spot and flex-start. Returns
 * Google's error message, or NULL if no rule is broken. */
static const char *judge_tier(const json_t *queued)
{
    bool is_flexible = strcmp(json_get_text(queued, "provisioningModel", ""), "FLEX_START") == 0;
    int64_t run_s = fake_tpu_duration(
        json_get_text(json_object_get(queued, "runDuration"), "maxRunDuration", "0s"));

    if (json_object_get(queued, "spot") != NULL && json_object_get(queued, "guaranteed") != NULL)
        return "Invalid value at 'queued_resource' (oneof), oneof field 'tier' is already set. "
               "Cannot set 'guaranteed'";
    if (is_flexible && (run_s <= 0 || run_s > FLEX_START_MAX_S))
        return "run_duration: must be set, and at most 7 days, for FLEX_START";
    if (!is_flexible && json_object_get(queued, "runDuration") != NULL)
        return "run_duration: is only supported for FLEX_START";
    if (json_object_get(queued, "reservationName") != NULL
        && json_object_get(queued, "guaranteed") == NULL)
        return "reservation_name: needs the guaranteed tier";
    if (fake_tpu_duration(
            json_get_text(json_object_get(queued, "queueingPolicy"), "validUntilDuration", "0s"))
        < 0)
        return "Invalid value at 'queued_resource.queueing_policy.valid_until_duration' "
               "(type.googleapis.com/google.protobuf.Duration)";
    return NULL;
}

static const char *judge_node(const char *path, const json_t *queued)
{
    static const char *const pairs[][2] = { { "v6e-", "v2-alpha-tpuv6e" },
                                            { "v5litepod-", "v2-alpha-tpuv5-lite" },
                                            { "v5p-", "v2-alpha-tpuv5" } };
    const json_t *specification = fake_tpu_specification(queued);
    const json_t *node = json_object_get(specification, "node");
    const char *type = json_get_text(node, "acceleratorType", "");
    const char *parent = json_get_text(specification, "parent", "");
    const char *runtime = NULL;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strncmp(type, pairs[i][0], strlen(pairs[i][0])) == 0)
            runtime = pairs[i][1];
    if (strncmp(path + strlen("/v2/"), parent, strlen(parent)) != 0 || parent[0] == '\0')
        return "tpu.node_spec[0].parent: must be the parent of the queued resource";
    if (json_get_text(specification, "nodeId", "")[0] == '\0')
        return "tpu.node_spec[0].node_id: must be set";
    if (runtime == NULL)
        return "Accelerator type not found in this zone";
    if (strcmp(json_get_text(node, "runtimeVersion", ""), runtime) != 0)
        return "The runtime version is not supported by this accelerator type";
    return NULL;
}

static void refuse_for_quota(const struct fake_google *fake, const char *path, const json_t *queued,
                             struct fake_reply *reply)
{
    const char *zone = strstr(path, "/locations/") + strlen("/locations/");
    char message[256];

    snprintf(message, sizeof message,
             "Quota limit 'TPUV6E%sPerProjectPerZoneForTPUAPI' has been exceeded. Limit: %d in "
             "zone %.*s.",
             json_object_get(queued, "spot") != NULL ? "Preemptible" : "", fake->gpus,
             (int)strcspn(zone, "/"), zone);
    fake_google_say(reply, 429, "RESOURCE_EXHAUSTED", message);
}

static void keep(struct fake_google *fake, json_t *queued, const char *path, const char *id,
                 struct fake_reply *reply)
{
    json_object_set_new(queued, "name", json_string(path + strlen("/v2/")));
    json_object_set_new(queued, "createTime",
                        json_sprintf("2025-11-24T16:00:%02lldZ", ++fake->versions % 60));
    json_object_set_new(queued, ".madeMs", json_integer(fake->now_ms));
    fake_tpu_set_state(queued, "ACCEPTED");
    json_object_set(fake->objects, path, queued);
    fake_google_begin_take(fake, path, NULL, reply);
    if (id != NULL)
        json_object_set_new(fake->operations, id, json_string(text_string(&reply->body)));
}

/* Answers a request whose request id is invalid, or was already used by the request that created
 * the resource. Returns false for any other request. */
static bool answer_without_creating(const struct fake_google *fake, const char *id,
                                    struct fake_reply *reply)
{
    const char *before = id != NULL ? json_get_text(fake->operations, id, NULL) : NULL;

    if (id != NULL && strlen(id) != 36) {
        fake_tpu_refuse(reply, "request_id: \"%s\" is not a UUID", id);
        return true;
    }
    if (before != NULL)
        text_add(&reply->body, before);
    return before != NULL;
}

static void create_named(struct fake_google *fake, const struct fake_request *request,
                         const char *path, const char *id, struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    bool alpha = is_alpha(request);
    bool is_flexible;
    const char *wrong;

    if (answer_without_creating(fake, id, reply)
        || !fake_google_check(fake, alpha ? "QueuedResourceAlpha" : "QueuedResource", body, reply))
        return;
    is_flexible = strcmp(json_get_text(body, "provisioningModel", ""), "FLEX_START") == 0;
    wrong = judge_tier(body);
    wrong = wrong != NULL ? wrong : judge_node(path, body);
    if (wrong != NULL)
        fake_tpu_refuse(reply, "%s", wrong);
    else if (json_object_get(fake->objects, path) != NULL)
        fake_google_say(reply, 409, "ALREADY_EXISTS", "Resource already exists");
    else if (chips_of(body) > fake->gpus && !is_flexible)
        refuse_for_quota(fake, path, body, reply);
    else
        keep(fake, body, path, id, reply);
}

void fake_tpu_create(struct fake_google *fake, const struct fake_request *request,
                     struct fake_reply *reply)
{
    char *name = fake_server_parameter(request, "queuedResourceId");
    char *id = fake_server_parameter(request, "requestId");
    char path[512], whole[512];

    fake_tpu_path(request->path, path);
    snprintf(whole, sizeof whole, "%.400s/%.100s", path, name != NULL ? name : "");
    if (name == NULL)
        fake_tpu_refuse(reply, "%s", "queued_resource_id: must be set");
    else
        create_named(fake, request, whole, id, reply);
    free(name);
    free(id);
}
