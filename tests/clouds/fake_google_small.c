/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets, service accounts, Cloud Scheduler jobs, secrets, quotas, and enabled APIs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "tests/clouds/fake_google_part.h"

static void create(struct fake_google *fake, const struct fake_request *request,
                   struct fake_reply *reply, const char *type)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    char path[512];
    json_t *made;

    if (!fake_google_check(fake, type, body, reply))
        return;
    if (strcmp(type, "Account") == 0)
        snprintf(path, sizeof path, "%s/%s@p.iam.gserviceaccount.com", request->path,
                 json_get_text(body, "accountId", ""));
    else
        snprintf(path, sizeof path, "/v1/%s", json_get_text(body, "name", ""));
    if (json_object_get(fake->objects, path) != NULL) {
        fake_google_say(reply, 409, "ALREADY_EXISTS", "it exists");
        return;
    }
    made = strcmp(type, "Account") == 0 ? json_object_get(body, "serviceAccount") : body;
    json_object_set(fake->objects, path, made);
    fake_google_show(reply, made);
}

static void change_account(struct fake_google *fake, const struct fake_request *request,
                           struct fake_reply *reply)
{
    if (strcmp(request->method, "DELETE") == 0)
        fake_google_remove(fake, request, reply);
    else
        create(fake, request, reply, "Account");
}

static void patch_job(struct fake_google *fake, const struct fake_request *request,
                      struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    json_t *job = json_object_get(fake->objects, request->path);

    if (job == NULL)
        fake_google_say(reply, 404, "NOT_FOUND", "no such job");
    else if (fake_google_check(fake, "Job", body, reply)) {
        json_object_update(job, body);
        fake_google_show(reply, job);
    }
}

static void change_job(struct fake_google *fake, const struct fake_request *request,
                       struct fake_reply *reply)
{
    if (strcmp(request->method, "DELETE") == 0)
        fake_google_remove(fake, request, reply);
    else if (strcmp(request->method, "PATCH") == 0)
        patch_job(fake, request, reply);
    else
        create(fake, request, reply, "Job");
}

static bool read_api(struct fake_google *fake, const struct fake_request *request,
                     struct fake_reply *reply)
{
    (void)fake, (void)request;
    text_add(&reply->body, "{\"state\":\"ENABLED\"}");
    return true;
}

static bool read_quota(struct fake_google *fake, const struct fake_request *request,
                       struct fake_reply *reply)
{
    if (json_object_get(fake->objects, request->path) != NULL)
        return false;
    text_add(&reply->body, "{}");
    return true;
}

/* ---- Secrets ---- */

static void create_secret(struct fake_google *fake, const struct fake_request *request,
                          struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    char *id = fake_server_parameter(request, "secretId");
    char path[512];

    snprintf(path, sizeof path, "%s/%s", request->path, id != NULL ? id : "");
    free(id);
    if (!fake_google_check(fake, "Secret", body, reply))
        return;
    if (json_object_get(fake->objects, path) != NULL) {
        fake_google_say(reply, 409, "ALREADY_EXISTS", "Secret already exists.");
        return;
    }
    json_object_set_new(body, "name", json_string(path + strlen("/v1/")));
    json_object_set(fake->objects, path, body);
    fake_google_show(reply, body);
}

/* Stores the policy with the secret. Without a policy, no machine can write a version. */
static void set_policy(struct fake_google *fake, const struct fake_request *request,
                       struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    char path[512];
    json_t *secret;

    snprintf(path, sizeof path, "%.*s", (int)strcspn(request->path, ":"), request->path);
    secret = json_object_get(fake->objects, path);
    fake_google_set_policy(fake, request, reply);
    if (secret != NULL && reply->status == 0)
        json_object_set(secret, ".policy", json_object_get(body, "policy"));
}

static void change_secret(struct fake_google *fake, const struct fake_request *request,
                          struct fake_reply *reply)
{
    if (strcmp(request->method, "DELETE") != 0)
        (strstr(request->path, ":setIamPolicy") != NULL ? set_policy : create_secret)(fake, request,
                                                                                      reply);
    else
        fake_google_remove(fake, request, reply);
}

static bool read_version(struct fake_google *fake, const struct fake_request *request,
                         struct fake_reply *reply)
{
    const char *end = strstr(request->path, "/versions/latest:access");
    const json_t *version;
    char path[512];

    if (end == NULL)
        return false;
    snprintf(path, sizeof path, "%.*s", (int)(end - request->path), request->path);
    version = json_object_get(json_object_get(fake->objects, path), ".version");
    if (version != NULL)
        fake_google_show(reply, version);
    else
        fake_google_say(reply, 404, "NOT_FOUND", "Secret Version [latest] not found.");
    return true;
}

const struct fake_google_part fake_google_bucket = { "/storage/v1/b/" };
const struct fake_google_part fake_google_quota = { "/quotaInfos/", .read = read_quota };
const struct fake_google_part fake_google_secret = { "/v1/projects/p/secrets", " secretId ",
                                                     .read = read_version,
                                                     .change = change_secret };
const struct fake_google_part fake_google_usage = { "/v1/projects/p/services/", .read = read_api };
const struct fake_google_part fake_google_account = { "/serviceAccounts",
                                                      .change = change_account };
const struct fake_google_part fake_google_job = { "/jobs", " updateMask ", .change = change_job };
