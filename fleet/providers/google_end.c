/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that make Cloud Scheduler end a resource at its planned end, for platforms that cannot
 * end it themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/base64.h"
#include "base/core/memory.h"
#include "fleet/providers/google.h"

#define SCHEDULER "https://cloudscheduler.googleapis.com/v1/"
#define LONGEST_MS (INT64_C(364) * 86400000) /* under a year, because a schedule has no year */

void google_end_name(const struct desired *desired, const char *what, const char *region,
                     struct google_end *out)
{
    const char *project = desired->target->project;
    char tag[GOOGLE_TAG_SIZE];

    google_tag(desired, what, tag);
    snprintf(out->account, sizeof out->account, "ob-%s@%.63s.iam.gserviceaccount.com", tag,
             project);
    snprintf(out->job_url, sizeof out->job_url,
             SCHEDULER "projects/%.63s/locations/%.63s/jobs/ob-%s", project, region, tag);
}

static void account_url(const struct google_list *list, char out[512])
{
    snprintf(out, 512, GOOGLE_IAM "projects/%.63s/serviceAccounts/%s",
             list->desired->target->project, list->end.account);
}

void google_end_add_account(const struct google_list *list)
{
    FREE_AUTO char *id = strndup(list->end.account, strcspn(list->end.account, "@"));
    struct step *step;
    char url[512];

    account_url(list, url);
    step = google_add(list, "end-account", "POST", url, "Creates the account that will end");
    google_set_creation(step);
    step->body =
        json_pack("{s:s, s:{s:s+, s:o}}", "accountId", id, "serviceAccount", "displayName", "Ends ",
                  list->desired->deployment, "description", google_mark(list->desired));
}

static json_t *job_body(const struct google_list *list, const char *method, const char *url,
                        const char *body)
{
    json_t *request =
        json_pack("{s:s, s:s, s:{s:s, s:s}}", "httpMethod", method, "uri", url, "oauthToken",
                  "serviceAccountEmail", list->end.account, "scope", GOOGLE_SCOPE);
    TEXT_AUTO encoded = { 0 };

    if (body != NULL) {
        base64_add(&encoded, body, strlen(body));
        json_object_set_new(request, "body", json_string(text_string(&encoded)));
        json_object_set_new(request, "headers",
                            json_pack("{s:s}", "Content-Type", "application/json"));
    }
    return json_pack("{s:s, s:o, s:o, s:s, s:o, s:{s:i, s:s}}", "name",
                     list->end.job_url + strlen(SCHEDULER), "description",
                     google_mark(list->desired), "schedule",
                     provider_schedule(list->desired->ends_ms), "timeZone", "Etc/UTC", "httpTarget",
                     request, "retryConfig", "retryCount", 5, "minBackoffDuration", "30s");
}

/* Also deletes a job that is left over from an earlier resource of this name, because that job has
 * a different time. */
void google_end_add_job(const struct google_list *list, const char *method, const char *url,
                        const char *body)
{
    struct step *step;

    google_add_removal(list, "end-before", list->end.job_url,
                       "Deletes any earlier Cloud Scheduler job that would end");
    step = google_add(list, "end", "POST", list->end.job_url,
                      "Creates the Cloud Scheduler job that ends");
    google_set_creation(step);
    step->body = job_body(list, method, url, body);
}

void google_end_add_change(const struct google_list *list, const char *method, const char *url,
                           const char *body)
{
    struct step *step = google_add(list, "end", "PATCH", list->end.job_url,
                                   "Changes the Cloud Scheduler job that ends");

    google_add_query(step, "updateMask", "description,schedule,timeZone,httpTarget");
    step->body = job_body(list, method, url, body);
}

void google_end_add_job_removal(const struct google_list *list)
{
    google_add_removal(list, "remove-end", list->end.job_url,
                       "Deletes the Cloud Scheduler job that ends");
}

void google_end_add_account_removal(const struct google_list *list)
{
    char url[512];

    account_url(list, url);
    google_add_removal(list, "remove-end-account", url, "Deletes the account that can end");
}

bool google_end_check(const struct desired *desired, const char *title, struct error *error)
{
    return desired->ends_ms == 0 || desired->made_ms == 0
           || desired->ends_ms <= desired->made_ms + LONGEST_MS
           || error_set(error, ERROR_INVALID,
                        "on %s a deployment can live at most 364 days, because a Cloud Scheduler "
                        "schedule has no year: shorten \"life_s\"",
                        title);
}
