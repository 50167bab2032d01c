/* SPDX-License-Identifier: Apache-2.0 */
/* Compute Engine's instances: the rules for them, and how they change with each read and over time.
 * When an instance starts to run, it stores its server's key, as its startup script would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/base64.h"
#include "base/core/memory.h"
#include "tests/clouds/fake_google_part.h"

#define INSTANCES "/instances/"

/* ---- The clock ---- */

static int64_t read_time(const char *text)
{
    struct tm utc = { 0 };

    return strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc) != NULL ? (int64_t)timegm(&utc) * 1000 : 0;
}

/* Returns the time at which the instance's run time ends, in UTC. 0: it has no end, or its end is
 * not known before it starts. */
static int64_t end_ms_of(const json_t *instance)
{
    const json_t *scheduling = json_object_get(instance, "scheduling");
    const json_t *longest = json_object_get(scheduling, "maxRunDuration");
    int64_t started_ms = json_get_integer(instance, ".startedMs", 0);

    if (longest != NULL && started_ms > 0)
        return started_ms + atoll(json_get_text(longest, "seconds", "0")) * 1000;
    return read_time(json_get_text(scheduling, "terminationTime", ""));
}

void fake_google_machine_advance(struct fake_google *fake)
{
    const char *path;
    void *next;
    json_t *instance;

    json_object_foreach_safe(fake->objects, next, path, instance) {
        const json_t *scheduling = json_object_get(instance, "scheduling");
        int64_t end_ms = strstr(path, INSTANCES) != NULL ? end_ms_of(instance) : 0;

        if (end_ms == 0 || fake->now_ms < end_ms
            || strcmp(json_get_text(instance, "status", ""), "RUNNING") != 0)
            continue;
        if (strcmp(json_get_text(scheduling, "instanceTerminationAction", "STOP"), "DELETE") == 0)
            json_object_del(fake->objects, path);
        else
            json_object_set_new(instance, "status", json_string("TERMINATED"));
    }
}

/* ---- A machine ---- */

void fake_google_machine_key(struct fake_google *fake, const json_t *machine)
{
    FREE_AUTO char *text = json_dumps(json_object_get(machine, "metadata"), 0);
    const char *path;
    json_t *secret;

    json_object_foreach(fake->objects, path, secret) {
        const char *name = strstr(path, "/secrets/ob-");
        TEXT_AUTO data = { 0 };

        if (name == NULL || json_object_get(secret, ".policy") == NULL
            || strstr(text, name + strlen("/secrets/")) == NULL)
            continue;
        base64_add(&data, "canary-door", strlen("canary-door"));
        json_object_set_new(secret, ".version",
                            json_pack("{s:{s:s}}", "payload", "data", text_string(&data)));
    }
}

void fake_google_machine_pass(struct fake_google *fake, const char *path, json_t *instance)
{
    const char *status = json_get_text(instance, "status", "");
    const char *next = strcmp(status, "PENDING") == 0 && !fake->lacks_capacity ? "PROVISIONING"
                       : strcmp(status, "PROVISIONING") == 0                   ? "STAGING"
                       : strcmp(status, "STAGING") == 0                        ? "RUNNING"
                       : strcmp(status, "STOPPING") == 0                       ? "TERMINATED"
                                                                               : NULL;

    if (next == NULL)
        return;
    if (strcmp(next, "TERMINATED") == 0 && json_object_get(instance, ".isDeleted") != NULL) {
        json_object_del(fake->objects, path);
        return;
    }
    json_object_set_new(instance, "status", json_string(next));
    if (strcmp(next, "RUNNING") != 0)
        return;
    json_object_set_new(instance, ".startedMs", json_integer(fake->now_ms));
    json_object_set_new(instance, ".polls", json_integer(0));
    fake_google_machine_key(fake, instance);
}

void fake_google_machine_label(struct fake_google *fake, json_t *instance)
{
    json_object_set_new(instance, "labelFingerprint", json_sprintf("f-%lld", ++fake->versions));
}

void fake_google_machine_settle(struct fake_google *fake, json_t *instance, const char *path)
{
    const char *model =
        json_get_text(json_object_get(instance, "scheduling"), "provisioningModel", "STANDARD");
    json_t *interface = json_array_get(json_object_get(instance, "networkInterfaces"), 0);

    json_object_set_new(instance, "selfLink", json_sprintf("https://www.googleapis.com%s", path));
    json_object_set_new(instance, "zone",
                        json_sprintf("https://www.googleapis.com%.*s",
                                     (int)(strstr(path, INSTANCES) - path), path));
    fake_google_number(fake, instance, "id", 7000000000000000001 + fake->versions);
    json_object_set_new(instance, "status",
                        json_string(strcmp(model, "FLEX_START") == 0 ? "PENDING" : "PROVISIONING"));
    json_object_set_new(interface, "networkIP", json_string("10.0.0.7"));
    if (json_object_get(interface, "accessConfigs") != NULL)
        json_object_set_new(json_array_get(json_object_get(interface, "accessConfigs"), 0), "natIP",
                            json_string("203.0.113.9"));
    fake_google_machine_label(fake, instance);
}

/* ---- Rules ---- */

static int64_t gpus_of(const char *machine)
{
    static const struct {
        const char *type;
        int64_t gpus;
    } rows[] = { { "g2-standard-24", 2 }, { "g2-standard-48", 4 }, { "g2-standard-96", 8 } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strstr(machine, rows[i].type) != NULL)
            return rows[i].gpus;
    return strstr(machine, "/g2-standard-") != NULL;
}

const char *fake_google_machine_judge(const json_t *instance)
{
    const json_t *scheduling = json_object_get(instance, "scheduling");
    const char *model = json_get_text(scheduling, "provisioningModel", "STANDARD");
    const char *action = json_get_text(scheduling, "instanceTerminationAction", NULL);
    bool is_limited = json_object_get(scheduling, "maxRunDuration") != NULL
                      || json_object_get(scheduling, "terminationTime") != NULL;

    if (strcmp(json_get_text(scheduling, "onHostMaintenance", ""), "TERMINATE") != 0)
        return "Instances with guest accelerators do not support live migration.";
    if (json_object_get(scheduling, "maxRunDuration") != NULL
        && json_object_get(scheduling, "terminationTime") != NULL)
        return "Only one of maxRunDuration and terminationTime may be set.";
    if (is_limited && action == NULL)
        return "instanceTerminationAction must be set if the run time is limited.";
    if (!is_limited && action != NULL && strcmp(model, "STANDARD") == 0)
        return "instanceTerminationAction cannot be set for a standard instance without a limit.";
    if (strcmp(model, "STANDARD") != 0 && json_get_boolean(scheduling, "automaticRestart", true))
        return "automaticRestart must be false for this provisioning model.";
    if (strcmp(model, "FLEX_START") == 0 && json_object_get(scheduling, "maxRunDuration") == NULL)
        return "maxRunDuration must be set for FLEX_START.";
    if (strcmp(model, "FLEX_START") != 0 && json_object_get(instance, "params") != NULL)
        return "requestValidForDuration is only for FLEX_START.";
    return NULL;
}

bool fake_google_machine_exceeds(const struct fake_google *fake, const json_t *instance)
{
    int64_t gpus = gpus_of(json_get_text(instance, "machineType", ""));

    return gpus > fake->gpus;
}
