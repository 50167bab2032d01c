/* SPDX-License-Identifier: Apache-2.0 */
/* Service accounts, jobs of Cloud Scheduler, and which APIs are enabled. */
#include <stdio.h>
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
        fake_google_delete(fake, request, reply, false);
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
        fake_google_delete(fake, request, reply, false);
    else if (strcmp(request->method, "PATCH") == 0)
        patch_job(fake, request, reply);
    else
        create(fake, request, reply, "Job");
}

static bool read_service(struct fake_google *fake, const struct fake_request *request,
                         struct fake_reply *reply)
{
    (void)fake, (void)request;
    text_add(&reply->body, "{\"state\":\"ENABLED\"}");
    return true;
}

const struct fake_google_part fake_google_usage = { "/v1/projects/p/services/",
                                                    .read = read_service };
const struct fake_google_part fake_google_account = { "/serviceAccounts",
                                                      .change = change_account };
const struct fake_google_part fake_google_job = { "/jobs", .change = change_job };
