/* SPDX-License-Identifier: Apache-2.0 */
/* Google's Cloud Run: its row in the table of providers, and its requirements for a target. */
#include "fleet/providers/cloud_run.h"
#include "base/net/url.h"

static CHECKED bool check_target(const struct fleet_target *target, struct error *error)
{
    return google_check_target(target, "Cloud Run", false, error);
}

static CHECKED bool check(struct cloud *cloud, const struct fleet_target *target, json_t *findings,
                          struct error *error)
{
    static const char *const permissions[] = {
        "run.services.create",        "run.services.get",          "run.services.list",
        "run.services.update",        "run.services.delete",       "run.services.setIamPolicy",
        "run.operations.get",         "run.routes.invoke",         "iam.serviceAccounts.actAs",
        "iam.serviceAccounts.create", "iam.serviceAccounts.get",   "iam.serviceAccounts.delete",
        "cloudscheduler.jobs.create", "cloudscheduler.jobs.get",   "cloudscheduler.jobs.update",
        "cloudscheduler.jobs.delete", "secretmanager.secrets.get", NULL,
    };
    static const char *const services[] = { "run.googleapis.com", "cloudscheduler.googleapis.com",
                                            "secretmanager.googleapis.com", "iam.googleapis.com",
                                            NULL };
    static const char *const quotas[] = {
        "NvidiaL4GpuAllocNoZonalRedundancyPerProjectRegion",
        "NvidiaL4GpuAllocPerProjectRegion",
        "NvidiaRtxPro6000GpuAllocNoZonalRedundancyPerProjectRegion",
        "NvidiaRtxPro6000GpuAllocPerProjectRegion",
        NULL,
    };

    if (!google_check_permissions(cloud, target, permissions, findings, error))
        return false;
    google_check_services(cloud, target, services, findings);
    google_check_resources(cloud, target, false, findings);
    google_check_quotas(cloud, target, services[0], quotas, findings);
    return true;
}

static const char *describe_guard(const struct desired *desired)
{
    if (desired->ends_ms == 0)
        return NULL;
    return desired->end_destroys ? "Cloud Scheduler deletes the service at the planned end, "
                                   "using an account that can change nothing else"
                                 : "Cloud Scheduler scales the service to 0 at the planned end, "
                                   "using an account that can change nothing else";
}

/* The server's key is a Google ID token for the service's own address. */
static CHECKED bool key(struct cloud *cloud, const struct observed *observed,
                        char out[SECRET_VALUE_SIZE], struct error *error)
{
    char origin[ORIGIN_SIZE];

    return url_origin(observed->address, origin, error)
           && cloud_id_token(cloud, origin, out, error);
}

extern const struct provider provider_cloud_run;
const struct provider provider_cloud_run = {
    .name = "cloud_run",
    .title = "Cloud Run",
    .verbs = VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_UPDATE) | VERB_BIT(VERB_START)
             | VERB_BIT(VERB_STOP) | VERB_BIT(VERB_SCALE) | VERB_BIT(VERB_EXTEND)
             | VERB_BIT(VERB_DESTROY),
    .lock = "the service is private: each call carries a Google ID token for its address",
    .check_target = check_target,
    .steps = cloud_run_steps,
    .outcome = cloud_run_outcome,
    .observe = cloud_run_observe,
    .list = cloud_run_list,
    .check = check,
    .lint = cloud_run_lint,
    .command = cloud_run_command,
    .describe_guard = describe_guard,
    .key = key,
};
